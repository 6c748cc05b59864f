/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which results of the last run a partial run of a workflow takes over (--from,
 * --only).
 *
 * A step's result can be taken over if the step succeeded, was skipped or was
 * allowed to fail. Neither it nor a step it needs may have changed since.
 * Changes spread along the graph in topological order. Steps before the one
 * that was asked for must be usable. Else the command is refused with the name
 * of the first that is not, or of a file that such a step made and that is
 * missing. Steps beside it simply run again. The result is a word for --set, so
 * that the plan becomes part of the recorded file.
 */
#include "cli/drive/run_again.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/run_earlier.h"
#include "orchestrator/spec/spec_mask.h"
#include "orchestrator/spec/workflow/step_change.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/store.h"

struct planning {
    const struct workflow *workflow;
    const char *run_name;                          /* the earlier one's */
    bool *has_results, *changed, *before, *behind; /* [step_count] */
    char **gone;   /* [step_count] a file that it made and that is missing, or
                      NULL */
    bool *is_temp; /* [step_count] a temporary one is missing, and no other */
    bool *again;   /* [step_count] it runs again for that */
    int64_t *steps_of, *first_of; /* [earlier_count] of the earlier run's steps:
                                     the step of this file, or -1, and the
                                     number of its first job that counts */
    size_t earlier_count;
    size_t asked;
    bool is_only; /* it runs alone */
    struct err *err;
};

static int on_step(void *user, const struct step_row *row)
{
    struct planning *planning = user;
    int64_t step = workflow_find(planning->workflow, row->name);
    int state = step_state_find(row->state);
    size_t n = planning->earlier_count++;

    planning->steps_of =
        mem_resize(planning->steps_of, n + 1, sizeof(*planning->steps_of));
    planning->first_of =
        mem_resize(planning->first_of, n + 1, sizeof(*planning->first_of));
    planning->steps_of[n] = step;
    planning->first_of[n] = row->first_job;
    if (step >= 0)
        planning->has_results[step] =
            state == FLOW_SUCCEEDED || state == FLOW_SKIPPED ||
            (state == FLOW_FAILED &&
             planning->workflow->flow_steps[step].may_fail);
    return 0;
}

/* Notes the first file of a job that its step says it makes, and that is not
 * there: one that is not temporary, if there is any. */
static int on_job(void *user, const struct trial_row *row)
{
    struct planning *planning = user;
    const struct step *step;
    json_t *outputs;
    bool *is_temp;
    char **gone;

    if (row->outputs == NULL || row->step < 0 ||
        (size_t)row->step >= planning->earlier_count ||
        planning->steps_of[row->step] < 0 ||
        row->number < planning->first_of[row->step])
        return 0;
    step = &planning->workflow->steps[planning->steps_of[row->step]];
    gone = &planning->gone[planning->steps_of[row->step]];
    outputs = json_parse(row->outputs, strlen(row->outputs), NULL);
    is_temp = &planning->is_temp[planning->steps_of[row->step]];
    for (size_t i = 0; i < step->output_count && (*gone == NULL || *is_temp);
         i++) {
        const char *path =
            json_string_value(json_object_get(outputs, step->outputs[i].name));

        if (step->outputs[i].kind != OUTPUT_FILE || path == NULL ||
            fs_exists(path) || (*gone != NULL && step->outputs[i].is_temp))
            continue;
        free(*gone);
        *gone = mem_copy_string(path);
        *is_temp = step->outputs[i].is_temp;
    }
    json_decref(outputs);
    return 0;
}

static int compare(const struct planning *planning,
                   const struct experiment_source *now,
                   const struct run_row *row)
{
    const char *text = run_row_spec(row);
    const char *overrides = run_row_overrides(row);
    json_t *list = json_parse(overrides, strlen(overrides), planning->err);
    struct experiment_source before = {
        .text = text, .length = strlen(text), .path = row->spec_path};
    const char **words = json_texts(list, &before.assignment_count);
    int result;

    before.assignments = words;
    result = step_change_find(planning->workflow, now, &before,
                              planning->changed, planning->err);
    free(words);
    json_decref(list);
    return result;
}

/* The run is from a backup without secrets: the file is compared likewise. */
static int compare_masked(const struct planning *planning,
                          const struct run_row *row)
{
    const struct workflow *workflow = planning->workflow;
    char *overrides = run_overrides(workflow->common);
    struct experiment_source now = {.path = workflow->path};
    struct buf text = BUF_INIT, shown = BUF_INIT;
    const char **words;
    json_t *list;
    int result;

    spec_mask_like_copy(workflow->source, &text);
    spec_mask_overrides(workflow->source, overrides, &shown);
    list = json_parse(buf_text(&shown), shown.length, NULL);
    words = json_texts(list, &now.assignment_count);
    now.text = buf_text(&text);
    now.length = text.length;
    now.assignments = words;
    result = compare(planning, &now, row);
    free(words);
    json_decref(list);
    buf_clear(&shown);
    buf_clear(&text);
    free(overrides);
    return result;
}

