/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/idle.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "executors/machine/slots.h"
#include "executors/machine/slots_census.h"
#include "orchestrator/engine/core/pause.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/source.h"

/*
 * Why the engine starts nothing now. At the end of a turn the first reason of
 * the table `reasons` that holds is the answer; the order is that in which
 * engine_dispatch() would have given up. Nothing here changes the engine: it
 * reads the state that the turn left. It runs only where the log has level
 * debug.
 *
 * A reason is logged when it, or what it is about, differs from the one logged
 * last, so that a run that waits for hours is one line.
 */

enum { JOBS_SHOWN = 12 };

static int64_t count_list(const struct job_list *list)
{
    const struct job *job;
    int64_t count = 0;

    TAILQ_FOREACH(job, list, link)
    {
        count++;
    }
    return count;
}

/* ---- words ---- */

static void add_job(const struct job *job, int count, struct buf *out)
{
    if (count < JOBS_SHOWN)
        buf_printf(out, "%s%" PRId64, count > 0 ? " " : "", job->number);
    else if (count == JOBS_SHOWN)
        buf_add_string(out, " ...");
}

/* ---- the reasons: whether one holds, what about, and in words ---- */

static bool is_ending(const struct engine *engine, int64_t *about,
                      struct buf *out)
{
    *about = engine->wind_up.phase;
    if (engine->wind_up.phase == PHASE_RUNNING)
        return false;
    buf_printf(out, "the run is ending: %s", engine->result->reason);
    return true;
}

static bool is_paused(const struct engine *engine, int64_t *about,
                      struct buf *out)
{
    *about = engine->paused_since_ms;
    if (!engine_is_paused(engine))
        return false;
    buf_add_string(out, "the run is paused (smtune resume continues it)");
    return true;
}

static bool is_short(const struct engine *engine, int64_t *about,
                     struct buf *out)
{
    *about = engine->shortage.until_ms;
    if (!engine_is_held(engine))
        return false;
    buf_printf(out, "%s; next try in %" PRId64 " ms", engine->shortage.text,
               engine->shortage.until_ms - clock_monotonic_ms());
    return true;
}

/* Other runs of this user may hold the slots of this machine. */
static void add_slots(const struct engine *engine, struct buf *out)
{
    char directory[SLOTS_PATH_MAX];
    struct slots_census census;
    struct err err;

    if (executor_cpus(engine->executors[0]) == 0 ||
        slots_directory(directory, &err) != 0)
        return;
    slots_count(directory, &census);
    buf_printf(out, "; slots of this machine: cpus=%zu/%d gpus=%zu/%d taken",
               census.cpus_taken, executor_cpus(engine->executors[0]),
               census.gpus_taken, executor_gpus(engine->executors[0]));
    for (size_t i = 0; i < census.holder_count; i++)
        buf_printf(out, "%s%" PRId64, i > 0 ? " " : " by pids ",
                   census.holders[i]);
}

/* Of the live jobs those that run, wait in a queue, or do neither. */
static void add_live(const struct engine *engine, enum job_state state,
                     bool is_queued, const char *what, struct buf *out)
{
    const struct job *job;
    struct buf jobs = BUF_INIT;
    int count = 0;

    TAILQ_FOREACH(job, &engine->queues.live, link)
    {
        if (job->state == state && job->is_queued == is_queued)
            add_job(job, count++, &jobs);
    }
    if (count > 0)
        buf_printf(out, "; %s: %d (jobs %s)", what, count, buf_text(&jobs));
    buf_clear(&jobs);
}

static int64_t count_unstarted(const struct engine *engine)
{
    return engine->queues.live_count - engine->queues.running_count -
           engine->queues.queued_count;
}

/* What was handed over waits there for the slots of other runs. */
static void add_unstarted(const struct engine *engine, struct buf *out)
{
    if (count_unstarted(engine) <= 0)
        return;
    add_live(engine, JOB_READY, false, "handed over and not started", out);
    add_slots(engine, out);
}

