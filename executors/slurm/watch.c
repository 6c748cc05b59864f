/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "executors/slurm/core.h"

/*
 * When the queue is looked at: every poll_ms while something is expected of
 * it, less and less often while nothing changes: up to once a minute, but more
 * often where something runs, whose node may die. What is urgent (a
 * cancellation, a submission whose answer was lost) is looked for at once. In
 * the long run there are REQUESTS_A_MINUTE at most. A controller that does not
 * answer says nothing about any job, and is asked less and less often.
 */

enum {
    INTERVAL_MAX_MS = 60000,
    RUNNING_MAX_MS = 5000, /* where something runs */
    ROWS_A_MS = 2,         /* as much longer as it takes to send the rows */
    URGENT_MS = 1000,      /* between two urgent looks */
    MUTE_MS = 5000, /* that an answer which somebody waits for may take */
    REQUESTS_A_MINUTE = 50,
    ALLOWANCE_MAX = 20, /* requests that may be made in a row */
    SILENT_NOTE = 2     /* answers that are missing before people are told */
};

bool slurm_watch_allows(struct slurm *slurm)
{
    struct slurm_watch *watch = &slurm->watch;
    int64_t now_ms = clock_monotonic_ms();

    watch->allowance += (now_ms - watch->allowed_ms) * REQUESTS_A_MINUTE / 60;
    watch->allowed_ms = now_ms;
    if (watch->allowance > ALLOWANCE_MAX * INT64_C(1000))
        watch->allowance = ALLOWANCE_MAX * INT64_C(1000);
    if (watch->allowance < 1000)
        return false;
    watch->allowance -= 1000;
    return true;
}

static void plan(struct slurm *slurm)
{
    struct slurm_watch *watch = &slurm->watch;
    int64_t wait_ms = watch->interval_ms;

    if (watch->is_urgent && watch->silent_count == 0 && wait_ms > URGENT_MS)
        wait_ms = URGENT_MS;
    wait_ms -= clock_monotonic_ms() - watch->asked_ms;
    if (wait_ms < 0)
        wait_ms = 0;
    if (!watch->is_asking && !slurm->is_closing)
        uv_timer_start(&watch->timer, watch->timer.timer_cb, (uint64_t)wait_ms,
                       0);
}

void slurm_look_soon(struct slurm *slurm)
{
    struct slurm_watch *watch = &slurm->watch;

    if (watch->silent_count > 0 || watch->interval_ms == slurm->options.poll_ms)
        return;
    watch->interval_ms = slurm->options.poll_ms;
    plan(slurm);
}

void slurm_look_now(struct slurm *slurm)
{
    struct slurm_watch *watch = &slurm->watch;

    if (watch->is_urgent)
        return;
    watch->is_urgent = true;
    plan(slurm);
}

bool slurm_is_mute(const struct slurm *slurm, int64_t since_ms)
{
    const struct slurm_watch *watch = &slurm->watch;

    return watch->silent_count > 0 ||
           (watch->heard_ms < since_ms &&
            clock_monotonic_ms() - since_ms >= MUTE_MS);
}

void slurm_note_left(struct slurm *slurm)
{
    if (slurm->watch.was_left_noted)
        return;
    slurm->watch.was_left_noted = true;
    slurm_note(slurm, "slurm does not answer: jobs in its queue cannot be "
                      "cancelled, and will start nothing; resume cancels them, "
                      "or they end when slurm starts them");
}

void slurm_route(struct slurm *slurm, const struct slurm_job *job)
{
    size_t length = strlen(slurm->names.prefix);

    if (strncmp(job->name, slurm->names.prefix, length) != 0 ||
        job->name[length] == '\0')
        return;
    for (size_t i = 0; i < SLURM_MODES; i++) {
        if (strchr(slurm_modes[i]->letters, job->name[length]) != NULL)
            slurm_modes[i]->listed(slurm->modes[i], job);
    }
}

/* FNV-1a */
static uint64_t add_to_digest(uint64_t digest, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < length; i++)
        digest = (digest ^ at[i]) * UINT64_C(1099511628211);
    return digest;
}

static uint64_t digest_of(const struct slurm_job *jobs, size_t count)
{
    uint64_t digest = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < count; i++) {
        digest = add_to_digest(digest, &jobs[i].id, sizeof(jobs[i].id));
        digest = add_to_digest(digest, &jobs[i].task, sizeof(jobs[i].task));
        digest = add_to_digest(digest, jobs[i].word, strlen(jobs[i].word));
    }
    return digest;
}