static int on_run(void *user, const struct run_row *row)
{
    const struct planning *planning = user;
    const struct workflow *workflow = planning->workflow;
    const struct experiment_source now = {
        .text = workflow->source,
        .length = strlen(workflow->source),
        .path = workflow->path,
        .assignments = workflow->common->assignments,
        .assignment_count = workflow->common->assignment_count,
    };

    return spec_is_masked(run_row_spec(row)) ? compare_masked(planning, row)
                                             : compare(planning, &now, row);
}

static bool is_among(size_t wanted, const size_t *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (steps[i] == wanted)
            return true;
    return false;
}

static bool will_run(const struct planning *planning, size_t step)
{
    return step == planning->asked || planning->again[step] ||
           (planning->behind[step] && !planning->is_only);
}

/* Whether a step that will run needs it by name or by its place, or reads it
 * without a need. */
static bool is_used(const struct planning *planning, size_t step)
{
    const struct flow_step *flows = planning->workflow->flow_steps;

    for (size_t i = 0; i < planning->workflow->step_count; i++) {
        if (!will_run(planning, i))
            continue;
        if (is_among(step, flows[i].needs, flows[i].need_count) ||
            is_among(step, flows[i].reads, flows[i].read_count))
            return true;
    }
    return false;
}

/* Whether a temporary output of the step is missing that a step which runs may
 * use, as the engine has it when it removes one. */
static bool lacks_temp(const struct planning *planning, size_t step)
{
    size_t count = planning->workflow->step_count;
    bool *users, is_user = false;

    if (planning->gone[step] == NULL || !planning->is_temp[step] ||
        planning->again[step] || planning->behind[step] ||
        step == planning->asked)
        return false;
    users = mem_array(count, sizeof(*users));
    workflow_mark_users(planning->workflow, step, users);
    for (size_t i = 0; i < count; i++)
        is_user |= users[i] && will_run(planning, i);
    free(users);
    return is_user;
}

/* Steps whose temporary outputs are gone run again, where a step needs them:
 * and those before them, in turn. */
static void find_again(struct planning *planning)
{
    const struct workflow *workflow = planning->workflow;
    bool has_more = !planning->is_only;

    while (has_more) {
        has_more = false;
        for (size_t i = workflow->step_count; i-- > 0;) {
            if (!lacks_temp(planning, i))
                continue;
            planning->again[i] = has_more = true;
            fprintf(stderr,
                    workflow->steps[i].cache.is_on
                        ? "smtune: the result of step '%s' is not reused: its "
                          "temporary output '%s' was removed\n"
                        : "smtune: step '%s' runs again: its temporary output "
                          "'%s' was removed\n",
                    workflow->steps[i].name, planning->gone[i]);
        }
    }
}

/* What a step made that will run no more, and others use, must be there, unless
 * the step accepts that it is not. */
static int check_files(const struct planning *planning)
{
    const struct workflow *workflow = planning->workflow;

    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct step *step = &workflow->steps[i];

        if (planning->gone[i] == NULL || planning->changed[i] ||
            !planning->has_results[i] || planning->behind[i] ||
            planning->again[i] || i == planning->asked || !is_used(planning, i))
            continue;
        if (!step->allows_empty)
            return err_set(planning->err, ERR_BUSY,
                           "no such file: '%s', which step '%s' made in run "
                           "'%s' (--from %s makes it again)",
                           planning->gone[i], step->name, planning->run_name,
                           step->name);
        fprintf(stderr,
                "smtune: warning: no such file: '%s', which step '%s' made in "
                "run '%s'\n",
                planning->gone[i], step->name, planning->run_name);
    }
    return 0;
}

/* A step is no longer as it was where one that it needs is not. */
static void spread_changes(struct planning *planning)
{
    size_t count = planning->workflow->step_count;
    size_t *order = mem_array(count, sizeof(*order));
    size_t sorted = graph_order(planning->workflow->graph, order);

    for (size_t i = 0; i < sorted; i++) {
        size_t need_count;
        const size_t *needs =
            graph_needs(planning->workflow->graph, order[i], &need_count);

        for (size_t k = 0; k < need_count; k++)
            planning->changed[order[i]] |= planning->changed[needs[k]];
    }
    free(order);
}

