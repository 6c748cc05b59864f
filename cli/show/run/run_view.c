/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run as most commands need it: row, names, state.
 *
 * Texts of a row live as long as the query, so they are copied into the view,
 * all of them by one table. The state in the record is not enough: `running`
 * means nothing if the engine crashed. So the engine's lock is probed, and the
 * state that is shown follows from both.
 */
#include "cli/show/run/run_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "orchestrator/job/states.h"
#include "store/engine_lock.h"

static int keep_row(void *user, const struct run_row *row)
{
    struct run_view *view = user;
    struct run_row *kept = &view->row;
    const char **const texts[RUN_TEXTS] = {&kept->name,
                                           &kept->kind,
                                           &kept->state,
                                           &kept->reason,
                                           &kept->spec,
                                           &kept->overrides,
                                           &kept->spec_path,
                                           &kept->work_directory,
                                           &kept->revision,
                                           &kept->boot_id,
                                           &kept->metric,
                                           &kept->goal,
                                           &kept->note,
                                           &kept->comment,
                                           &kept->tags,
                                           &kept->edited_spec,
                                           &kept->edited_overrides};

    *kept = *row;
    for (size_t i = 0; i < RUN_TEXTS; i++) {
        view->texts[i] = mem_copy_string(*texts[i]);
        *texts[i] = view->texts[i];
    }
    return 0;
}

static size_t count_names(char **names)
{
    size_t count = 0;

    while (names[count] != NULL)
        count++;
    return count;
}

static int keep_outcome(void *user, const struct outcome_bounds *outcome)
{
    struct run_view *view = user;
    struct outcome_bounds *kept;

    view->outcomes = mem_resize(view->outcomes, view->outcome_count + 1,
                                sizeof(*view->outcomes));
    kept = &view->outcomes[view->outcome_count++];
    *kept = *outcome;
    kept->metric = mem_copy_string(outcome->metric);
    return 0;
}

/* What belongs to the row that is there. */
static int load_rest(struct run_view *view, int64_t id, struct err *err)
{
    view->params = store_run_params(view->store, id, err);
    view->metrics = store_run_objectives(view->store, id, &view->goals, err);
    if (view->params == NULL || view->metrics == NULL ||
        store_each_outcome(view->store, id, keep_outcome, view, err) < 0)
        return -1;
    view->param_count = count_names(view->params);
    view->objective_count = count_names(view->metrics);
    view->state = run_state_shown(view->store, &view->row, &view->engine_pid);
    return 0;
}

int run_view_load(struct run_view *view, struct store *store, int64_t id,
                  struct err *err)
{
    *view = (struct run_view){.store = store};
    if (store_get_run(store, id, keep_row, view, err) < 0)
        return -1;
    return load_rest(view, id, err);
}

int run_view_load_uncounted(struct run_view *view, struct store *store,
                            int64_t id, struct err *err)
{
    *view = (struct run_view){.store = store};
    if (store_get_run_uncounted(store, id, keep_row, view, err) < 0)
        return -1;
    return load_rest(view, id, err);
}

int run_view_open(struct run_view *view, const struct cli *cli,
                  const char *selector, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_READ, err);
    int64_t id;

    *view = (struct run_view){.store = store};
    if (store == NULL || store_find_run(store, selector, &id, err) < 0)
        return -1;
    return run_view_load(view, store, id, err);
}

void run_view_clear(struct run_view *view)
{
    store_free_names(view->params);
    store_free_names(view->metrics);
    store_free_names(view->goals);
    for (size_t i = 0; i < view->outcome_count; i++)
        free((void *)(uintptr_t)view->outcomes[i].metric);
    free(view->outcomes);
    for (size_t i = 0; i < RUN_TEXTS; i++)
        free(view->texts[i]);
}

void run_view_close(struct run_view *view)
{
    run_view_clear(view);
    store_close(view->store);
}

/* ---- what the row alone does not say ---- */

