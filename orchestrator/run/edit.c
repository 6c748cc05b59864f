/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file is corrected while its run goes on or waits.
 *
 * The event has the whole text, so the log alone tells by which retry rules and
 * by which budget each decision was made. Rules are numbered in attempts. After
 * an edit of them, or of the resources that they scale, they are numbered from
 * a higher base: so nobody takes an attempt's old rule for a new one, and each
 * job has all its retries again.
 */
#include "orchestrator/run/edit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/conf/conf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/budget_change.h"
#include "orchestrator/run/edit_steps.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/value_check.h"
#include "orchestrator/spec/spec_mask.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/store.h"

/* ---- reading ---- */

static bool is_set_again(const struct run_edit_order *order, const char *word)
{
    size_t length = strcspn(word, "=") + 1;

    for (size_t i = 0; i < order->set_count; i++)
        if (strncmp(order->set[i], word, length) == 0)
            return true;
    return false;
}

/* Words of the run, then those of the order: *count. A value that a backup has
 * masked must be among the latter. */
static int collect_words(const struct experiment *experiment,
                         const struct run_edit_order *order, const char **words,
                         size_t *count, struct err *err)
{
    size_t of_run = order->has_all ? 0 : experiment->assignment_count;

    *count = 0;
    for (size_t i = 0; i < of_run; i++) {
        const char *word = experiment->assignments[i];
        int length = (int)strcspn(word, "=");

        if (!spec_is_masked(word))
            words[(*count)++] = word;
        else if (!is_set_again(order, word))
            return err_set(err, ERR_USAGE,
                           "the value of '%.*s' is masked (the run is from a "
                           "backup without secrets): add --set %.*s=VALUE",
                           length, word, length, word);
    }
    for (size_t i = 0; i < order->set_count; i++)
        words[(*count)++] = order->set[i];
    return 0;
}

static int parse(const struct spec *now, const struct run_edit_order *order,
                 const struct buf *text, struct run_edit *edit,
                 struct diags *diags, struct err *err)
{
    const struct experiment *experiment = now->experiment;
    const char **words = mem_array(
        experiment->assignment_count + order->set_count + 1, sizeof(*words));
    struct experiment_source source = {
        .text = buf_text(text),
        .length = text->length,
        .path = edit->path,
        .assignments = words,
    };
    int result =
        collect_words(experiment, order, words, &source.assignment_count, err);

    if (result == 0)
        result = spec_parse(&edit->spec, &source, diags, err);
    if (result == 0)
        edit->overrides = run_overrides(edit->spec.experiment);
    free(words);
    return result;
}

/* By the file alone that the run follows, without what its user gave it. */
static void compare_budgets(const struct budget *now, struct run_edit *edit)
{
    const struct budget *new = &edit->spec.experiment->budget;

    edit->resets_trials = now->file_trials != new->file_trials;
    edit->resets_time = now->file_time_ms != new->file_time_ms;
}

/* The most that one job has. */
static int64_t count_rules(const struct spec *now)
{
    size_t most = now->experiment->task.retry_count;

    for (size_t i = 0; now->workflow != NULL && i < now->workflow->step_count;
         i++)
        if (now->workflow->steps[i].task.retry_count > most)
            most = now->workflow->steps[i].task.retry_count;
    return (int64_t)most + 1;
}

int run_edit_read(const struct spec *now, const struct run_edit_order *order,
                  struct run_edit *edit, struct diags *diags, struct err *err)
{
    struct buf text = BUF_INIT;
    int result = 0;

