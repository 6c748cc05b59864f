/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/pareto.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store.h"

struct point {
    int64_t number;
    double *values; /* [objective_count], the less the better */
};

struct pareto {
    const char *const *goals;
    size_t objective_count;
    struct point *points;
    size_t count, capacity;
};

struct pareto *pareto_create(const char *const *goals, size_t objective_count)
{
    struct pareto *front = mem_zero(sizeof(*front));

    front->goals = goals;
    front->objective_count = objective_count;
    return front;
}

void pareto_destroy(struct pareto *front)
{
    for (size_t i = 0; i < front->count; i++)
        free(front->points[i].values);
    free(front->points);
    free(front);
}

/* NULL when a value is missing or not finite. */
static double *oriented_values(const struct pareto *front,
                               const struct trial_row *trial)
{
    double *values;

    if (trial->value_count != front->objective_count)
        return NULL;
    values = mem_array(front->objective_count, sizeof(*values));
    for (size_t i = 0; i < front->objective_count; i++) {
        bool maximize = strcmp(front->goals[i], "maximize") == 0;

        values[i] = maximize ? -trial->values[i] : trial->values[i];
        if (!isfinite(values[i])) {
            free(values);
            return NULL;
        }
    }
    return values;
}

static bool beats(const double *a, const double *b, size_t count)
{
    bool better = false;

    for (size_t i = 0; i < count; i++) {
        if (a[i] > b[i])
            return false;
        better = better || a[i] < b[i];
    }
    return better;
}

void pareto_add(struct pareto *front, const struct trial_row *trial)
{
    double *values = oriented_values(front, trial);
    size_t kept = 0;

    if (values == NULL)
        return;
    for (size_t i = 0; i < front->count; i++) {
        if (beats(front->points[i].values, values, front->objective_count)) {
            free(values);
            return;
        }
    }
    for (size_t i = 0; i < front->count; i++) {
        if (beats(values, front->points[i].values, front->objective_count))
            free(front->points[i].values);
        else
            front->points[kept++] = front->points[i];
    }
    front->points =
        mem_grow(front->points, kept, &front->capacity, sizeof(*front->points));
    front->points[kept] = (struct point){trial->number, values};
    front->count = kept + 1;
}

size_t pareto_count(const struct pareto *front)
{
    return front->count;
}

int64_t pareto_number(const struct pareto *front, size_t index)
{
    return front->points[index].number;
}
