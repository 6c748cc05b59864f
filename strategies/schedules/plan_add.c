/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/schedules/plan_add.h"

#include <inttypes.h>

#include "base/mem.h"

/* Adds count * each, unless that is too much to count. */
static bool add_product(uint64_t *sum, uint64_t count, uint64_t each)
{
    uint64_t product;

    return !__builtin_mul_overflow(count, each, &product) &&
           !__builtin_add_overflow(*sum, product, sum) && *sum <= INT64_MAX;
}

int schedule_plan_add(struct schedule_plan *plan,
                      const struct schedule_rung *rung, struct err *err)
{
    uint64_t before =
        rung->rung > 0 ? plan->rungs[plan->count - 1].resource : 0;
    size_t capacity = plan->count;

    if (!add_product(&plan->total_resource, rung->trials,
                     rung->resource - before) ||
        !add_product(&plan->total_restarted, rung->trials, rung->resource) ||
        (rung->rung == 0 && !add_product(&plan->trials, rung->trials, 1)))
        return err_set(err, ERR_FILE,
                       "out of range: %" PRIu64
                       " trials up to resource %" PRIu64
                       " are too many to count",
                       rung->trials, rung->resource);
    plan->rungs =
        mem_grow(plan->rungs, plan->count, &capacity, sizeof(*plan->rungs));
    plan->rungs[plan->count++] = *rung;
    return 0;
}
