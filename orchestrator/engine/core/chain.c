/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/chain.h"

#include <stdlib.h>

#include "executors/attempt/attempt_file.h"

/*
 * Chains (`continue`) on a cluster: with each link the next ones are queued, so
 * that the chain goes on while there is no engine. Such a reserve has the
 * folder and the environment of the attempt that will follow, but no row, and a
 * number in place of an id. An engine that comes back takes the chain in link
 * by link: it makes each one's row when the one before has ended at its time
 * limit, and the executor finds under the number what has become of it.
 */

/* Below 0, and unlike that of any other attempt of the store. */
static int64_t reserve_number(const struct job *job, int64_t attempt_number)
{
    enum { ATTEMPTS_BITS = 20 };

    return -((job->id << ATTEMPTS_BITS) + attempt_number);
}

static bool has_reserves(const struct job *job)
{
    return job->link_rule != NULL && job->link_rule->ahead > 0 &&
           executor_has_reserves(job->executor);
}

void engine_follow_reserves(struct job *job, const struct attempt_exit *end)
{
    const struct link_end link = {.exit = end,
                                  .time_ms = job->resources.time_ms};

    job->reserve = has_reserves(job) && links_is_by_time(job->link_rule, &link)
                       ? reserve_number(job, job->attempt_number + 1)
                       : 0;
}

bool engine_add_reserves(struct engine *engine, const struct job *job,
                         struct launch *launch, struct err *err)
{
    struct job next = *job;
    int64_t count = 0;

    if (has_reserves(job))
        count = job->link_rule->max - job->links.count;
    if (count > 0 && count > job->link_rule->ahead)
        count = job->link_rule->ahead;
    next.reserve = 0;
    for (int64_t i = 0; i < count; i++) {
        struct launch *reserve;

        next.attempt_number++;
        next.attempt = reserve_number(job, next.attempt_number);
        reserve = steps_launch(engine->steps, &engine->site, &next, err);
        if (reserve == NULL)
            return false;
        launch_add_reserve(launch, reserve);
    }
    return true;
}

bool engine_is_overtaken(const struct engine *engine, const struct job *job)
{
    char *directory = workspace_attempt_directory(
        engine->workspaces, job->number, job->attempt_number + 1);
    struct claim claim;
    bool is_claimed = has_reserves(job) && claim_read(directory, &claim) == 1 &&
                      claim.pid != 0;

    free(directory);
    return is_claimed;
}
