/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/kind.h"

#include <inttypes.h>

#include "base/units.h"

int64_t executor_gpu_permille(const struct attempt_spec *spec)
{
    return spec->gpu_permille > 0 ? spec->gpu_permille
                                  : INT64_C(1000) * spec->gpus;
}

int executor_check_pools(const struct attempt_spec *spec, struct err *err)
{
    if (spec->pool_count > ATTEMPT_POOLS_MAX)
        return err_set(err, ERR_FAILED,
                       "out of range: needs %zu pools, at most %d are "
                       "possible",
                       spec->pool_count, ATTEMPT_POOLS_MAX);
    for (size_t i = 0; i < spec->pool_count; i++) {
        const struct attempt_pool *pool = &spec->pools[i];

        if (pool->size > POOL_SIZE_MAX || pool->amount > pool->size)
            return err_set(err, ERR_FAILED,
                           "out of range: needs %" PRId64
                           " slot%s of the pool '%s', which has %" PRId64
                           " (at most %d)",
                           pool->amount, units_plural(pool->amount),
                           pool->directory, pool->size, POOL_SIZE_MAX);
    }
    return 0;
}

void executor_avoid_none(struct executor *executor, const char *const *nodes)
{
    (void)executor;
    (void)nodes;
}
