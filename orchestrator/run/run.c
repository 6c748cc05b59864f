/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/run.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/conf/conf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/budget_change.h"
#include "orchestrator/run/value_check.h"
#include "orchestrator/search/warm_start.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/engine_lock.h"
#include "store/sharing.h"

/* A selector (store_find_run) must not mean two runs. */
static bool is_selector(const char *name)
{
    return strcmp(name, "last") == 0 ||
           strspn(name, "0123456789") == strlen(name);
}

int run_check_name(const char *name, struct err *err)
{
    if (!text_is_name(name))
        return err_set(
            err, ERR_USAGE,
            "'%s' is not a valid name for a run (letters, digits, '_', "
            "'-' and '.', at most 128)",
            name);
    if (is_selector(name))
        return err_set(
            err, ERR_USAGE,
            "'%s' is not a valid name for a run: it selects a run by %s", name,
            name[0] == 'l' ? "age" : "its id");
    return 0;
}

char *run_name_numbered(const char *name, int number)
{
    return number == 1 ? mem_copy_string(name)
                       : mem_printf("%s-%d", name, number);
}

char *run_pick_name(struct store *store, const char *wanted, bool is_free,
                    struct err *err)
{
    int64_t id;

    if (run_check_name(wanted, err) != 0)
        return NULL;
    for (int i = 1; i <= RUN_SAME_NAMES_MAX; i++) {
        char *name = run_name_numbered(wanted, i);
        struct err missing;

        if (store_find_run(store, name, &id, &missing) != 0) {
            if (missing.kind == ERR_NOT_FOUND)
                return name;
            *err = missing;
            free(name);
            return NULL;
        }
        free(name);
        if (!is_free) {
            err_set(err, ERR_BUSY,
                    "duplicate name '%s': a run has it (resume it: smtune "
                    "resume %s; or choose another --name)",
                    wanted, wanted);
            return NULL;
        }
    }
    err_set(err, ERR_BUSY, "there are already %d runs named '%s'",
            RUN_SAME_NAMES_MAX, wanted);
    return NULL;
}

char *run_overrides(const struct experiment *experiment)
{
    json_t *list = json_array();
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < experiment->assignment_count; i++)
        json_array_append_new(list, json_from_text(experiment->assignments[i]));
    json_print(list, &text);
    json_decref(list);
    return buf_take(&text);
}

/* [*count]; the caller frees. None without a schedule. */
static struct rung_new *plan_rungs(const struct experiment *experiment,
                                   size_t *count)
{
    struct schedule_plan plan = {0};
    struct rung_new *rungs;

    if (!experiment->schedule.is_on ||
        schedule_plan_init(&plan, &experiment->schedule.options,
                           (uint64_t)experiment->budget.trials, NULL) != 0)
        return NULL;
    rungs = mem_array(plan.count, sizeof(*rungs));
    for (size_t i = 0; i < plan.count; i++)
        rungs[i] = (struct rung_new){
            .bracket = (int64_t)plan.rungs[i].bracket,
            .rung = (int64_t)plan.rungs[i].rung,
            .resource = (int64_t)plan.rungs[i].resource,
            .trials = (int64_t)plan.rungs[i].trials,
        };
    *count = plan.count;
    schedule_plan_clear(&plan);
    return rungs;
}

static int add_row(struct run *run, const struct run_new *row, struct err *err)
{
    int result = store_begin(run->store, err);

    if (result == 0)
        result = store_add_run(run->store, row, &run->id, err);
    if (result == 0 && run->warm != NULL)
        result = warm_start_record(run->warm, run->store, run->id, err);
    if (result == 0)
        result = store_commit(run->store, err);
    if (result != 0)
        store_rollback(run->store);
    return result;
}

