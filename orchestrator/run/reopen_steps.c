/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/reopen_steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"

struct life {
    enum flow_state state;
    int64_t first_job; /* 0: it has not begun since it waited last */
    int64_t open_jobs, jobs;
};

struct looking {
    const struct workflow *workflow;
    struct life *lives; /* [step_count] */
    struct reopening *found;
    size_t count;
    struct err *err;
};

static int on_step(void *user, const struct step_row *row)
{
    struct looking *looking = user;
    enum flow_state state;

    if ((size_t)row->step >= looking->workflow->step_count)
        return err_set(
            looking->err, ERR_FAILED,
            "step '%s' is in the record, but not in the file of the run",
            row->name);
    if (step_state_read(row->name, row->state, &state, looking->err) != 0)
        return -1;
    looking->lives[row->step] = (struct life){
        .state = state,
        .first_job = row->first_job,
        .open_jobs = row->pending + row->running,
        .jobs = row->jobs,
    };
    return 0;
}

/* Whether a later job has taken the place of one that was named. */
static int on_job(void *user, const struct trial_row *row)
{
    struct looking *looking = user;

    for (size_t i = 0; i < looking->count; i++) {
        const struct reopening *found = &looking->found[i];

        if (found->is_named && row->step == found->step &&
            row->copy == found->copy && row->number > found->number)
            return err_set(looking->err, ERR_USAGE,
                           "job %" PRId64 " replaced job %" PRId64
                           ": retry the newer one",
                           row->number, found->number);
    }
    return 0;
}

/* Whether a job is of an earlier time of its step. */
static bool is_old(const struct looking *looking, const struct reopening *found)
{
    const struct life *life = &looking->lives[found->step];

    return life->first_job == 0 || found->number < life->first_job;
}

/* Of an earlier time are failures that nobody means. */
static void drop_old(struct looking *looking)
{
    size_t kept = 0;

    for (size_t i = 0; i < looking->count; i++) {
        const struct reopening found = looking->found[i];

        if (found.is_named || !is_old(looking, &found))
            looking->found[kept++] = found;
    }
    looking->count = kept;
}

static bool has_named(const struct looking *looking)
{
    for (size_t i = 0; i < looking->count; i++) {
        if (looking->found[i].is_named)
            return true;
    }
    return false;
}

static int refuse_old(const struct looking *looking,
                      const struct reopening *found)
{
    const struct life *life = &looking->lives[found->step];

    return err_set(looking->err, ERR_USAGE,
                   "job %" PRId64
                   " is from an earlier execution of step '%s', which is %s "
                   "now: retry a step that it needs",
                   found->number, looking->workflow->steps[found->step].name,
                   step_state_names[life->state]);
}

void reopen_steps_mark(const struct workflow *workflow, size_t step,
                       bool *waits)
{
    graph_mark_descendants(workflow->graph, step, waits);
    if (workflow->flow_steps[step].is_final)
        return;
    for (size_t i = 0; i < workflow->step_count; i++)
        waits[i] |= workflow->flow_steps[i].is_final;
}

static void mark_all(const struct looking *looking, bool all_failed,
                     bool *waits)
{
    for (size_t i = 0; i < looking->count; i++)
        reopen_steps_mark(looking->workflow, (size_t)looking->found[i].step,
                          waits);
    for (size_t i = 0; all_failed && i < looking->workflow->step_count; i++) {
        const struct life *life = &looking->lives[i];

        if (life->state != FLOW_FAILED || life->jobs > 0)
            continue;
        waits[i] = true;
        reopen_steps_mark(looking->workflow, i, waits);
    }
}

static int decide(struct looking *looking, const bool *waits,
                  struct reopen_steps *steps)
{
    const struct workflow *workflow = looking->workflow;
    size_t kept = 0;

    for (size_t i = 0; i < looking->count; i++) {
        const struct reopening found = looking->found[i];

        if (waits[found.step])
            continue;
        if (is_old(looking, &found))
            return refuse_old(looking, &found);
        looking->found[kept++] = found;
        if (looking->lives[found.step].state != FLOW_ACTIVE)
            steps->fates[found.step] = STEP_GOES_ON;
    }
    looking->count = kept;
    for (size_t i = 0; i < workflow->step_count; i++) {
        if (waits[i] && looking->lives[i].open_jobs > 0)
            return err_set(
                looking->err, ERR_USAGE,
                "step '%s' is running, and a retry would make it wait again",
                workflow->steps[i].name);
        if (waits[i] && looking->lives[i].state != FLOW_WAITING)
            steps->fates[i] = STEP_WAITS;
        steps->count += steps->fates[i] != STEP_STAYS;
    }
    return 0;
}

int reopen_steps_find(struct store *store, int64_t run,
                      const struct workflow *workflow, bool all_failed,
                      struct reopen_steps *steps, struct err *err)
{
    struct trial_query query = {.run = run, .order = ORDER_NUMBER};
    struct looking looking = {
        .workflow = workflow,
        .lives = mem_array(workflow->step_count, sizeof(*looking.lives)),
        .found = steps->found,
        .count = steps->found_count,
        .err = err,
    };
    bool *waits = mem_array(workflow->step_count, sizeof(*waits));
    int result;

    steps->fates = mem_array(workflow->step_count, sizeof(*steps->fates));
    result = store_each_step(store, run, on_step, &looking, err);
    if (result == 0 && all_failed)
        drop_old(&looking);
    if (result == 0 && has_named(&looking))
        result = store_each_trial(store, &query, on_job, &looking, err);
    if (result == 0) {
        mark_all(&looking, all_failed, waits);
        result = decide(&looking, waits, steps);
    }
    steps->found_count = looking.count;
    if (result == 0 && looking.count == 0 && steps->count == 0)
        result = err_set(err, ERR_USAGE, "nothing has failed");
    free(waits);
    free(looking.lives);
    return result;
}

int reopen_steps_record(struct store *store, int64_t run,
                        const struct workflow *workflow,
                        const struct reopen_steps *steps, struct err *err)
{
    static const enum flow_state states[] = {
        [STEP_GOES_ON] = FLOW_ACTIVE, [STEP_WAITS] = FLOW_WAITING};

    for (size_t i = 0; i < workflow->step_count; i++) {
        struct step_change change = {
            .run = run,
            .step = (int64_t)i,
            .event = step_event_names[STEP_REOPENED],
            .time_ms = clock_wall_ms(),
        };

        if (steps->fates[i] == STEP_STAYS)
            continue;
        change.state = step_state_names[states[steps->fates[i]]];
        if (store_change_step(store, &change, err) != 0)
            return -1;
    }
    return 0;
}

void reopen_steps_clear(struct reopen_steps *steps)
{
    free(steps->fates);
    *steps = (struct reopen_steps){0};
}
