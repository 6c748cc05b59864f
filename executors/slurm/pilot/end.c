/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "executors/attempt/attempt_file.h"
#include "executors/machine/process_table.h"
#include "executors/slurm/pilot/pilot_impl.h"

/*
 * When a pilot is over, its attempts are judged by their files: an `exit` is
 * how one ended; one without a claim is kept from ever starting, and starts
 * anew elsewhere; one that was claimed and has no `exit` is told to end, should
 * it still live, and is given up when nothing of it can.
 */

enum {
    LATE_MS = 3000,     /* so late a network file system shows an `exit` */
    QUEUED_MS = 2000,   /* a wait that is worth a word */
    EXPLAIN_MS = 60000, /* that Slurm has to explain why it sent a signal */
    LAST_LINE_SIZE = 200
};

/* -- The end of a pilot ---------------------------------------------------*/

void pilot_withdraw(struct pilot *pilot)
{
    struct slurm *slurm = pilot->pilots->slurm;
    const struct slurm_target target = {pilot->job, -1};

    pulse_mark(pilot->folder, PULSE_REVOKED, NULL);
    if (pilot->job != 0 && !pilot->is_gone)
        slurm_cancel_job(slurm, &target, 0);
}

void pilot_lose(struct pilot *pilot, enum attempt_cause cause, bool is_fenced,
                const char *text)
{
    if (pilot->phase == PILOT_OVER) {
        pilot->is_fenced = pilot->is_fenced && is_fenced;
        return;
    }
    pilot->phase = PILOT_OVER;
    pilot->is_fenced = is_fenced;
    pilot->over_ms = clock_monotonic_ms();
    pilot->end = (struct attempt_exit){.cause = cause,
                                       .exit_code = -1,
                                       .is_displaced = cause == CAUSE_PREEMPTED,
                                       .is_outside = cause == CAUSE_CANCELLED};
    snprintf(pilot->end.text, sizeof(pilot->end.text), "%s", text);
    for (struct slurm_flight *f = pilot->flights.first; f != NULL;
         f = f->sibling) {
        if (is_fenced)
            pulse_mark(f->request->spec.directory, PULSE_REVOKED, NULL);
    }
    for (struct slurm_flight *f = pilot->pilots->waiting.first; f != NULL;
         f = f->sibling) {
        if (f->job != pilot->job)
            continue;
        f->job = 0;
        slurm_flight_waits(f, "");
    }
    slurm_not_held(pilot->pilots->slurm, pilot->job);
    pilot_withdraw(pilot);
    if (pilot->was_heard)
        pilots_note_freed(pilot->pilots);
    slurm_look_soon(pilot->pilots->slurm);
    pilots_turn_soon(pilot->pilots);
}

static void report(struct pilot *pilot, enum node_trouble trouble,
                   const char *text)
{
    const struct node_report report = {
        .node = pilot->node, .trouble = trouble, .text = text};

    if (pilot->node[0] != '\0')
        slurm_report_node(pilot->pilots->slurm, &report);
}

/* Whether the health check failed there, which is told. */
static bool is_unhealthy(struct pilot *pilot)
{
    char why[LAST_LINE_SIZE];

    if (!slurm_is_unhealthy(pilot->folder, why, sizeof(why)))
        return false;
    report(pilot, NODE_UNHEALTHY, why);
    return true;
}

/* -- What Slurm says ------------------------------------------------------*/

/* What the end of its job means for what ran in it. */
static enum attempt_cause cause_of(const struct slurm_state *state)
{
    switch (state->cause) {
    case CAUSE_TIMEOUT:
    case CAUSE_PREEMPTED:
        return CAUSE_PREEMPTED;
    case CAUSE_CANCELLED:
        return CAUSE_CANCELLED;
    case CAUSE_NODE_FAIL:
        return CAUSE_NODE_FAIL;
    case CAUSE_OK:
    case CAUSE_EXIT:
    case CAUSE_SIGNAL:
    case CAUSE_OOM:
    case CAUSE_LAUNCH_ERROR:
    case CAUSE_LOST:
    case CAUSE_NO_METRIC:
    case CAUSE_NO_OUTPUT:
    case CAUSE_SETUP_FAILED:
    case CAUSE_COUNT:
        break;
    }
    return CAUSE_LOST;
}

