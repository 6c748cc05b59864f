/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/pulse.h"
#include "executors/slurm/wave/wave.h"

/*
 * The files of attempts are the quick signal: `claim` says that one began,
 * `exit` that it ended, `pulse` that its node lives. Those that run are looked
 * at in turn, then those that wait, as many as there is time for in a tick.
 */

enum {
    RUNNING_MS = 15, /* of a tick, for those that run */
    WAITING_MS = 5,
    CLOCK_EVERY = 16,    /* looks between two at the clock */
    STUBBORN_MS = 20000, /* beyond its grace, until it is cancelled for good */
    GIVE_UP_MS = 30000   /* that a cancellation waits for Slurm's word */
};

static void note_claim(struct wave_task *task, const struct claim *claim)
{
    struct slurm_flight *flight = task->flight;

    task->is_claimed = true;
    task->claimed_ms = clock_monotonic_ms();
    task->claim_job = claim->job;
    if (claim->job != 0 && claim->job != flight->job && task->fate == TASK_OVER)
        task->fate = TASK_LIVE; /* its twin is over */
    if (claim->job != 0)
        flight->job = claim->job;
    if (claim->node[0] != '\0')
        snprintf(flight->node, sizeof(flight->node), "%s", claim->node);
    wave_task_runs(task);
    slurm_flight_started(task->wave->waves->slurm, flight, claim->pid);
}

/* What Slurm would say to it, were there an answer. */
static void mark_cancelled(struct wave_task *task)
{
    const struct slurm_flight *flight = task->flight;
    const char *mark =
        flight->cancel_mode == CANCEL_TERM ? PULSE_CANCELLED : PULSE_REVOKED;

    if (task->mark == mark ||
        !slurm_is_mute(task->wave->waves->slurm, task->told_ms))
        return;
    if (pulse_mark(flight->request->spec.directory, mark, NULL) == 0)
        task->mark = mark;
}

/* One that was told to end, and does not. */
static void press(struct wave_task *task, int64_t now_ms)
{
    int64_t grace_ms = task->flight->request->spec.grace_ms;

    if (task->flight->is_cancelled)
        mark_cancelled(task);
    if (task->cancelled_ms != 0 &&
        now_ms - task->cancelled_ms > grace_ms + STUBBORN_MS)
        wave_task_cancel(task);
}

static void check_pulse(struct wave_task *task, int64_t now_ms)
{
    struct slurm_flight *flight = task->flight;
    const char *directory = flight->request->spec.directory;
    int64_t silence_ms = slurm_options(task->wave->waves->slurm)->silence_ms;

    if (pulse_silence_ms(&flight->pulse, directory, now_ms) < silence_ms ||
        task->fate != TASK_LIVE)
        return;
    wave_task_fence(task, "an attempt sent no sign of life", now_ms);
}

/* Nobody says whether it is in the queue: what has not begun can be kept from
 * it, and its job, if there is one, starts nothing. */
static bool give_up(struct wave_task *task, int64_t now_ms)
{
    const struct attempt_spec *spec = &task->flight->request->spec;
    struct slurm *slurm = task->wave->waves->slurm;
    struct claim claim;

    if (!task->flight->is_cancelled || task->is_claimed ||
        (now_ms - task->told_ms < GIVE_UP_MS &&
         !slurm_is_mute(slurm, task->told_ms)) ||
        claim_judge(spec->directory, spec->attempt, &claim, NULL) != CLAIM_VOID)
        return false;
    if (slurm_is_mute(slurm, task->told_ms))
        slurm_note_left(slurm);
    wave_task_end_as(
        task, CAUSE_CANCELLED,
        "slurm did not confirm the end of its job; the job will start nothing");
    return true;
}

static void look_at(struct wave_task *task, int64_t now_ms)
{
    const struct attempt_spec *spec = &task->flight->request->spec;
    struct attempt_exit end;
    struct claim claim;

    if (!task->is_claimed && claim_read(spec->directory, &claim) == 1 &&
        claim.pid != 0)
        note_claim(task, &claim);
    if (exit_read(spec->directory, spec->attempt, &end) == 1 &&
        wave_task_take_exit(task, &end, now_ms))
        return;
    if (give_up(task, now_ms))
        return;
    if (task->is_claimed) {
        press(task, now_ms);
        check_pulse(task, now_ms);
    }
    if (task->fate == TASK_OVER || task->fate == TASK_FENCED)
        wave_task_judge(task, now_ms);
}

/* Each at most once, the first first, which then is the last. */
static void look_along(struct wave_task_list *list, int64_t now_ms,
                       int64_t limit_ms)
{
    const struct wave_task *last = TAILQ_LAST(list, wave_task_list);
    struct wave_task *task = TAILQ_FIRST(list);
    bool is_last = task == NULL;

    for (int count = 1; !is_last; count++) {
        task = TAILQ_FIRST(list);
        is_last = task == last;
        TAILQ_REMOVE(list, task, link);
        TAILQ_INSERT_TAIL(list, task, link);
        look_at(task, now_ms);
        if (TAILQ_EMPTY(list) || (count % CLOCK_EVERY == 0 &&
                                  clock_monotonic_ms() - now_ms >= limit_ms))
            return;
    }
}

void waves_look(struct waves *waves, int64_t now_ms)
{
    look_along(&waves->running, now_ms, RUNNING_MS);
    look_along(&waves->waiting, clock_monotonic_ms(), WAITING_MS);
}
