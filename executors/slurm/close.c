/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executors/slurm/core.h"

/*
 * The last that is done: jobs that wait in the queue for nobody, and those that
 * were to be cancelled anyway, are taken out of it. A transport of its own asks
 * and says so, as what was on its way in the other was for parts that are gone.
 * Without an answer, soon, the jobs stay: they find out by themselves when they
 * start.
 */

enum {
    TARGETS_MAX = 1000,
    LIMIT_MS = 5000 /* somebody waits for the end */
};

struct leftovers {
    struct slurm *slurm;
    struct slurm_transport *transport;
    uv_timer_t timer;
    int open_parts;
    void (*done)(struct slurm *slurm);
};

static void on_closed(void *user)
{
    struct leftovers *leftovers = user;

    if (--leftovers->open_parts > 0)
        return;
    leftovers->done(leftovers->slurm);
    free(leftovers);
}

static void on_timer_closed(uv_handle_t *handle)
{
    on_closed(handle->data);
}

static void finish(struct leftovers *leftovers)
{
    leftovers->open_parts = 2;
    uv_close((uv_handle_t *)&leftovers->timer, on_timer_closed);
    leftovers->transport->type->destroy(leftovers->transport, on_closed,
                                        leftovers);
}

static void on_limit(uv_timer_t *timer)
{
    finish(timer->data);
}

static void on_cancelled(void *user, const struct slurm_reply *reply)
{
    (void)reply;
    finish(user);
}

/* A pilot, whose attempts wait elsewhere. */
static bool waits_for_nobody(const struct slurm *slurm,
                             const struct slurm_job *job)
{
    size_t length = strlen(slurm->names.prefix);

    return (job->state->phase == SLURM_PENDING ||
            job->state->phase == SLURM_HELD) &&
           strncmp(job->name, slurm->names.prefix, length) == 0 &&
           job->name[length] != '\0' &&
           strchr(slurm_pilot.letters, job->name[length]) != NULL;
}

static void on_list(void *user, const struct slurm_reply *reply,
                    const struct slurm_job *jobs, size_t count)
{
    struct leftovers *leftovers = user;
    struct slurm *slurm = leftovers->slurm;
    struct slurm_target *targets = mem_array(TARGETS_MAX, sizeof(*targets));
    size_t found = 0;

    for (size_t i = 0; reply->answer == SLURM_DONE && i < count; i++) {
        const struct slurm_target target = {jobs[i].id, -1};

        if (found < TARGETS_MAX && jobs[i].task < 0 &&
            (waits_for_nobody(slurm, &jobs[i]) ||
             slurm_cancels_have(slurm, &jobs[i])))
            targets[found++] = target;
    }
    if (found > 0)
        leftovers->transport->type->cancel(leftovers->transport, targets, found,
                                           0, on_cancelled, leftovers);
    else
        finish(leftovers);
    free(targets);
}

void slurm_withdraw_leftovers(struct slurm *slurm,
                              void (*done)(struct slurm *slurm))
{
    struct leftovers *leftovers = mem_zero(sizeof(*leftovers));

    leftovers->slurm = slurm;
    leftovers->done = done;
    leftovers->transport =
        slurm_transport_create(slurm->loop, &slurm->options, NULL);
    if (leftovers->transport == NULL) {
        free(leftovers);
        done(slurm);
        return;
    }
    uv_timer_init(slurm->loop, &leftovers->timer);
    leftovers->timer.data = leftovers;
    uv_timer_start(&leftovers->timer, on_limit, LIMIT_MS, 0);
    leftovers->transport->type->list(leftovers->transport, slurm->names.prefix,
                                     on_list, leftovers);
}
