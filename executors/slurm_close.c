/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executors/slurm_core.h"

/*
 * The last that is done: jobs that wait in the queue for nobody, and those that
 * were to be cancelled anyway, are taken out of it. A transport of its own asks
 * and says so, as what was on its way in the other was for parts that are gone.
 * Without an answer the jobs stay: they find out by themselves when they start.
 */

enum { TARGETS_MAX = 1000 };

struct leftovers {
    struct slurm *slurm;
    struct slurm_transport *transport;
    void (*done)(struct slurm *slurm);
};

static void on_closed(void *user)
{
    struct leftovers *leftovers = user;

    leftovers->done(leftovers->slurm);
    free(leftovers);
}

static void finish(struct leftovers *leftovers)
{
    leftovers->transport->type->destroy(leftovers->transport, on_closed,
                                        leftovers);
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
    leftovers->transport->type->list(leftovers->transport, slurm->names.prefix,
                                     on_list, leftovers);
}
