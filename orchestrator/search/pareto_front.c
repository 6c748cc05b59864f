/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/pareto_front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"
#include "strategies/history/hypervolume.h"
#include "strategies/history/pareto.h"

/* A hypervolume of so many trials is no wait. */
enum { SWEPT_MAX = 2000, SLICED_MAX = 50, SWEPT_OBJECTIVES = 3 };

struct pareto_front {
    size_t objectives;
    double *signs;  /* [objectives]: -1 where more is better */
    double *values; /* [count][objectives], the less the better */
    int64_t *numbers;
    size_t count, capacity;
    double *added; /* [objectives] */
};

static struct pareto_front *create(size_t objectives)
{
    struct pareto_front *front = mem_zero(sizeof(*front));

    front->objectives = objectives;
    front->signs = mem_array(objectives, sizeof(*front->signs));
    front->added = mem_array(objectives, sizeof(*front->added));
    return front;
}

struct pareto_front *pareto_front_create(const bool *maximize,
                                         size_t objective_count)
{
    struct pareto_front *front = create(objective_count);

    for (size_t i = 0; i < objective_count; i++)
        front->signs[i] = maximize[i] ? -1.0 : 1.0;
    return front;
}

struct pareto_front *pareto_front_of_experiment(
    const struct experiment *experiment)
{
    struct pareto_front *front = create(experiment->objective_count);

    for (size_t i = 0; i < experiment->objective_count; i++)
        front->signs[i] = experiment->objectives[i].maximize ? -1.0 : 1.0;
    return front;
}

void pareto_front_destroy(struct pareto_front *front)
{
    if (front == NULL)
        return;
    free(front->signs);
    free(front->values);
    free(front->numbers);
    free(front->added);
    free(front);
}

static double *row(const struct pareto_front *front, size_t i)
{
    return front->values + i * front->objectives;
}

/* Where it finds its place, a trial takes it behind the others. */
static void append(struct pareto_front *front, int64_t number,
                   const double *values)
{
    if (front->count == front->capacity) {
        front->capacity = front->capacity > 0 ? 2 * front->capacity : 16;
        front->numbers = mem_resize(front->numbers, front->capacity,
                                    sizeof(*front->numbers));
        front->values = mem_resize(front->values, front->capacity,
                                   front->objectives * sizeof(double));
    }
    front->numbers[front->count] = number;
    memcpy(row(front, front->count), values,
           front->objectives * sizeof(*values));
    front->count++;
}

static void drop_dominated(struct pareto_front *front, const double *values)
{
    size_t kept = 0;

    for (size_t i = 0; i < front->count; i++) {
        if (pareto_dominates(values, row(front, i), front->objectives))
            continue;
        front->numbers[kept] = front->numbers[i];
        memmove(row(front, kept), row(front, i),
                front->objectives * sizeof(*values));
        kept++;
    }
    front->count = kept;
}

bool pareto_front_add(struct pareto_front *front, int64_t number,
                      const double *values)
{
    for (size_t i = 0; i < front->objectives; i++) {
        if (!isfinite(values[i]))
            return false;
        front->added[i] = front->signs[i] * values[i];
    }
    for (size_t i = 0; i < front->count; i++) {
        if (pareto_dominates(row(front, i), front->added, front->objectives))
            return false;
    }
    drop_dominated(front, front->added);
    append(front, number, front->added);
    return true;
}

static int add_row(void *user, const struct trial_row *trial)
{
    struct pareto_front *front = user;

    if (trial->violation <= 0.0 && trial->value_count == front->objectives)
        pareto_front_add(front, trial->number, trial->values);
    return 0;
}

int pareto_front_load(struct pareto_front *front, struct store *store,
                      int64_t run, struct err *err)
{
    const struct trial_query query = {
        .run = run, .state = "succeeded", .results_only = true};

    return store_each_trial(store, &query, add_row, front, err);
}

size_t pareto_front_count(const struct pareto_front *front)
{
    return front->count;
}

bool pareto_front_has(const struct pareto_front *front, int64_t number)
{
    for (size_t i = 0; i < front->count; i++) {
        if (front->numbers[i] == number)
            return true;
    }
    return false;
}

double pareto_front_hypervolume(const struct pareto_front *front,
                                double *reference)
{
    size_t most =
        front->objectives <= SWEPT_OBJECTIVES ? SWEPT_MAX : SLICED_MAX;
    double volume;

    if (front->count == 0 || front->count > most)
        return (double)NAN;
    hypervolume_reference(front->values, front->count, front->objectives,
                          reference);
    volume =
        hypervolume(front->values, front->count, front->objectives, reference);
    for (size_t i = 0; i < front->objectives; i++)
        reference[i] *= front->signs[i];
    return isfinite(volume) ? volume : (double)NAN;
}