/* Whether the live job holds what the other one lacks. */
static bool holds(const struct job *live, const struct job *job,
                  const struct attempt_spec *spec)
{
    if ((job->lacks & LACKS_CPUS) && live->resources.cpus > 0)
        return true;
    if ((job->lacks & LACKS_GPUS) && live->resources.gpus > 0)
        return true;
    for (size_t i = 0; i < spec->pool_count; i++) {
        const char *pool = strrchr(spec->pools[i].directory, '/') + 1;

        if (!(job->lacks & ((uint32_t)LACKS_POOL << i)))
            continue;
        for (size_t j = 0; j < live->spec->pool_count; j++) {
            if (strcmp(live->spec->pools[j].name, pool) == 0)
                return true;
        }
    }
    return false;
}

static void add_holders(const struct engine *engine, const struct job *job,
                        const struct attempt_spec *spec, struct buf *out)
{
    const struct job *live;
    struct buf jobs = BUF_INIT;
    int count = 0;

    TAILQ_FOREACH(live, &engine->queues.live, link)
    {
        if (live->executor == job->executor && holds(live, job, spec))
            add_job(live, count++, &jobs);
    }
    if (count > 0)
        buf_printf(out, "; held by jobs: %s", buf_text(&jobs));
    else
        buf_add_string(out, "; held by other runs");
    buf_clear(&jobs);
}

static void add_lacks(const struct job *job, const struct attempt_spec *spec,
                      struct buf *out)
{
    if (job->lacks & LACKS_CPUS)
        buf_printf(out, " cpus=%d (of %d)", spec->cpus,
                   executor_cpus(job->executor));
    if (job->lacks & LACKS_GPUS)
        buf_printf(out, " gpus=%d (of %d)", spec->gpus,
                   executor_gpus(job->executor));
    for (size_t i = 0; i < spec->pool_count; i++) {
        const struct attempt_pool *pool = &spec->pools[i];

        if (job->lacks & ((uint32_t)LACKS_POOL << i))
            buf_printf(out, " pool=%s:%" PRId64 " (of %" PRId64 ")",
                       strrchr(pool->directory, '/') + 1, pool->amount,
                       pool->size);
    }
}

static bool is_refused(const struct engine *engine, int64_t *about,
                       struct buf *out)
{
    const struct job *job = TAILQ_FIRST(&engine->queues.committed);
    const struct attempt_spec *spec;

    if (job == NULL)
        return false;
    *about = 2 * job->number + (count_unstarted(engine) > 0);
    spec = launch_spec(job->launch);
    if (job->lacks == 0) {
        buf_printf(out,
                   "no free slot for job %" PRId64
                   ": its executor takes no more attempts now",
                   job->number);
        return true;
    }
    buf_printf(out, "no free slot for job %" PRId64 ", which needs",
               job->number);
    add_lacks(job, spec, out);
    add_holders(engine, job, spec, out);
    add_unstarted(engine, out);
    return true;
}

static bool is_full(const struct engine *engine, int64_t *about,
                    struct buf *out)
{
    if (engine_active(engine) < engine->parallel ||
        engine->queues.asked_count > 0)
        return false;
    *about = (engine->queues.running_count > 0) +
             2 * (engine->queues.queued_count > 0) +
             4 * (count_unstarted(engine) > 0);
    buf_printf(out, "parallel=%" PRId64 " is reached", engine->parallel);
    add_live(engine, JOB_RUNNING, false, "running", out);
    add_live(engine, JOB_READY, true, "waiting in a queue", out);
    add_unstarted(engine, out);
    return true;
}

static bool is_asking(const struct engine *engine, int64_t *about,
                      struct buf *out)
{
    *about = engine->queues.asked_count;
    if (engine->queues.asked_count == 0)
        return false;
    buf_printf(out,
               "waiting for the cache or for shares of files: jobs=%" PRId64,
               engine->queues.asked_count);
    return true;
}

static bool is_holding(const struct engine *engine, int64_t *about,
                       struct buf *out)
{
    *about = count_list(&engine->queues.held);
    if (*about == 0)
        return false;
    buf_printf(out,
               "waiting until it is clear whether a step needs temporary "
               "outputs that cache hits lack: jobs=%" PRId64,
               *about);
    return true;
}

static bool is_retrying(const struct engine *engine, int64_t *about,
                        struct buf *out)
{
    const struct job *job = TAILQ_FIRST(&engine->queues.waiting);

