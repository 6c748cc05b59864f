/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/proof/replay_decisions_impl.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/job/states.h"

/* What is scaled is bounded by the machine, but for the time, which is all
 * that a decision hangs on. */
static const struct retry_machine any_machine = {INT_MAX, INT_MAX};

static bool was_stopped(const struct engine_life *life)
{
    return life == NULL || life->state[0] == '\0' ||
           strcmp(life->state, run_state_names[RUN_STOPPED]) == 0;
}

/* Whether a rule may have matched; one that looks at logs is believed. */
static bool rule_follows(const struct judged *job)
{
    const struct retry_rule *rules = job->task->retries;
    size_t count = job->task->retry_count;
    struct retry_evidence evidence = {.end = &job->end};
    int without_log = retry_match(job->task, &evidence);

    if (job->rule == without_log)
        return true;
    return job->rule >= 0 && (size_t)job->rule < count &&
           rules[job->rule].log_count > 0 &&
           retry_wants_log(rules, count, &job->end) &&
           (without_log < 0 || job->rule < without_log);
}

/* otherwise: what comes of it where no rule gives another try. */
static int check_retry(struct deciding *deciding, struct judged *job,
                       enum job_event event, enum job_event otherwise)
{
    const json_t *detail = replay_detail(deciding->replay);
    const struct job_spec *spec = job->task;
    const struct retry_rule *rule = &retry_default;
    enum job_event follows = otherwise;
    struct buf text = BUF_INIT;
    int64_t wait_ms;

    if (!rule_follows(job))
        return deciding_differ(
            deciding, job->number,
            "recorded retry rule %d, which does not match its end", job->rule);
    if (job->rule >= 0) {
        rule = retry_rule_at(spec->retries, spec->retry_count, job->rule);
        if (job->retries_used == NULL)
            job->retries_used =
                mem_array(spec->retry_count + 1, sizeof(*job->retries_used));
        if (job->retries_used[job->rule] < rule->max)
            follows = EVENT_RETRY;
    }
    if (event != follows)
        return deciding_differ(deciding, job->number,
                               "recorded '%s', but its retry rules give '%s'",
                               job_event_names[event],
                               job_event_names[follows]);
    if (event != EVENT_RETRY)
        return 0;
    retry_scale(rule, &any_machine, &job->resources, &text);
    buf_clear(&text);
    wait_ms = retry_wait_ms(rule, deciding->experiment->search.seed,
                            job->number, ++job->retries_used[job->rule]);
    if (detail_integer(detail, "due_ms", 0) !=
        deciding->replay->event->time_ms + wait_ms)
        return deciding_differ(deciding, job->number,
                               "recorded retry after %" PRId64
                               " ms, but its rule gives %" PRId64 " ms",
                               detail_integer(detail, "due_ms", 0) -
                                   deciding->replay->event->time_ms,
                               wait_ms);
    return 0;
}

/* What comes of an end that has failed the job, in itself. */
static int check_failure(struct deciding *deciding, struct judged *job,
                         enum job_event event)
{
    enum job_event follows = EVENT_FAILED;

    switch (job->link_verdict) {
    case LINK_NONE:
        if (job->free_start != FREE_DISPLACED)
            return check_retry(deciding, job, event, EVENT_FAILED);
        follows = EVENT_DISPLACED;
        break;
    case LINK_FOLLOWS:
        follows = EVENT_LINKED;
        break;
    case LINK_DENIED:
        break;
    }
    return event == follows && job->rule < 0
               ? 0
               : deciding_differ(deciding, job->number,
                                 "recorded '%s', but its end gives '%s'",
                                 job_event_names[event],
                                 job_event_names[follows]);
}

bool deciding_may_stop(const struct deciding *deciding,
                       const struct engine_life *life)
{
    bool has_time = deciding->budget.time_ms > 0;

    return deciding->verdicts != 0 || deciding->is_hopeless ||
           (has_time && life != NULL &&
            (life->state[0] == '\0' ||
             budget_verdict_find(life->reason) == BUDGET_TIME));
}

static bool may_interrupt(const struct deciding *deciding,
                          const struct judged *job,
                          const struct engine_life *life)
{
    const struct attempt_exit *end = &job->end;

    return !job->has_end || deciding->was_paused || was_stopped(life) ||
           job_judge_end(end, WISH_NONE, job->free_start) == EVENT_INTERRUPTED;
}

/* A program that runs the trials of the search itself may stop them. */
static bool was_stopped_by_client(const struct deciding *deciding,
                                  const struct judged *job)
{
    return deciding->experiment->is_asked && job->has_end &&
           job->end.is_outside;
}

/* What the engine wanted of the attempt; that it said more than its schedule
 * had given it is believed. */
static enum job_wish find_wish(const struct judged *job, enum job_event event)
{
    if (event == EVENT_STOPPED)
        return job->decision == DECIDE_STOP ? WISH_GIVE_UP : WISH_STOP;
    if (event == EVENT_INTERRUPTED)
        return WISH_INTERRUPT;
    if (event == EVENT_CANCELLED && job->is_cancel_asked)
        return WISH_CANCEL;
    return job->is_scheduled &&
                   (event == EVENT_PAUSED || event == EVENT_SUCCEEDED)
               ? WISH_PAUSE
               : WISH_NONE;
}

static enum job_event judge(const struct judged *job, enum job_wish wish)
{
    enum job_event event = job_judge_end(&job->end, wish, job->free_start);

    return event == EVENT_SUCCEEDED && job->decision == DECIDE_PAUSE
               ? EVENT_PAUSED
               : event;
}

int deciding_check_end(struct deciding *deciding, struct judged *job,
                       enum job_event event)
{
    const struct engine_life *life = replay_life(deciding->replay);
    enum job_wish wish = find_wish(job, event);
    enum job_event follows = judge(job, wish);

    if (wish == WISH_STOP && !was_stopped_by_client(deciding, job) &&
        !deciding_may_stop(deciding, life))
        return deciding_differ(
            deciding, job->number,
            "it was stopped, but the budget was not used up");
    if (wish == WISH_INTERRUPT && !may_interrupt(deciding, job, life))
        return deciding_differ(
            deciding, job->number,
            "it was interrupted, but no user stopped the run");
    if (wish == WISH_NONE && follows == EVENT_FAILED)
        return check_failure(deciding, job, event);
    if (wish == WISH_NONE && follows == EVENT_CANCELLED)
        return check_retry(deciding, job, event, EVENT_CANCELLED);
    if (event != follows)
        return deciding_differ(
            deciding, job->number, "recorded '%s', but its end gives '%s'",
            job_event_names[event], job_event_names[follows]);
    return job->rule < 0
               ? 0
               : deciding_differ(
                     deciding, job->number,
                     "recorded a retry rule, but its end matches none");
}