static int add_experiment(struct run *run, struct run_new *row, struct err *err)
{
    const struct experiment *experiment = run->experiment;
    size_t param_count = space_count(experiment->space);
    size_t objective_count = experiment->objective_count;
    const char **params = mem_array(param_count, sizeof(*params));
    const char **metrics = mem_array(objective_count, sizeof(*metrics));
    const char **goals = mem_array(objective_count, sizeof(*goals));
    struct rung_new *rungs = plan_rungs(experiment, &row->rung_count);
    int result;

    for (size_t i = 0; i < param_count; i++)
        params[i] = space_param(experiment->space, i)->name;
    for (size_t i = 0; i < objective_count; i++) {
        metrics[i] = experiment->objectives[i].metric;
        goals[i] = experiment->objectives[i].maximize ? "maximize" : "minimize";
    }
    row->kind = "experiment";
    row->seed = experiment->search.seed;
    if (experiment->search.replicates > 1)
        row->repeats = (int64_t)experiment->search.replicates;
    row->metrics = metrics;
    row->goals = goals;
    row->objective_count = objective_count;
    row->outcomes = experiment->outcomes;
    row->outcome_count = experiment->outcome_count;
    row->params = params;
    row->param_count = param_count;
    row->rungs = rungs;
    result = add_row(run, row, err);
    free(rungs);
    free(params);
    free(metrics);
    free(goals);
    return result;
}

static int add_workflow(struct run *run, struct run_new *row, struct err *err)
{
    const struct workflow *workflow = run->workflow;
    const char **steps = mem_array(workflow->step_count, sizeof(*steps));
    int result;

    for (size_t i = 0; i < workflow->step_count; i++)
        steps[i] = workflow->steps[i].name;
    row->kind = "workflow";
    row->steps = steps;
    row->step_count = workflow->step_count;
    result = add_row(run, row, err);
    free(steps);
    return result;
}

static int record(struct run *run, const struct run_order *order,
                  struct err *err)
{
    char *overrides = run_overrides(run->experiment);
    struct run_new row = {
        .name = run->name,
        .spec = run->experiment->source,
        .overrides = overrides,
        .spec_path = run->experiment->path,
        .work_directory = run->work_directory,
        .parent = order->parent,
        .parent_job = order->parent_job,
        .time_ms = clock_wall_ms(),
    };
    int result = run->workflow != NULL ? add_workflow(run, &row, err)
                                       : add_experiment(run, &row, err);

    free(overrides);
    return result;
}

/* Takes the run's directory and lock. */
static int occupy(struct run *run, struct err *err)
{
    char *trials;
    int made;

    if (store_make_run_directory(store_directory(run->store), run->name, err) !=
        0)
        return -1;
    run->directory = store_run_directory(run->store, run->name);
    trials = fs_join(run->directory, "trials");
    made = fs_make_shared_directories(trials, err);
    free(trials);
    if (made != 0)
        return -1;
    run->lock = engine_lock_take(run->directory, err);
    return run->lock < 0 ? err_prefix(err, "run '%s'", run->name) : 0;
}

static char *pick_name(const struct run *run, const struct run_order *order,
                       struct err *err)
{
    return run_pick_name(
        run->store, order->name != NULL ? order->name : run->experiment->name,
        order->name == NULL || order->parent != 0, err);
}

struct run *run_create(struct store *store, struct spec *spec,
                       const struct run_order *order, struct err *err)
{
    struct run *run = mem_zero(sizeof(*run));

    run->store = store;
    run->experiment = spec->experiment;
    run->workflow = spec->workflow;
    *spec = (struct spec){0};
    run->lock = -1;
    run->work_directory = fs_absolute(".");
    if (run_check_values(run->experiment, run->workflow, err) != 0) {
        run_close(run);
        return NULL;
    }
    if (run->workflow == NULL)
        run->warm = warm_start_read(store, run->experiment, err);
    if (run->workflow != NULL || run->warm != NULL)
        run->name = pick_name(run, order, err);
    if (run->name == NULL || occupy(run, err) != 0 ||
        record(run, order, err) != 0) {
        run_close(run);
        return NULL;
    }
    return run;
}

struct saved {
    char *name, *spec, *overrides, *spec_path, *work_directory;
    char *edited, *edited_overrides; /* NULL: it follows spec */
    int64_t retry_base;
    struct budget_change given;
};

