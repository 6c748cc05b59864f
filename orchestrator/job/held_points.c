/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/held_points.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

struct held_points *held_points_create(void)
{
    return mem_zero(sizeof(struct held_points));
}

void held_points_destroy(struct held_points *held)
{
    if (held == NULL)
        return;
    for (size_t i = 0; i < held->count; i++)
        free((void *)(uintptr_t)held->points[i].name);
    free(held->points);
    free(held);
}

void held_points_add(struct held_points *held, const struct metric_point *point)
{
    struct metric_point *kept;

    held->points = mem_grow(held->points, held->count, &held->capacity,
                            sizeof(*held->points));
    kept = &held->points[held->count++];
    *kept = *point;
    kept->name = mem_copy_string(point->name);
}
