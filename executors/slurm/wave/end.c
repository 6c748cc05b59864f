/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "executors/slurm/wave/reserve.h"

/*
 * How an attempt ended: its `exit` is the best evidence, what Slurm says comes
 * next, and where neither says anything, the claim and the pulse do.
 */

enum {
    EXPLAIN_MS = 60000, /* that Slurm has to explain why it sent a signal */
    LOG_TAIL = 200
};

/* -- Ending ---------------------------------------------------------------*/

/* Takes the flight out of the task. */
static void release(struct wave_task *task)
{
    struct waves *waves = task->wave->waves;

    TAILQ_REMOVE(task->is_running ? &waves->running : &waves->waiting, task,
                 link);
    task->flight = NULL;
    task->wave->left--;
    waves_note_freed(waves);
    wave_release_if_done(task->wave);
}

static void end_task(struct wave_task *task, const struct attempt_exit *end)
{
    struct slurm *slurm = task->wave->waves->slurm;
    struct slurm_flight *flight = task->flight;

    if (task->has_reserves)
        reserves_release(task->wave->waves, flight->request->spec.directory,
                         exit_is_by_time(end, &flight->request->spec) &&
                             !flight->is_cancelled);
    release(task);
    slurm_flight_ended(slurm, flight, end);
}

/* Whether nobody of smtune's ends it. */
static bool was_unasked(const struct wave_task *task)
{
    const struct attempt_exit end = {.cause = CAUSE_CANCELLED};

    return slurm_is_unasked(task->flight, &end);
}

/* Whether an order of ours may have ended it, for a copy of it or for a job
 * that had its id before. */
static bool is_doubtful(const struct wave_task *task)
{
    const struct slurm *slurm = task->wave->waves->slurm;
    const struct slurm_target own = {task->flight->job, -1};
    struct slurm_target target;

    return task->wave->is_doubtful || slurm_may_have_cancelled(slurm, &own) ||
           (wave_task_target(task, &target) == 0 &&
            slurm_may_have_cancelled(slurm, &target));
}

static struct attempt_exit make_end(const struct wave_task *task,
                                    enum attempt_cause cause)
{
    int64_t now_ms = clock_wall_ms();
    bool is_unasked = cause == CAUSE_CANCELLED && was_unasked(task);

    return (struct attempt_exit){
        .attempt = task->flight->request->spec.attempt,
        .cause = cause,
        .exit_code = -1,
        .signal = task->signal,
        .started_ms = now_ms,
        .ended_ms = now_ms,
        .is_displaced =
            cause == CAUSE_PREEMPTED || (is_unasked && is_doubtful(task)),
        .is_outside = is_unasked && !is_doubtful(task),
    };
}

void wave_task_end_as(struct wave_task *task, enum attempt_cause cause,
                      const char *format, ...)
{
    struct attempt_exit end = make_end(task, cause);
    struct claim claim;
    va_list list;

    va_start(list, format);
    vsnprintf(end.text, sizeof(end.text), format, list);
    va_end(list);
    if (claim_read(task->flight->request->spec.directory, &claim) == 1 &&
        claim.pid != 0)
        end.started_ms = claim.time_ms;
    end_task(task, &end);
}

/* Without a retry. A claim that was made after all leaves it alone. */
static void displace(struct wave_task *task, const char *why)
{
    struct slurm_flight *flight = task->flight;
    struct waves *waves = task->wave->waves;
    char *directory = mem_copy_string(flight->request->spec.directory);

    if (slurm_flight_displaced(waves->slurm, flight, why)) {
        if (task->has_reserves)
            reserves_release(waves, directory, false);
        release(task);
    } else {
        task->fate = TASK_LIVE;
    }
    free(directory);
}

static void report(struct wave_task *task, enum node_trouble trouble,
                   const char *text)
{
    const struct node_report node = {task->flight->node, trouble,
                                     task->flight->request->spec.attempt, text};

    if (node.node[0] != '\0')
        slurm_report_node(task->wave->waves->slurm, &node);
}

void wave_task_fence(struct wave_task *task, const char *why, int64_t now_ms)
{
    struct slurm *slurm = task->wave->waves->slurm;
    const char *directory = task->flight->request->spec.directory;
    struct slurm_target target;

    if (task->fate == TASK_FENCED)
        return;
    task->fate = TASK_FENCED;
    task->since_ms = now_ms;
    pulse_mark(directory, PULSE_REVOKED, NULL);
    if (wave_task_target(task, &target) == 0)
        slurm_cancel_job(slurm, &target, 0);
    report(task, NODE_DIED, why);
    wave_task_runs(task);
}

/* -- An exit that is there ------------------------------------------------*/

/* Ended by a signal that we did not send: Slurm knows why, and is given time
 * to say so. */
static bool is_unexplained(struct wave_task *task,
                           const struct attempt_exit *end, int64_t now_ms)
{
    if (!slurm_is_unasked(task->flight, end) || task->fate == TASK_OVER ||
        task->fate == TASK_FENCED)
        return false;
    if (task->exit_ms == 0) {
        task->exit_ms = now_ms;
        slurm_look_now(task->wave->waves->slurm);
    }
    return now_ms - task->exit_ms < EXPLAIN_MS;
}

static void explain(struct wave_task *task, struct attempt_exit *end)
{
    const struct slurm_state *state = task->state;

    if (task->fate == TASK_FENCED) {
        end->cause = CAUSE_NODE_FAIL;
    } else if (task->fate != TASK_OVER || state == NULL) {
        end->is_displaced = true; /* nobody knows why */
    } else if (state->action != SLURM_TAKE) {
        end->cause = state->cause;
        end->is_displaced = state->cause == CAUSE_PREEMPTED;
        if (state->action == SLURM_EXCLUDE)
            report(task, NODE_DIED, task->word);
    } else {
        end->is_displaced = is_doubtful(task);
        end->is_outside = !end->is_displaced;
    }
    if (end->text[0] == '\0' && end->is_outside)
        snprintf(end->text, sizeof(end->text),
                 "its job %" PRId64 " was cancelled in slurm (%s)",
                 task->flight->job, task->word);
    else if (end->text[0] == '\0')
        snprintf(end->text, sizeof(end->text), "slurm: %s", task->word);
}

