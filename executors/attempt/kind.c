/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/kind.h"

#include <inttypes.h>

int executor_check_pools(const struct attempt_spec *spec, struct err *err)
{
    if (spec->pool_count > ATTEMPT_POOLS_MAX)
        return err_set(err, ERR_FAILED,
                       "%zu pools are asked for, and %d is "
                       "the most",
                       spec->pool_count, ATTEMPT_POOLS_MAX);
    for (size_t i = 0; i < spec->pool_count; i++) {
        const struct attempt_pool *pool = &spec->pools[i];

        if (pool->size > POOL_SIZE_MAX || pool->amount > pool->size)
            return err_set(err, ERR_FAILED,
                           "%" PRId64 " slots of the pool '%s' are asked for, "
                           "and it has %" PRId64 " (at most %d)",
                           pool->amount, pool->directory, pool->size,
                           POOL_SIZE_MAX);
    }
    return 0;
}

void executor_avoid_none(struct executor *executor, const char *const *nodes)
{
    (void)executor;
    (void)nodes;
}