static int copy_row(void *user, const struct run_row *row)
{
    struct saved *saved = user;

    *saved = (struct saved){
        .name = mem_copy_string(row->name),
        .spec = mem_copy_string(row->spec),
        .overrides = mem_copy_string(row->overrides),
        .spec_path = mem_copy_string(row->spec_path),
        .work_directory = mem_copy_string(row->work_directory),
        .edited = row->edited_spec[0] != '\0'
                      ? mem_copy_string(row->edited_spec)
                      : NULL,
        .edited_overrides = row->edited_spec[0] != '\0'
                                ? mem_copy_string(row->edited_overrides)
                                : NULL,
        .retry_base = row->retry_base,
        .given = budget_change_of(row),
    };
    return 0;
}

static void saved_clear(struct saved *saved)
{
    free(saved->name);
    free(saved->spec);
    free(saved->overrides);
    free(saved->spec_path);
    free(saved->work_directory);
    free(saved->edited);
    free(saved->edited_overrides);
}

const char *run_row_spec(const struct run_row *row)
{
    return row->edited_spec[0] != '\0' ? row->edited_spec : row->spec;
}

const char *run_row_overrides(const struct run_row *row)
{
    return row->edited_spec[0] != '\0' ? row->edited_overrides : row->overrides;
}

/* What --set made of `trial` last; NULL: nothing. Borrowed from the list. */
static const char *find_trial_word(const json_t *overrides)
{
    const char *found = NULL;

    for (size_t i = 0; i < json_array_size(overrides); i++) {
        const char *word = json_string_value(json_array_get(overrides, i));

        if (word != NULL && (text_begins_with(word, "trial=") ||
                             text_begins_with(word, "trial.")))
            found = word;
    }
    return found;
}

bool run_row_is_asked(const struct run_row *row)
{
    const char *spec = run_row_spec(row), *words = run_row_overrides(row);
    json_t *overrides = json_parse(words, strlen(words), NULL);
    const char *word = find_trial_word(overrides);
    bool has_trial = word != NULL ? strcmp(word, RUN_WITHOUT_TRIAL) != 0
                                  : conf_has_key(spec, strlen(spec), "trial");

    json_decref(overrides);
    return strcmp(row->kind, "experiment") == 0 && !has_trial;
}

/* A text with the words of a JSON list, and one more (NULL: none). */
static int parse_text(const struct experiment_source *file,
                      const char *overrides, const char *more,
                      struct spec *spec, struct diags *diags, struct err *err)
{
    struct experiment_source source = *file;
    json_t *list = json_parse(overrides, strlen(overrides), err);
    const char **assignments;
    size_t count;
    int result;

    if (list == NULL)
        return -1;
    count = json_array_size(list);
    assignments = mem_array(count + 1, sizeof(*assignments));
    for (size_t i = 0; i < count; i++)
        assignments[i] = json_string_value(json_array_get(list, i));
    assignments[count] = more;
    source.length = strlen(source.text);
    source.assignments = assignments;
    source.assignment_count = count + (more != NULL);
    source.is_for_search = true;
    result = spec_parse(spec, &source, diags, err);
    free(assignments);
    json_decref(list);
    return result;
}

/* The search keeps what it planned by when the run began. What trials did then
 * is no matter, and need not be right any more. */
static int keep_plan(const struct saved *saved, struct experiment *experiment,
                     struct diags *diags, struct err *err)
{
    struct spec first;

    if (parse_text(&(struct experiment_source){.text = saved->spec,
                                               .path = saved->spec_path},
                   saved->overrides,
                   experiment->task.has_checkpoints
                       ? "trial={command: 'true', checkpoints: true}"
                       : "trial={command: 'true'}",
                   &first, diags, err) != 0)
        return -1;
    experiment->search.budget_trials = first.experiment->search.budget_trials;
    experiment->search.parallel = first.experiment->search.parallel;
    spec_clear(&first);
    return 0;
}

static int parse_saved(const struct saved *saved, struct spec *spec,
                       struct diags *diags, struct err *err)
{
    bool is_edited = saved->edited != NULL;
    const struct experiment_source source = {
        .text = is_edited ? saved->edited : saved->spec,
        .path = saved->spec_path,
    };