bool wave_task_take_exit(struct wave_task *task, struct attempt_exit *end,
                         int64_t now_ms)
{
    if (is_unexplained(task, end, now_ms))
        return false;
    if (task->flight->is_cancelled && end->cause == CAUSE_NODE_FAIL)
        end->cause = CAUSE_CANCELLED;
    else if (slurm_is_unasked(task->flight, end))
        explain(task, end);
    end_task(task, end);
    return true;
}

/* -- None that is there ---------------------------------------------------*/

/* Its health check failed, and says so in the directory of the attempt. */
static bool is_unhealthy(struct wave_task *task)
{
    const char *directory = task->flight->request->spec.directory;
    char why[LOG_TAIL];

    if (!slurm_is_unhealthy(directory, why, sizeof(why)))
        return false;
    report(task, NODE_UNHEALTHY, why);
    return true;
}

static void fail_to_launch(struct wave_task *task)
{
    char line[LOG_TAIL], *folder;

    folder = wave_folder(task->wave);
    slurm_last_words(folder, line, sizeof(line));
    free(folder);
    wave_task_end_as(task, CAUSE_LAUNCH_ERROR,
                     "its job ended before smtune-shim started (%s %d:%d)%s%s",
                     task->word, task->exit_code, task->signal,
                     line[0] != '\0' ? ": " : "", line);
}

/* Never claimed, and it never will be. */
static void end_unclaimed(struct wave_task *task)
{
    const struct slurm_state *state = task->state;

    if (task->flight->is_cancelled) {
        wave_task_end_as(task, CAUSE_CANCELLED, "it had not started");
    } else if (is_unhealthy(task)) {
        displace(task, "its node failed the health check");
    } else if (state == NULL || task->wave->is_reserve) {
        displace(task, "slurm no longer has its job");
    } else if (state->action == SLURM_EXCLUDE) {
        report(task, NODE_DIED, task->word);
        displace(task, "its node failed before the attempt started");
    } else if (state->cause == CAUSE_CANCELLED && !is_doubtful(task)) {
        wave_task_end_as(task, CAUSE_CANCELLED,
                         "its job %" PRId64 " was cancelled in slurm (%s)",
                         task->flight->job, task->word);
    } else if (state->cause == CAUSE_OK || state->cause == CAUSE_PREEMPTED ||
               state->cause == CAUSE_CANCELLED || task->signal != 0) {
        displace(task, "its job ended before the attempt started");
    } else {
        fail_to_launch(task);
    }
}

static void end_claimed(struct wave_task *task)
{
    const struct slurm_state *state = task->state;
    enum attempt_cause cause = state != NULL ? state->cause : CAUSE_LOST;

    if (task->flight->is_cancelled)
        cause = CAUSE_CANCELLED;
    else if (cause == CAUSE_OK || cause == CAUSE_EXIT || cause == CAUSE_SIGNAL)
        cause = CAUSE_LOST;
    if (state == NULL)
        wave_task_end_as(
            task, cause,
            "it ended without an exit file, and slurm no longer has its job");
    else
        wave_task_end_as(task, cause,
                         "it ended without an exit file; slurm: %s %d:%d",
                         task->word, task->exit_code, task->signal);
}

/* A shared directory may show files later than Slurm tells that it is over. */
static int64_t lag_ms(const struct wave_task *task)
{
    return slurm_options(task->wave->waves->slurm)->poll_ms;
}

static int64_t silence_of(const struct wave_task *task, int64_t now_ms)
{
    struct slurm_flight *flight = task->flight;

    return pulse_silence_ms(&flight->pulse, flight->request->spec.directory,
                            now_ms);
}

static void judge_fenced(struct wave_task *task, int64_t now_ms)
{
    int64_t limit_ms = slurm_options(task->wave->waves->slurm)->silence_ms;

    if (silence_of(task, now_ms) < limit_ms &&
        now_ms - task->since_ms < limit_ms)
        return;
    wave_task_end_as(
        task, task->flight->is_cancelled ? CAUSE_CANCELLED : CAUSE_NODE_FAIL,
        "node '%s' counts as failed", task->flight->node);
}

static void judge_claimed(struct wave_task *task, int64_t now_ms)
{
    const struct slurm_state *state = task->state;
    int64_t limit_ms = slurm_options(task->wave->waves->slurm)->silence_ms;

    if (state != NULL && state->action == SLURM_EXCLUDE)
        wave_task_fence(task, task->word, now_ms);
    else if (state != NULL ? now_ms - task->since_ms >= lag_ms(task)
                           : silence_of(task, now_ms) >= limit_ms)
        end_claimed(task);
}

void wave_task_judge(struct wave_task *task, int64_t now_ms)
{
    const struct attempt_spec *spec = &task->flight->request->spec;
    bool has_begun = task->flight->node[0] != '\0';
    struct claim claim;

    if (task->fate == TASK_FENCED) {
        judge_fenced(task, now_ms);
    } else if (task->is_claimed) {
        judge_claimed(task, now_ms);
    } else if (!has_begun || now_ms - task->since_ms >= lag_ms(task)) {
        if (claim_judge(spec->directory, spec->attempt, &claim, NULL) ==
            CLAIM_VOID)
            end_unclaimed(task);
    }
}