static int check_before(const struct planning *planning, const char *asked)
{
    const struct workflow *workflow = planning->workflow;

    for (size_t i = 0; i < workflow->step_count; i++) {
        const char *name = workflow->steps[i].name;

        if (planning->before[i] && planning->changed[i])
            return err_set(
                planning->err, ERR_BUSY,
                "step '%s' before '%s' has changed since run '%s', so its "
                "results cannot be reused (--from %s runs it too)",
                name, asked, planning->run_name, name);
        if (planning->before[i] && !planning->has_results[i])
            return err_set(
                planning->err, ERR_BUSY,
                "step '%s' before '%s' has no results in run '%s' (--from "
                "%s runs it too)",
                name, asked, planning->run_name, name);
    }
    return 0;
}

static char *make_word(const struct planning *planning, int64_t run,
                       size_t step, bool is_only)
{
    const struct workflow *workflow = planning->workflow;
    json_t *steps = json_array();
    json_t *json = json_pack("{sIso}", "run", (json_int_t)run, "steps", steps);
    struct buf word = BUF_INIT;

    for (size_t i = 0; i < workflow->step_count; i++) {
        if (i != step && !planning->behind[i] && planning->has_results[i] &&
            !planning->changed[i] && !planning->again[i])
            json_array_append_new(steps,
                                  json_from_text(workflow->steps[i].name));
    }
    if (is_only)
        json_object_set_new(json, "only",
                            json_from_text(workflow->steps[step].name));
    buf_add_string(&word, "take_over=");
    json_print(json, &word);
    json_decref(json);
    return buf_take(&word);
}

static char *plan(struct planning *planning, struct store *store,
                  const struct run_earlier *earlier, size_t step, bool is_only)
{
    const struct workflow *workflow = planning->workflow;
    const struct trial_query jobs = {
        .run = earlier->id,
        .order = ORDER_NUMBER,
        .state = job_state_names[JOB_SUCCEEDED],
        .results_only = true,
    };

    planning->run_name = earlier->name;
    planning->asked = step;
    planning->is_only = is_only;
    graph_mark_ancestors(workflow->graph, step, planning->before);
    graph_mark_descendants(workflow->graph, step, planning->behind);
    if (store_each_step(store, earlier->id, on_step, planning, planning->err) !=
            0 ||
        store_each_trial(store, &jobs, on_job, planning, planning->err) != 0 ||
        store_get_run_uncounted(store, earlier->id, on_run, planning,
                                planning->err) != 0)
        return NULL;
    spread_changes(planning);
    find_again(planning);
    if (check_before(planning, workflow->steps[step].name) != 0 ||
        check_files(planning) != 0)
        return NULL;
    return make_word(planning, earlier->id, step, is_only);
}

static char *find_and_plan(struct planning *planning, const struct cli *cli,
                           const struct spec *spec, size_t step, bool is_only)
{
    const struct run_order any = {.name = NULL};
    struct store *store = store_open(cli->store, STORE_READ, planning->err);
    struct run_earlier earlier = {0};
    char *word = NULL;

    if (store != NULL &&
        run_find_earlier(store, spec, &any, &earlier, planning->err) == 0) {
        if (earlier.id != 0)
            word = plan(planning, store, &earlier, step, is_only);
        else
            err_set(planning->err, ERR_NOT_FOUND,
                    "workflow '%s' has no run with results to reuse",
                    spec->workflow->name);
    }
    free(earlier.name);
    store_close(store);
    return word;
}

char *run_again_plan(const struct cli *cli, const struct spec *spec,
                     const struct run_again *again, struct err *err)
{
    const struct workflow *workflow = spec->workflow;
    const char *name = again->only != NULL ? again->only : again->from;
    struct planning planning = {.workflow = workflow, .err = err};
    int64_t step;
    size_t count;
    char *word;

    if (workflow == NULL) {
        err_set(err, ERR_USAGE,
                "--%s is only for workflows: an experiment has no steps",
                again->only != NULL ? "only" : "from");
        return NULL;
    }
    step = workflow_find(workflow, name);
    if (step < 0) {
        err_set(err, ERR_NOT_FOUND, "unknown step '%s'", name);
        return NULL;
    }
    count = workflow->step_count;
    planning.has_results = mem_array(count, sizeof(bool));
    planning.changed = mem_array(count, sizeof(bool));
    planning.before = mem_array(count, sizeof(bool));
    planning.behind = mem_array(count, sizeof(bool));
    planning.gone = mem_array(count, sizeof(char *));
    planning.is_temp = mem_array(count, sizeof(bool));
    planning.again = mem_array(count, sizeof(bool));
    word =
        find_and_plan(&planning, cli, spec, (size_t)step, again->only != NULL);
    free(planning.has_results);
    free(planning.changed);
    free(planning.before);
    free(planning.behind);
    free(planning.is_temp);
    free(planning.again);
    for (size_t i = 0; i < count; i++)
        free(planning.gone[i]);
    free(planning.gone);
    free(planning.steps_of);
    free(planning.first_of);
    return word;
}