/* ": LINE" where there is one, for people: set-up that fails says why there. */
static void add_last_line(const struct pilot *pilot, char *text, size_t size)
{
    size_t length = strlen(text);
    char line[LAST_LINE_SIZE];

    slurm_last_words(pilot->folder, line, sizeof(line));
    if (line[0] != '\0')
        snprintf(text + length, size - length, ": %s", line);
}

/* Its agent never spoke. */
static void note_unheard(struct pilot *pilot, enum attempt_cause cause,
                         const char *text)
{
    if (cause == CAUSE_CANCELLED)
        pilots_note_cancelled(pilot->pilots, pilot, text);
    else
        pilots_note_failure(
            pilot->pilots, pilot,
            cause == CAUSE_PREEMPTED ? PILOT_TAKEN : PILOT_UNHEARD, text);
}

static void note_end(struct pilot *pilot, const struct slurm_job *job)
{
    enum attempt_cause cause = cause_of(job->state);
    bool is_node = job->state->action == SLURM_EXCLUDE;
    char text[SLURM_TEXT_MAX];

    snprintf(text, sizeof(text), "its job %" PRId64 "%s%s ended as %s%s%s",
             job->id, pilot->node[0] != '\0' ? " on " : "", pilot->node,
             job->word, job->reason[0] != '\0' ? ", " : "", job->reason);
    if (is_node)
        report(pilot, NODE_DIED, text);
    if (!pilot->was_heard && !is_node)
        add_last_line(pilot, text, sizeof(text));
    if (!pilot->was_heard && !is_node && !is_unhealthy(pilot))
        note_unheard(pilot, cause, text);
    pilot_lose(pilot, cause, is_node, text);
}

void pilot_waits(struct pilot *pilot, const char *reason)
{
    if (pilot->job == 0)
        return;
    snprintf(pilot->reason, sizeof(pilot->reason), "%s", reason);
    for (struct slurm_flight *f = pilot->pilots->waiting.first; f != NULL;
         f = f->sibling) {
        if (f->job == pilot->job)
            slurm_flight_waits(f, reason);
    }
}

/* A pilot that waits is not there yet, and may never be. */
static void note_waiting(struct pilot *pilot, const struct slurm_job *job)
{
    enum slurm_outlook outlook =
        slurm_reason_judge(&pilot->doubt, job->reason, clock_monotonic_ms());
    char text[SLURM_TEXT_MAX];

    if (outlook == SLURM_LOOK_AGAIN)
        slurm_look_soon(pilot->pilots->slurm);
    if (job->state->phase == SLURM_PENDING && outlook == SLURM_NEVER_STARTS) {
        snprintf(text, sizeof(text), "its job %" PRId64 " will never start: %s",
                 job->id, job->reason);
        pilots_note_failure(pilot->pilots, pilot, PILOT_REFUSED, text);
        pilot_lose(pilot, CAUSE_CANCELLED, false, text);
        return;
    }
    if (job->state->phase == SLURM_HELD || outlook == SLURM_HELD_BACK)
        slurm_held(pilot->pilots->slurm, "pilot", job);
    pilot_waits(pilot, job->reason);
}

