/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The steps of a workflow's run, read from the record and the run's file.
 *
 * All queries are within one read transaction, so that counts of jobs and
 * states of steps belong together. Where a step repeats, the store's counts
 * include earlier rounds; the copies are then counted again by their last
 * round. If the file is no longer valid, the steps are still shown, in the
 * order of the record.
 */
#include "cli/show/jobs/run_steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/run.h"
#include "store/store.h"

struct reading {
    struct store *store;
    struct step_list list;
    size_t capacity;
    bool repeats;           /* a step has more jobs than copies */
    unsigned char **states; /* [count][copies] of such a step: 1 + the state,
                               and IS_CACHED */
    struct err *err;
};

/* ---- the steps ---- */

static int keep_step(void *user, const struct step_row *row)
{
    struct reading *reading = user;
    struct step_list *list = &reading->list;
    enum flow_state state;
    struct step_line *line;

    if (step_state_read(row->name, row->state, &state, reading->err) != 0)
        return -1;
    list->lines = mem_grow(list->lines, list->count, &reading->capacity,
                           sizeof(*list->lines));
    line = &list->lines[list->count++];
    *line = (struct step_line){
        .name = mem_copy_string(row->name),
        .state = state,
        .reason = mem_copy_string(row->reason),
        .is_many = row->copies > 1 || row->matrix != NULL,
        .copies = row->copies > 0 ? row->copies : 0,
        .first_job = row->first_job,
        .jobs = {.succeeded = row->succeeded,
                 .failed = row->failed,
                 .running = row->running,
                 .pending = row->pending,
                 .skipped = row->skipped,
                 .cached = row->cached},
        .began_ms = row->began_ms,
        .ended_ms = row->ended_ms,
    };
    line->jobs.cancelled = row->jobs - row->succeeded - row->failed -
                           row->running - row->pending - row->skipped;
    reading->repeats |= row->jobs > line->copies;
    return 0;
}

/* ---- rounds ---- */

enum { IS_CACHED = 0x80 };

/* Jobs come by number, and so a copy's last round last. */
static int keep_round(void *user, const struct trial_row *job)
{
    struct reading *reading = user;
    struct step_list *list = &reading->list;
    struct step_line *line;

    if (job->step < 0 || (size_t)job->step >= list->count || job->round == 0)
        return 0;
    line = &list->lines[job->step];
    if (job->copy < 0 || job->copy >= line->copies)
        return 0;
    if (reading->states[job->step] == NULL)
        reading->states[job->step] = mem_zero((size_t)line->copies);
    reading->states[job->step][job->copy] =
        (unsigned char)(1 + job_state_find(job->state));
    if (store_is_cache_hit(job->cached_from, job->cache_key))
        reading->states[job->step][job->copy] |= IS_CACHED;
    if (job->round > line->round)
        line->round = job->round;
    return 0;
}

static void tally_rounds(struct step_line *line, const unsigned char *states)
{
    struct step_jobs jobs = {0};
    int64_t *const tallies[1 + JOB_STATE_COUNT] = {
        [1 + JOB_WAITING] = &jobs.pending,
        [1 + JOB_READY] = &jobs.pending,
        [1 + JOB_PAUSED] = &jobs.pending,
        [1 + JOB_RUNNING] = &jobs.running,
        [1 + JOB_SUCCEEDED] = &jobs.succeeded,
        [1 + JOB_FAILED] = &jobs.failed,
        [1 + JOB_SKIPPED] = &jobs.skipped,
        [1 + JOB_STOPPED] = &jobs.cancelled,
        [1 + JOB_CANCELLED] = &jobs.cancelled,
    };

    for (int64_t i = 0; i < line->copies; i++) {
        int64_t *tally = tallies[states[i] & ~IS_CACHED];

        if (tally != NULL)
            (*tally)++;
        jobs.cached += (states[i] & IS_CACHED) != 0;
    }
    line->jobs = jobs;
}

/* Of a step that repeats, each copy counts by its last round. */
static int read_rounds(struct reading *reading, int64_t run)
{
    const struct trial_query query = {.run = run, .results_only = true};
    struct step_list *list = &reading->list;
    int result;

    if (!reading->repeats)
        return 0;
    reading->states = mem_array(list->count, sizeof(*reading->states));
    result = store_each_trial(reading->store, &query, keep_round, reading,
                              reading->err);
    for (size_t i = 0; i < list->count; i++) {
        if (reading->states[i] != NULL && result == 0)
            tally_rounds(&list->lines[i], reading->states[i]);
        free(reading->states[i]);
    }
    free(reading->states);
    return result;
}

/* ---- child runs ---- */

