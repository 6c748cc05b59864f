/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums over the attempts of all runs by the cause of their end, for the metrics
 * of Prometheus.
 *
 * An attempt that has ended never changes, so it is counted once. `last` is the
 * newest attempt seen, and `open` holds those up to it that had not ended; only
 * these and newer ones are read again. Sums are sorted by run and cause, so a
 * run's sums lie together. After an error everything is counted again, because
 * a half-finished update would count attempts twice.
 */
#include "dashboard/causes.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "store/read.h"

struct causes {
    uv_mutex_t lock;
    struct cause_sum *sums; /* [count] by run and cause */
    size_t count, capacity;
    int64_t *open; /* [open_count] attempts up to `last` that had not ended */
    size_t open_count, open_capacity;
    int64_t last; /* the last attempt that was looked at */
};

struct causes *causes_create(void)
{
    struct causes *causes = mem_zero(sizeof(*causes));

    if (uv_mutex_init(&causes->lock) != 0)
        abort();
    return causes;
}

static void forget(struct causes *causes)
{
    for (size_t i = 0; i < causes->count; i++)
        free(causes->sums[i].cause);
    causes->count = causes->open_count = 0;
    causes->last = 0;
}

void causes_destroy(struct causes *causes)
{
    if (causes == NULL)
        return;
    forget(causes);
    free(causes->sums);
    free(causes->open);
    uv_mutex_destroy(&causes->lock);
    free(causes);
}

static int compare(const struct cause_sum *sum, int64_t run, const char *cause)
{
    if (sum->run != run)
        return sum->run < run ? -1 : 1;
    return strcmp(sum->cause, cause);
}

/* Where the sum is, or would be. */
static size_t find(const struct causes *causes, int64_t run, const char *cause)
{
    size_t low = 0, high = causes->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&causes->sums[middle], run, cause) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct cause_sum *find_or_add(struct causes *causes, int64_t run,
                                     const char *cause)
{
    size_t at = find(causes, run, cause);

    if (at < causes->count && compare(&causes->sums[at], run, cause) == 0)
        return &causes->sums[at];
    causes->sums = mem_grow(causes->sums, causes->count, &causes->capacity,
                            sizeof(*causes->sums));
    memmove(&causes->sums[at + 1], &causes->sums[at],
            (causes->count++ - at) * sizeof(*causes->sums));
    causes->sums[at] =
        (struct cause_sum){.run = run, .cause = mem_copy_string(cause)};
    return &causes->sums[at];
}

static int take(void *user, const struct attempt_fate *of)
{
    struct causes *causes = user;
    struct cause_sum *sum;

    if (of->attempt > causes->last)
        causes->last = of->attempt;
    if (of->cause == NULL) {
        causes->open = mem_grow(causes->open, causes->open_count,
                                &causes->open_capacity, sizeof(*causes->open));
        causes->open[causes->open_count++] = of->attempt;
        return 0;
    }
    sum = find_or_add(causes, of->run, of->cause);
    sum->attempts++;
    sum->took_ms += of->took_ms;
    return 0;
}

/* Those that still go on are kept again. */
static int take_open(struct causes *causes, struct store *store,
                     struct err *err)
{
    size_t count = causes->open_count;
    int64_t *open = causes->open;
    int result = 0;

    causes->open = NULL;
    causes->open_count = causes->open_capacity = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = store_each_attempt_fate(store, open[i] - 1, open[i], take,
                                         causes, err);
    free(open);
    return result;
}

/* After an error all are looked at anew. */
int causes_update(struct causes *causes, struct store *store, struct err *err)
{
    int result;

    uv_mutex_lock(&causes->lock);
    result = take_open(causes, store, err);
    if (result == 0)
        result = store_each_attempt_fate(store, causes->last, INT64_MAX, take,
                                         causes, err);
    if (result < 0)
        forget(causes);
    uv_mutex_unlock(&causes->lock);
    return result;
}

void causes_each(struct causes *causes, int64_t run,
                 void (*row)(void *user, const struct cause_sum *sum),
                 void *user)
{
    uv_mutex_lock(&causes->lock);
    for (size_t i = find(causes, run, "");
         i < causes->count && causes->sums[i].run == run; i++)
        row(user, &causes->sums[i]);
    uv_mutex_unlock(&causes->lock);
}