    if (parse_text(&source,
                   is_edited ? saved->edited_overrides : saved->overrides, NULL,
                   spec, diags, err) != 0)
        return -1;
    if (is_edited && spec->workflow == NULL &&
        keep_plan(saved, spec->experiment, diags, err) != 0) {
        spec_clear(spec);
        return -1;
    }
    budget_change_apply(&saved->given, &spec->experiment->budget);
    return 0;
}

struct run *run_open(struct store *store, int64_t id, struct diags *diags,
                     struct err *err)
{
    struct run *run = mem_zero(sizeof(*run));
    struct saved saved = {0};
    struct spec spec;

    run->store = store;
    run->id = id;
    run->lock = -1;
    if (store_get_run_uncounted(store, id, copy_row, &saved, err) != 0)
        goto fail;
    run->name = mem_copy_string(saved.name);
    run->work_directory = mem_copy_string(saved.work_directory);
    if (occupy(run, err) != 0)
        goto fail;
    if (parse_saved(&saved, &spec, diags, err) != 0)
        goto fail;
    run->experiment = spec.experiment;
    run->workflow = spec.workflow;
    run->retry_base = saved.retry_base;
    saved_clear(&saved);
    return run;

fail:
    saved_clear(&saved);
    run_close(run);
    return NULL;
}

static int keep_budget(void *user, const struct run_row *row)
{
    struct experiment *experiment = user;
    struct budget_change given = budget_change_of(row);

    budget_change_apply(&given, &experiment->budget);
    return 0;
}

int run_read_budget(struct run *run, struct err *err)
{
    return store_get_run_uncounted(run->store, run->id, keep_budget,
                                   run->experiment, err);
}

/* Where the text is wrong, *err says the first thing that is. */
static int to_err(int result, struct diags *diags, struct err *err)
{
    if (result != 0 && diags_count(diags) > 0)
        diags_to_err(diags, err);
    diags_destroy(diags);
    return result;
}

int run_read_spec(struct store *store, int64_t id, struct spec *spec,
                  struct err *err)
{
    struct diags *diags = diags_create("the run's file");
    struct saved saved = {0};
    int result = -1;

    *spec = (struct spec){0};
    if (store_get_run_uncounted(store, id, copy_row, &saved, err) == 0)
        result = parse_saved(&saved, spec, diags, err);
    saved_clear(&saved);
    return to_err(result, diags, err);
}

int run_read_again(struct run *run, struct err *err)
{
    struct saved saved = {0};
    struct diags *diags = diags_create("the run's file");
    struct spec spec;
    int result =
        store_get_run_uncounted(run->store, run->id, copy_row, &saved, err);

    if (result == 0)
        result = parse_saved(&saved, &spec, diags, err);
    if (result == 0) {
        run->former = mem_resize(run->former, run->former_count + 1,
                                 sizeof(*run->former));
        run->former[run->former_count++] =
            (struct spec){run->experiment, run->workflow};
        run->experiment = spec.experiment;
        run->workflow = spec.workflow;
        run->retry_base = saved.retry_base;
    }
    saved_clear(&saved);
    return to_err(result, diags, err);
}

int run_parse_spec(const char *text, const char *path, const char *overrides,
                   struct spec *spec, struct err *err)
{
    struct diags *diags = diags_create("the run's file");
    const struct experiment_source source = {.text = text, .path = path};

    *spec = (struct spec){0};
    return to_err(parse_text(&source, overrides, NULL, spec, diags, err), diags,
                  err);
}

struct experiment *run_read_experiment(struct store *store, int64_t id,
                                       struct err *err)
{
    struct spec spec;

    if (run_read_spec(store, id, &spec, err) != 0)
        return NULL;
    if (spec.workflow == NULL)
        return spec.experiment;
    spec_clear(&spec);
    err_set(err, ERR_USAGE, "a workflow has no trials");
    return NULL;
}

void run_close(struct run *run)
{
    if (run == NULL)
        return;
    warm_start_destroy(run->warm);
    spec_clear(&(struct spec){run->experiment, run->workflow});
    for (size_t i = 0; i < run->former_count; i++)
        spec_clear(&run->former[i]);
    free(run->former);
    if (run->lock >= 0)
        close(run->lock);
    free(run->name);
    free(run->directory);
    free(run->work_directory);
    free(run);
}