    if (job == NULL || engine_active(engine) > 0)
        return false;
    *about = job->number;
    buf_printf(out,
               "waiting for the time of a retry: job %" PRId64 " in %" PRId64
               " ms",
               job->number, job->due_ms - clock_monotonic_ms());
    return true;
}

static bool is_used_up(const struct engine *engine, int64_t *about,
                       struct buf *out)
{
    int64_t trials = engine->experiment->budget.trials;

    *about = trials;
    if (!engine->source->is_search || trials == 0 ||
        engine->tally.suggested < trials || engine->queues.paused_trials > 0)
        return false;
    buf_printf(
        out,
        "the budget is used up by unfinished trials: budget.trials=%" PRId64
        " ended=%" PRId64,
        trials, tally_ended(&engine->tally));
    return true;
}

static bool is_exhausted(const struct engine *engine, int64_t *about,
                         struct buf *out)
{
    *about = engine->wind_up.is_beyond_budget;
    if (!engine->wind_up.is_exhausted)
        return false;
    buf_add_string(out, engine->wind_up.is_beyond_budget
                            ? "the budget is used up: only retried jobs run"
                            : "the search has no more settings to suggest");
    return true;
}

static bool is_up_to_source(const struct engine *engine, int64_t *about,
                            struct buf *out)
{
    return engine->source->is_idle(engine, about, out);
}

/* ---- the table ---- */

static bool (*const reasons[])(const struct engine *engine, int64_t *about,
                               struct buf *out) = {
    is_ending,  is_paused,    is_short,        is_refused,
    is_full,    is_asking,    is_holding,      is_retrying,
    is_used_up, is_exhausted, is_up_to_source,
};

/* Something will start by itself when the loop turns again. */
static bool goes_on(const struct engine *engine)
{
    const struct job *job;

    if (engine->wind_up.phase != PHASE_RUNNING || engine_is_held(engine))
        return false;
    if (engine->queues.has_more_to_dispatch ||
        engine->queues.prepared_count > 0)
        return true;
    if (engine_active(engine) < engine->parallel &&
        !TAILQ_EMPTY(&engine->queues.ready))
        return true;
    TAILQ_FOREACH(job, &engine->queues.settled, link)
    {
        if (job->state == JOB_READY)
            return true;
    }
    return false;
}

static void log_idle(struct engine *engine)
{
    struct buf text = BUF_INIT;
    int64_t about = 0;
    size_t i = 0;

    if (goes_on(engine))
        return;
    while (i < ARRAY_LEN(reasons) && !reasons[i](engine, &about, &text))
        i++;
    if (i < ARRAY_LEN(reasons) &&
        (engine->idle_reason != i + 1 || engine->idle_about != about)) {
        engine->idle_reason = i + 1;
        engine->idle_about = about;
        LOG(engine->log, LOG_ENGINE, LOG_DEBUG, 0, "starts nothing: %s",
            buf_text(&text));
    }
    buf_clear(&text);
}

/* ---- turns ---- */

void engine_log_turn(struct engine *engine)
{
    struct buf text = BUF_INIT;

    if (!log_has(engine->log, LOG_ENGINE, LOG_DEBUG))
        return;
    buf_printf(&text,
               "turn suggested=%" PRId64 " ready=%" PRId64 " asked=%" PRId64
               " prepared=%" PRId64 " refused=%" PRId64 " live=%" PRId64
               " running=%" PRId64 " queued=%" PRId64 " retrying=%" PRId64
               " paused=%" PRId64 " ended=%" PRId64,
               engine->tally.suggested, count_list(&engine->queues.ready),
               engine->queues.asked_count, engine->queues.prepared_count,
               engine->queues.committed_count, engine->queues.live_count,
               engine->queues.running_count, engine->queues.queued_count,
               count_list(&engine->queues.waiting),
               engine->queues.paused_trials, tally_ended(&engine->tally));
    if (strcmp(buf_text(&text), engine->last_turn) != 0) {
        snprintf(engine->last_turn, sizeof(engine->last_turn), "%s",
                 buf_text(&text));
        LOG(engine->log, LOG_ENGINE, LOG_DEBUG, 0, "%s", buf_text(&text));
    }
    buf_clear(&text);
    log_idle(engine);
}