void pilot_note_job(struct pilot *pilot, const struct slurm_job *job)
{
    pilot->was_listed = pilot->was_seen = true;
    pilot->job = job->id;
    if (pilot_is_for_default(pilot))
        slurm_learn_default(pilot->pilots->slurm, job);
    if (pilot->node[0] == '\0' && job->state->phase != SLURM_PENDING &&
        strchr(job->nodes, '[') == NULL)
        snprintf(pilot->node, sizeof(pilot->node), "%s", job->nodes);
    if (job->state->phase != SLURM_ENDED) {
        if (pilot->phase == PILOT_PENDING)
            note_waiting(pilot, job);
        return;
    }
    if (pilot->is_gone)
        return;
    pilot->is_gone = true;
    if (pilot->phase == PILOT_OVER)
        pilot_lose(pilot, CAUSE_LOST, job->state->action == SLURM_EXCLUDE, "");
    else
        note_end(pilot, job);
}

void pilot_note_vanished(struct pilot *pilot)
{
    if (pilot->is_gone)
        return;
    pilot->is_gone = true;
    if (pilot->phase == PILOT_PENDING)
        pilots_note_failure(
            pilot->pilots, pilot, PILOT_TAKEN,
            "its job is not in the queue, and its end is unknown");
    pilot_lose(pilot, CAUSE_LOST, true,
               "the job of its pilot is no longer in the queue");
}

/* -- The ends of its attempts ---------------------------------------------*/

static void end_flight(struct pilot *pilot, struct slurm_flight *flight,
                       const struct attempt_exit *end)
{
    pilot_let_go(pilot, flight);
    slurm_flight_ended(pilot->pilots->slurm, flight, end);
}

/* Why the allocation was stopped: by Slurm, or by somebody, and then what ran
 * there is over. */
static void take_reason(const struct pilot *pilot, struct attempt_exit *end)
{
    end->is_outside = pilot->end.cause == CAUSE_CANCELLED;
    end->is_displaced = !end->is_outside;
    if (end->is_outside)
        snprintf(end->text, sizeof(end->text), "%s", pilot->end.text);
    else
        end->cause = CAUSE_PREEMPTED;
}

bool pilot_explain(struct pilot *pilot, const struct slurm_flight *flight,
                   struct attempt_exit *end)
{
    if (!slurm_is_unasked(flight, end))
        return true;
    if (pilot->phase == PILOT_OVER) {
        take_reason(pilot, end);
        return true;
    }
    if (pilot->signalled_ms == 0) {
        pilot->signalled_ms = clock_monotonic_ms();
        slurm_look_now(pilot->pilots->slurm);
    }
    return false;
}

/* Or will, when its reason is known. */
static bool took_its_exit(struct pilot *pilot, struct slurm_flight *flight)
{
    const struct attempt_spec *spec = &flight->request->spec;
    struct attempt_exit end;

    if (exit_read(spec->directory, spec->attempt, &end) != 1)
        return false;
    if (pilot_explain(pilot, flight, &end))
        end_flight(pilot, flight, &end);
    return true;
}

/* Whether it never began, and never will. */
static bool was_displaced(struct pilot *pilot, struct slurm_flight *flight)
{
    if (flight->has_started)
        return false;
    pilot_let_go(pilot, flight);
    if (slurm_flight_displaced(pilot->pilots->slurm, flight,
                               "its pilot ended before the attempt started"))
        return true;
    pilot_hold(pilot, flight);
    return false;
}

/* Whether nothing of it can live, nor its shim, which writes its `exit`: by its
 * claim, where that can be told from here; else when the pilot has been silent
 * for long enough. */
static bool is_dead(struct pilot *pilot, const struct slurm_flight *flight,
                    int64_t now_ms)
{
    const struct attempt_spec *spec = &flight->request->spec;
    struct claim claim;

    if (!pilot->is_fenced)
        return now_ms - pilot->over_ms >= LATE_MS;
    if (claim_judge(spec->directory, spec->attempt, &claim, NULL) ==
            CLAIM_FREE &&
        claim.host[0] != '\0' &&
        !process_signal((pid_t)claim.shim_pid, claim.shim_start, 0))
        return true;
    return pulse_silence_ms(&pilot->pulse, pilot->folder, now_ms) >=
           slurm_options(pilot->pilots->slurm)->silence_ms;
}