const char *run_state_shown(const struct store *store,
                            const struct run_row *row, int64_t *pid)
{
    char *directory = store_run_directory(store, row->name);
    int held = engine_lock_probe(directory, pid, NULL);

    free(directory);
    if (strcmp(row->state, "running") == 0 && held > 0 && row->paused_ms != 0)
        return "paused";
    if (strcmp(row->state, "running") != 0 || held > 0)
        return row->state;
    return held == 0 ? "interrupted" : "unknown";
}

bool run_state_lacks_engine(const struct run_row *row, const char *shown)
{
    return strcmp(row->state, run_state_names[RUN_RUNNING]) == 0 &&
           strcmp(shown, row->state) != 0 && strcmp(shown, "paused") != 0;
}

bool run_lacks_engine(const struct run_view *view)
{
    return run_state_lacks_engine(&view->row, view->state);
}

const char *job_state_shown(const struct run_view *view, const char *state)
{
    return strcmp(state, job_state_names[JOB_RUNNING]) == 0 &&
                   run_lacks_engine(view)
               ? view->state
               : state;
}

const char *trial_state_now(const struct run_view *view,
                            const struct trial_row *trial)
{
    return job_state_shown(view, trial_state_shown(trial));
}

bool run_is_workflow(const struct run_row *row)
{
    return strcmp(row->kind, "workflow") == 0;
}

bool run_has_succeeded(const struct run_row *row)
{
    return strcmp(row->state, run_state_names[RUN_SUCCEEDED]) == 0;
}

int64_t run_duration_ms(const struct run_row *row, const char *state_shown)
{
    if (row->started_ms == 0)
        return -1;
    if (row->ended_ms != 0)
        return row->ended_ms - row->started_ms;
    if (strcmp(state_shown, "running") == 0 ||
        strcmp(state_shown, "paused") == 0)
        return clock_wall_ms() - row->started_ms;
    return -1;
}

int64_t trial_last_ran_ms(const struct run_view *view,
                          const struct trial_row *trial)
{
    const struct attempt_totals *attempts = &trial->attempts;

    if (attempts->last_ran_ms >= 0 || attempts->last_started_ms == 0)
        return attempts->last_ran_ms;
    return view->engine_pid > 0 ? clock_wall_ms() - attempts->last_started_ms
                                : -1;
}

int64_t trial_ran_ms(const struct run_view *view, const struct trial_row *trial)
{
    const struct attempt_totals *attempts = &trial->attempts;
    int64_t last_ms = trial_last_ran_ms(view, trial);

    if (attempts->last_ran_ms >= 0)
        return attempts->ran_ms;
    if (last_ms < 0)
        return attempts->ran_ms > 0 ? attempts->ran_ms : -1;
    return attempts->ran_ms + last_ms;
}

int64_t run_done(const struct run_row *row)
{
    return row->succeeded + row->nonfinite + row->failed + row->other;
}

/* ---- trials ---- */

int run_parse_trial(const char *operand, int64_t *number, struct err *err)
{
    char *end;

    errno = 0;
    *number = strtoll(operand, &end, 10);
    if (errno != 0 || end == operand || *end != '\0' || *number < 1)
        return err_set(err, ERR_USAGE, "'%s': expected the number of a trial",
                       operand);
    return 0;
}

static int keep_trials(void *user, const struct run_row *row)
{
    *(int64_t *)user = row->trials;
    return 0;
}

int64_t run_count_trials(const struct run_view *view)
{
    int64_t trials = 0;

    store_get_run(view->store, view->row.id, keep_trials, &trials, NULL);
    return trials;
}

int run_find_trial(const struct run_view *view, const char *operand,
                   int64_t *number, int64_t *job, struct err *err)
{
    if (run_parse_trial(operand, number, err) != 0 ||
        store_find_job(view->store, view->row.id, *number, job, err) != 0)
        return -1;
    if (*job != 0)
        return 0;
    return err_set(err, ERR_NOT_FOUND,
                   "run '%s' has no trial %" PRId64 " (it has %" PRId64 ")",
                   view->row.name, *number, run_count_trials(view));
}