    *edit = (struct run_edit){
        .path = order->text != NULL ? mem_copy_string(order->path)
                                    : fs_absolute(order->path),
        .before = now->workflow,
        .rule_count = count_rules(now),
    };
    if (order->text != NULL)
        buf_add_string(&text, order->text);
    else
        result = fs_read(edit->path, CONF_MAX_BYTES, &text, err);
    if (result == 0) {
        digest_of(buf_text(&text), text.length, edit->digest);
        result = parse(now, order, &text, edit, diags, err);
    }
    if (result == 0)
        result = spec_change_find(now, &edit->spec, &edit->changes, err);
    if (result == 0) {
        compare_budgets(&now->experiment->budget, edit);
        edit_receivers_find(now->experiment, edit->spec.experiment,
                            &edit->receivers);
        edit->brings_secrets = spec_is_masked(now->experiment->source);
    }
    buf_clear(&text);
    return result;
}

void run_edit_clear(struct run_edit *edit)
{
    spec_clear(&edit->spec);
    spec_changes_clear(&edit->changes);
    edit_receivers_clear(&edit->receivers);
    free(edit->path);
    free(edit->overrides);
    *edit = (struct run_edit){.path = NULL};
}

/* ---- checks ---- */

static int refuse(const struct run_edit *edit, struct err *err)
{
    const struct spec_change *first = spec_changes_refused(&edit->changes);
    const char *key = first->key;

    if (edit->before != NULL)
        return err_set(err, ERR_USAGE,
                       "'%s' cannot change: %s (smtune run FILE --from STEP "
                       "starts a new run with the earlier results)",
                       key, first->refused);
    if (strncmp(key, "enqueue", strlen("enqueue")) == 0)
        return err_set(err, ERR_USAGE,
                       "'%s' cannot change: %s (smtune enqueue adds settings "
                       "to a run)",
                       key, first->refused);
    return err_set(err, ERR_USAGE,
                   "'%s' cannot change: %s (a new run can begin with the "
                   "results of this one: 'warm_start')",
                   key, first->refused);
}

/* Whether other attempts than those of before would be looked for. */
static bool is_of_executor(const char *key)
{
    const char *last = strrchr(key, '.');

    last = last != NULL ? last + 1 : key;
    if (strcmp(last, "executor") == 0)
        return true;
    return strncmp(key, "executor.", strlen("executor.")) == 0 &&
           (strcmp(last, "name") == 0 || strcmp(last, "mode") == 0);
}

static int on_open_attempt(void *user, const struct attempt_row *row)
{
    (void)row;
    ++*(int64_t *)user;
    return 0;
}

static int check_executor(const struct run_edit *edit,
                          const struct run_edit_place *place, struct err *err)
{
    const char *key = NULL;
    int64_t open = 0;

    for (size_t i = 0; i < edit->changes.count && key == NULL; i++)
        if (is_of_executor(edit->changes.items[i].key))
            key = edit->changes.items[i].key;
    if (key == NULL)
        return 0;
    if (store_each_attempt(place->store, place->run, 0, on_open_attempt, &open,
                           err) != 0)
        return -1;
    if (open == 0)
        return 0;
    return err_set(err, ERR_BUSY,
                   "'%s' cannot change while %" PRId64
                   " job%s (stop the run first: smtune stop)",
                   key, open, open == 1 ? " runs" : "s run");
}

static int find_steps(const struct run_edit *edit,
                      const struct run_edit_place *place,
                      struct edit_steps *steps, struct err *err)
{
    const struct edit_files files = {edit->before, edit->spec.workflow,
                                     &edit->changes};

    return edit_steps_find(&files, place->store, place->run, steps, err);
}

static int check_steps(const struct run_edit *edit,
                       const struct run_edit_place *place, struct err *err)
{
    struct edit_steps steps = {.workflow = NULL};
    int result =
        edit->before != NULL ? find_steps(edit, place, &steps, err) : 0;

    edit_steps_clear(&steps);
    return result;
}