static void settle(struct pilot *pilot, int64_t now_ms)
{
    struct slurm_flight *flight, *next;

    for (flight = pilot->flights.first; flight != NULL; flight = next) {
        struct attempt_exit end = pilot->end;

        next = flight->sibling;
        if (took_its_exit(pilot, flight) || was_displaced(pilot, flight) ||
            !is_dead(pilot, flight, now_ms) || took_its_exit(pilot, flight))
            continue;
        end.attempt = flight->request->spec.attempt;
        end.started_ms = end.ended_ms = clock_wall_ms();
        if (flight->is_cancelled)
            end.cause = CAUSE_CANCELLED;
        end.is_outside = slurm_is_unasked(flight, &end);
        end_flight(pilot, flight, &end);
    }
}

/* What an earlier engine gave it: its agent has said which of them run. */
static void settle_adopted(struct pilot *pilot, int64_t now_ms)
{
    struct slurm_flight *flight, *next;

    for (flight = pilot->flights.first; flight != NULL; flight = next) {
        struct attempt_exit end = {.cause = CAUSE_LOST,
                                   .exit_code = -1,
                                   .text = "its pilot has no record of it"};

        next = flight->sibling;
        if (flight->request->spec.argv != NULL ||
            took_its_exit(pilot, flight) || was_displaced(pilot, flight) ||
            flight->has_started || now_ms < pilot->settle_ms)
            continue;
        end.attempt = flight->request->spec.attempt;
        end.started_ms = end.ended_ms = clock_wall_ms();
        end_flight(pilot, flight, &end);
    }
}

static void watch(struct pilot *pilot, int64_t now_ms)
{
    int64_t silence_ms = pulse_silence_ms(&pilot->pulse, pilot->folder, now_ms);
    int64_t most_ms = slurm_options(pilot->pilots->slurm)->silence_ms;
    char text[SLURM_TEXT_MAX];

    settle_adopted(pilot, now_ms);
    if (pilot->signalled_ms != 0 && now_ms - pilot->signalled_ms >= EXPLAIN_MS)
        pilot_lose(pilot, CAUSE_PREEMPTED, true,
                   "slurm stopped its allocation and does not explain it");
    if (pilot->phase == PILOT_READY && pilot_is_avoided(pilot))
        pilot_drain(pilot);
    if (silence_ms < most_ms)
        return;
    snprintf(text, sizeof(text), "no sign of life for %" PRId64 " s",
             silence_ms / 1000);
    report(pilot, NODE_DIED, text);
    pilot_lose(pilot, CAUSE_NODE_FAIL, true, text);
}

/* As many of those who wait as it has room for. */
static void tell_queued(struct pilot *pilot)
{
    struct slurm_flight *flight = pilot->pilots->waiting.first;

    pilot->was_told = true;
    for (int left = pilot->size.cpus; flight != NULL && left > 0;
         flight = flight->sibling) {
        if (flight->job != 0 || !pilot_is_of_kind(flight, pilot->kind))
            continue;
        left -= pilot_room_of(&flight->request->spec).cpus;
        flight->job = pilot->job;
        slurm_flight_waits(flight, pilot->reason);
        slurm_flight_queued(pilot->pilots->slurm, flight);
    }
}

void pilot_look(struct pilot *pilot, int64_t now_ms, bool is_watch)
{
    if (pilot->phase == PILOT_PENDING && !pilot->was_told && pilot->job != 0 &&
        now_ms - pilot->told_ms >= QUEUED_MS)
        tell_queued(pilot);
    if (pilot->phase == PILOT_OVER)
        settle(pilot, now_ms);
    else if (!is_watch)
        return;
    else if (pilot->phase != PILOT_PENDING)
        watch(pilot, now_ms);
    else if (pilot->node[0] != '\0' && is_unhealthy(pilot))
        pilot_lose(pilot, CAUSE_NODE_FAIL, false,
                   "its node failed the health check");
}