/* The longest interval after these rows. */
static int64_t patience_ms(const struct slurm *slurm,
                           const struct slurm_job *jobs, size_t count)
{
    int64_t max_ms = RUNNING_MAX_MS + (int64_t)count / ROWS_A_MS;
    size_t i = 0;

    while (i < count && jobs[i].state->phase != SLURM_RUNNING)
        i++;
    if (i == count || max_ms > INTERVAL_MAX_MS)
        return INTERVAL_MAX_MS;
    return max_ms > slurm->options.poll_ms ? max_ms : slurm->options.poll_ms;
}

/* An answer that took so long was that of a controller that had been away. */
enum { SLOW_MS = 3000 };

static void note_silence(struct slurm *slurm, const char *text)
{
    struct slurm_watch *watch = &slurm->watch;

    backoff_next_ms(&watch->interval_ms, slurm->options.poll_ms,
                    INTERVAL_MAX_MS);
    watch->silent_ms = clock_monotonic_ms();
    if (++watch->silent_count < SILENT_NOTE || watch->was_noted)
        return;
    watch->was_noted = true;
    slurm_note(slurm,
               "slurm does not answer (%s); running jobs continue, and smtune "
               "asks again",
               text);
}

static void note_answer(struct slurm *slurm)
{
    struct slurm_watch *watch = &slurm->watch;

    if (watch->silent_count > 0)
        watch->interval_ms = slurm->options.poll_ms;
    watch->silent_count = 0;
    watch->was_left_noted = false;
    watch->heard_ms = clock_monotonic_ms();
    if (watch->heard_ms - watch->asked_ms >= SLOW_MS)
        watch->silent_ms = watch->heard_ms;
    if (!watch->was_noted)
        return;
    watch->was_noted = false;
    slurm_note(slurm, "slurm answers again");
}

static void tell_held(struct slurm *slurm)
{
    struct slurm_held_job now;

    if (!slurm_held_take(&slurm->held, &now))
        return;
    slurm_note(slurm, "%s", now.text);
    slurm->held.told = now;
}

static void on_list(void *user, const struct slurm_reply *reply,
                    const struct slurm_job *jobs, size_t count)
{
    struct slurm *slurm = user;
    struct slurm_watch *watch = &slurm->watch;
    uint64_t digest = digest_of(jobs, count);

    watch->is_asking = false;
    if (reply->answer != SLURM_DONE) {
        note_silence(slurm, reply->text);
        plan(slurm);
        return;
    }
    note_answer(slurm);
    if (digest == watch->digest)
        backoff_next_ms(&watch->interval_ms, slurm->options.poll_ms,
                        patience_ms(slurm, jobs, count));
    else
        watch->interval_ms = slurm->options.poll_ms;
    watch->digest = digest;
    watch->is_urgent = false;
    for (size_t i = 0; i < count; i++) {
        slurm_cancels_listed(slurm, &jobs[i]);
        slurm_route(slurm, &jobs[i]);
    }
    for (size_t i = 0; i < SLURM_MODES; i++)
        slurm_modes[i]->swept(slurm->modes[i], watch->asked_ms);
    tell_held(slurm);
    slurm_cancels_swept(slurm, watch->asked_ms);
    slurm_accounts_ask(slurm);
    plan(slurm);
}

static void on_timer(uv_timer_t *timer)
{
    struct slurm *slurm = timer->data;
    struct slurm_watch *watch = &slurm->watch;

    if (watch->is_asking)
        return;
    if (!slurm_watch_allows(slurm)) {
        uv_timer_start(timer, on_timer, URGENT_MS, 0);
        return;
    }
    watch->is_asking = true;
    watch->asked_ms = clock_monotonic_ms();
    slurm->transport->type->list(slurm->transport, slurm->names.prefix, on_list,
                                 slurm);
}

void slurm_watch_start(struct slurm *slurm)
{
    struct slurm_watch *watch = &slurm->watch;

    watch->allowance = ALLOWANCE_MAX * INT64_C(1000);
    watch->allowed_ms = watch->asked_ms = clock_monotonic_ms();
    watch->interval_ms = slurm->options.poll_ms;
    uv_timer_init(slurm->loop, &watch->timer);
    watch->timer.data = slurm;
    uv_timer_start(&watch->timer, on_timer,
                   slurm->names.is_old ? 0 : (uint64_t)watch->interval_ms, 0);
}