int run_edit_check(const struct run_edit *edit,
                   const struct run_edit_place *place, struct err *err)
{
    const struct budget *budget = &edit->spec.experiment->budget;
    const struct budget_change change = {
        .trials = edit->resets_trials ? budget->trials : 0,
        .time_ms = edit->resets_time ? budget->time_ms : 0,
    };

    if (spec_changes_refused(&edit->changes) != NULL)
        return refuse(edit, err);
    if (run_check_masked(edit->spec.experiment, err) != 0)
        return -1;
    if (budget_change_check(&change, place->begun, place->used_ms, false,
                            err) != 0)
        return -1;
    if (check_executor(edit, place, err) != 0)
        return -1;
    return check_steps(edit, place, err);
}

/* ---- the record ---- */

/* Beyond all numbers of rules that attempts have so far. */
static int64_t next_base(const struct run_edit *edit, int64_t base)
{
    return spec_changes_have_retries(&edit->changes) ? base + edit->rule_count
                                                     : 0;
}

int run_edit_record(const struct run_edit *edit, struct run_edit_place *place,
                    struct err *err)
{
    const struct run_edit_new row = {
        .run = place->run,
        .spec = edit->spec.experiment->source,
        .overrides = edit->overrides,
        .spec_path = edit->path,
        .resets_trials = edit->resets_trials,
        .resets_time = edit->resets_time,
        .retry_base = next_base(edit, place->retry_base),
        .time_ms = clock_wall_ms(),
    };

    struct edit_steps steps = {.workflow = NULL};
    bool has_steps = edit->before != NULL;
    int result = has_steps ? find_steps(edit, place, &steps, err) : 0;

    if (result == 0 && has_steps)
        result = edit_steps_record(&steps, place->store, place->run, err);
    if (result == 0)
        result = store_edit_run(place->store, &row, err);
    if (result == 0)
        result = edit_receivers_record(&edit->receivers, place->store,
                                       place->run, err);
    if (result == 0 && has_steps)
        result = edit_steps_record_jobs(&steps, place->store, place->run, err);
    place->again = (struct run_edit_again){(int64_t)steps.jobs.found_count,
                                           (int64_t)steps.begun, steps.has_any};
    edit_steps_clear(&steps);
    return result;
}

struct standing {
    int64_t begun;
    bool is_running, has_succeeded;
};

static int keep_standing(void *user, const struct run_row *row)
{
    struct standing *standing = user;

    *standing = (struct standing){
        .begun = row->trials,
        .is_running = strcmp(row->state, run_state_names[RUN_RUNNING]) == 0,
        .has_succeeded =
            strcmp(row->state, run_state_names[RUN_SUCCEEDED]) == 0,
    };
    return 0;
}

static int record(const struct run_edit *edit, struct run_edit_place *place,
                  const struct standing *standing, struct err *err)
{
    bool has_budget = spec_changes_have(&edit->changes, "budget");

    if (store_begin(place->store, err) != 0 ||
        store_end_dead_engine(place->store, place->run, err) != 0 ||
        run_edit_record(edit, place, err) != 0)
        return -1;
    if (((place->again.has_any && !standing->is_running) ||
         (has_budget && standing->has_succeeded)) &&
        store_set_run_state(place->store, place->run,
                            run_state_names[RUN_STOPPED], "its file was edited",
                            clock_wall_ms(), err) != 0)
        return -1;
    return store_commit(place->store, err);
}

int run_edit_make(const struct run *run, const struct run_edit *edit,
                  struct run_edit_again *again, struct err *err)
{
    struct run_edit_place place = {
        .store = run->store, .run = run->id, .retry_base = run->retry_base};
    struct standing standing;

    if (store_get_run(run->store, run->id, keep_standing, &standing, err) != 0)
        return -1;
    place.begun = standing.begun;
    if (edit->resets_time &&
        store_engines_ms(run->store, run->id, &place.used_ms, err) != 0)
        return -1;
    if (run_edit_check(edit, &place, err) != 0)
        return -1;
    if (record(edit, &place, &standing, err) != 0) {
        store_rollback(run->store);
        return -1;
    }
    *again = place.again;
    return 0;
}
