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
static int64_t reserve_number(const struct trial *trial, int64_t attempt_number)
{
    enum { ATTEMPTS_BITS = 20 };

    return -((trial->job << ATTEMPTS_BITS) + attempt_number);
}

static bool has_reserves(const struct trial *trial)
{
    return trial->link_rule != NULL && trial->link_rule->ahead > 0 &&
           executor_has_reserves(trial->executor);
}

void engine_follow_reserves(struct trial *trial, const struct attempt_exit *end)
{
    const struct link_end link = {.exit = end,
                                  .time_ms = trial->resources.time_ms};

    trial->reserve =
        has_reserves(trial) && links_is_by_time(trial->link_rule, &link)
            ? reserve_number(trial, trial->attempt_number + 1)
            : 0;
}

bool engine_add_reserves(struct engine *engine, const struct trial *trial,
                         struct launch *launch, struct err *err)
{
    struct trial next = *trial;
    int64_t count = 0;

    if (has_reserves(trial))
        count = trial->link_rule->max - trial->links.count;
    if (count > 0 && count > trial->link_rule->ahead)
        count = trial->link_rule->ahead;
    next.reserve = 0;
    for (int64_t i = 0; i < count; i++) {
        struct launch *reserve;

        next.attempt_number++;
        next.attempt = reserve_number(trial, next.attempt_number);
        reserve = steps_launch(engine->steps, &engine->site, &next, err);
        if (reserve == NULL)
            return false;
        launch_add_reserve(launch, reserve);
    }
    return true;
}

bool engine_is_overtaken(const struct engine *engine, const struct trial *trial)
{
    char *directory = workspace_attempt_directory(
        engine->workspaces, trial->number, trial->attempt_number + 1);
    struct claim claim;
    bool is_claimed = has_reserves(trial) &&
                      claim_read(directory, &claim) == 1 && claim.pid != 0;

    free(directory);
    return is_claimed;
}
