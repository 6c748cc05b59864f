/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <search.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "executors/slurm/core.h"

/*
 * Jobs that are to be signalled or cancelled, in batches. A controller that
 * forgot a job may give its id to somebody else's, so none is touched that the
 * last listing did not show under a name of ours; and it is done only when a
 * later one shows that it is over, or no more there.
 */

enum {
    BATCH_MAX = 500,
    AWAY_MS = 120000 /* after which a controller is itself again */
};

struct slurm_cancel {
    struct slurm_cancel *next;
    struct slurm_target target;
    int signal;       /* 0 counts for more than any other */
    int64_t asked_ms; /* when it was asked for */
    int64_t said_ms;  /* when Slurm was told, 0: not yet */
    bool is_there;    /* in the listing that is gone through */
    bool is_running;  /* a signal would reach its script */
};

static int compare(const void *a, const void *b)
{
    const struct slurm_target *x = &((const struct slurm_cancel *)a)->target;
    const struct slurm_target *y = &((const struct slurm_cancel *)b)->target;

    if (x->id != y->id)
        return x->id > y->id ? 1 : -1;
    return (x->task > y->task) - (x->task < y->task);
}

static struct slurm_cancel *find(const struct slurm_cancels *cancels,
                                 int64_t id, int task)
{
    struct slurm_cancel key = {.target = {id, task}};
    void *found = tfind(&key, &cancels->by_target, compare);

    return found != NULL ? *(struct slurm_cancel **)found : NULL;
}

static void add(struct slurm_cancels *cancels,
                const struct slurm_target *target, int signal)
{
    struct slurm_cancel *cancel = mem_zero(sizeof(*cancel));

    cancel->target = *target;
    cancel->signal = signal;
    cancel->asked_ms = clock_monotonic_ms();
    cancel->next = cancels->first;
    cancels->first = cancel;
    if (tsearch(cancel, &cancels->by_target, compare) == NULL)
        abort();
    cancels->orders =
        mem_grow(cancels->orders, cancels->order_count,
                 &cancels->order_capacity, sizeof(*cancels->orders));
    cancels->orders[cancels->order_count++] = *target;
}

/* A controller that comes back gives ids anew, and ends what it does not know.
 */
static bool was_away(const struct slurm *slurm)
{
    return slurm->watch.silent_ms != 0 &&
           clock_monotonic_ms() - slurm->watch.silent_ms < AWAY_MS;
}

bool slurm_may_have_cancelled(const struct slurm *slurm,
                              const struct slurm_target *target)
{
    const struct slurm_cancels *cancels = &slurm->cancels;

    if (was_away(slurm))
        return true;
    for (size_t i = 0; i < cancels->order_count; i++) {
        const struct slurm_target *order = &cancels->orders[i];

        if (order->id == target->id &&
            (order->task == target->task || order->task < 0))
            return true;
    }
    return false;
}

void slurm_cancel_job(struct slurm *slurm, const struct slurm_target *target,
                      int signal)
{
    struct slurm_cancel *cancel =
        find(&slurm->cancels, target->id, target->task);

    if (cancel == NULL) {
        add(&slurm->cancels, target, signal);
    } else if (signal == 0 && cancel->signal != 0) {
        cancel->signal = 0;
        cancel->said_ms = 0;
    }
    slurm_look_now(slurm);
}

static void mark(struct slurm_cancel *cancel, const struct slurm_job *job)
{
    if (cancel == NULL)
        return;
    cancel->is_there = true;
    cancel->is_running |= job->state->phase == SLURM_RUNNING;
}

bool slurm_cancels_have(const struct slurm *slurm, const struct slurm_job *job)
{
    const struct slurm_cancel *cancel =
        find(&slurm->cancels, job->id, job->task);

    return job->state->phase != SLURM_ENDED && cancel != NULL &&
           cancel->signal == 0;
}

void slurm_cancels_listed(struct slurm *slurm, const struct slurm_job *job)
{
    const struct slurm_cancels *cancels = &slurm->cancels;
    int64_t id = slurm_job_submitted(job);

    if (cancels->first == NULL || job->state->phase == SLURM_ENDED)
        return;
    mark(find(cancels, id, -1), job);
    if (job->task >= 0)
        mark(find(cancels, id, job->task), job);
}

/* Whatever the answer is, the listings tell. */
static void on_cancelled(void *user, const struct slurm_reply *reply)
{
    (void)reply;
    slurm_look_now(user);
}

/* A signal is said once. */
static bool is_over(const struct slurm_cancel *cancel, int64_t asked_ms)
{
    return (!cancel->is_there && cancel->asked_ms < asked_ms) ||
           (cancel->signal != 0 && cancel->said_ms != 0);
}

static void drop_done(struct slurm_cancels *cancels, int64_t asked_ms)
{
    struct slurm_cancel **link = &cancels->first;

    while (*link != NULL) {
        struct slurm_cancel *cancel = *link;

        if (is_over(cancel, asked_ms)) {
            *link = cancel->next;
            tdelete(cancel, &cancels->by_target, compare);
            free(cancel);
        } else {
            link = &cancel->next;
        }
    }
}

/* It is said again after a while. */
static bool is_due(const struct slurm *slurm, const struct slurm_cancel *cancel,
                   int64_t now_ms)
{
    return cancel->is_there && (cancel->signal == 0 || cancel->is_running) &&
           (cancel->said_ms == 0 ||
            now_ms - cancel->said_ms >= 2 * slurm->options.poll_ms);
}

/* All that are due and have the same signal as the first of them. Returns how
 * many. */
static size_t take_batch(struct slurm *slurm, int64_t now_ms,
                         struct slurm_target *targets, int *signal)
{
    size_t count = 0;

    for (struct slurm_cancel *c = slurm->cancels.first;
         c != NULL && count < BATCH_MAX; c = c->next) {
        if (!is_due(slurm, c, now_ms) || (count > 0 && c->signal != *signal))
            continue;
        *signal = c->signal;
        c->said_ms = now_ms;
        targets[count++] = c->target;
    }
    return count;
}

void slurm_cancels_swept(struct slurm *slurm, int64_t asked_ms)
{
    struct slurm_cancels *cancels = &slurm->cancels;
    int64_t now_ms = clock_monotonic_ms();
    struct slurm_target *targets;
    size_t count;
    int signal = 0;

    drop_done(cancels, asked_ms);
    if (cancels->first == NULL)
        return;
    targets = mem_array(BATCH_MAX, sizeof(*targets));
    while ((count = take_batch(slurm, now_ms, targets, &signal)) > 0)
        slurm->transport->type->cancel(slurm->transport, targets, count, signal,
                                       on_cancelled, slurm);
    free(targets);
    for (struct slurm_cancel *c = cancels->first; c != NULL; c = c->next)
        c->is_there = c->is_running = false;
    slurm_look_soon(slurm);
}

void slurm_cancels_clear(struct slurm_cancels *cancels)
{
    free(cancels->orders);
    while (cancels->first != NULL) {
        struct slurm_cancel *cancel = cancels->first;

        cancels->first = cancel->next;
        tdelete(cancel, &cancels->by_target, compare);
        free(cancel);
    }
}