/* "run nightly.tune: 17 of 20 trials over, best 0.12 (trial 7)" */
static char *describe_child(const struct run_row *row)
{
    struct buf text = BUF_INIT;
    bool is_workflow = strcmp(row->kind, "workflow") == 0;

    buf_printf(&text, "run %s: %" PRId64 " of %" PRId64 " %s finished",
               row->name, run_done(row), row->trials,
               is_workflow ? "jobs" : "trials");
    if (row->best_trial > 0)
        buf_printf(&text, ", best %.6g (trial %" PRId64 ")", row->best,
                   row->best_trial);
    return buf_take(&text);
}

struct child {
    struct reading *reading;
    int64_t parent;
    struct child_run {
        int64_t job;
        char *text;
    } * runs;
    size_t count, capacity;
};

static int keep_child(void *user, const struct run_row *row)
{
    struct child *child = user;

    if (row->parent_id != child->parent)
        return 0;
    child->runs = mem_grow(child->runs, child->count, &child->capacity,
                           sizeof(*child->runs));
    child->runs[child->count++] =
        (struct child_run){row->parent_job, describe_child(row)};
    return 0;
}

/* On the line of the step whose job it is; of many copies, the last one's. */
static int place_child(void *user, const struct trial_row *job)
{
    struct child *child = user;
    struct step_list *list = &child->reading->list;

    for (size_t i = 0; i < child->count; i++) {
        if (child->runs[i].job != job->job || job->step < 0 ||
            (size_t)job->step >= list->count)
            continue;
        free(list->lines[job->step].below);
        list->lines[job->step].below = mem_copy_string(child->runs[i].text);
    }
    return 0;
}

static int read_child(struct reading *reading, int64_t run)
{
    const struct trial_query query = {.run = run, .results_only = true};
    struct child child = {.reading = reading, .parent = run};
    int result = store_each_child_run(reading->store, run, keep_child, &child,
                                      reading->err);

    if (result == 0 && child.count > 0)
        result = store_each_trial(reading->store, &query, place_child, &child,
                                  reading->err);
    for (size_t i = 0; i < child.count; i++)
        free(child.runs[i].text);
    free(child.runs);
    return result;
}

/* ---- the engine ---- */

static int find_engine(void *user, const struct run_row *row)
{
    struct reading *reading = user;
    int64_t pid;
    const char *state = run_state_shown(reading->store, row, &pid);

    if (run_state_lacks_engine(row, state))
        reading->list.interrupted = state;
    return 0;
}

/* What the record has as running is so only as long as there is an engine. */
static int read_engine(struct reading *reading, int64_t run)
{
    int result = store_get_run_uncounted(reading->store, run, find_engine,
                                         reading, reading->err);

    for (size_t i = 0; reading->list.interrupted != NULL && result == 0 &&
                       i < reading->list.count;
         i++) {
        struct step_jobs *jobs = &reading->list.lines[i].jobs;

        jobs->interrupted = jobs->running;
        jobs->running = 0;
    }
    return result;
}

/* ---- all ---- */

/* What the file says of the steps, where it has as many. */
static void apply_file(struct step_list *list, const struct workflow *workflow)
{
    list->order = mem_array(list->count, sizeof(*list->order));
    for (size_t i = 0; i < list->count; i++)
        list->order[i] = i;
    if (workflow == NULL || workflow->step_count != list->count)
        return;
    for (size_t i = 0; i < list->count; i++) {
        list->lines[i].is_hidden = workflow->steps[i].kind == STEP_JOIN;
        if (list->lines[i].round > 0)
            list->lines[i].rounds = workflow->steps[i].repeat.max;
    }
    step_list_set_graph(list, workflow->graph);
}

static int read_steps(struct reading *reading, int64_t run,
                      const struct workflow *workflow)
{
    bool began;
    int result = store_read_begin(reading->store, &began, reading->err);

    if (result != 0)
        return result;
    result =
        store_each_step(reading->store, run, keep_step, reading, reading->err);
    if (result == 0)
        result = read_rounds(reading, run);
    if (result == 0)
        result = read_child(reading, run);
    if (result == 0)
        result = read_engine(reading, run);
    store_read_end(reading->store, began);
    apply_file(&reading->list, workflow);
    return result;
}

int run_steps_refresh(struct run_steps *steps, struct store *store, int64_t run,
                      struct err *err)
{
    struct reading reading = {.store = store, .err = err};
    int result = read_steps(&reading, run, steps->spec.workflow);

    if (result != 0) {
        step_list_clear(&reading.list);
        return -1;
    }
    step_list_clear(&steps->list);
    steps->list = reading.list;
    return 0;
}

int run_steps_load(struct run_steps *steps, struct store *store, int64_t run,
                   struct err *err)
{
    *steps = (struct run_steps){0};
    run_read_spec(store, run, &steps->spec, NULL);
    return run_steps_refresh(steps, store, run, err);
}

void run_steps_clear(struct run_steps *steps)
{
    step_list_clear(&steps->list);
    spec_clear(&steps->spec);
    *steps = (struct run_steps){0};
}
