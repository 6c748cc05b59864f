/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of 100,000 trials of 10 parameters: writing and reading it. */
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/fs.h"
#include "tests/unit/store_fill.h"

enum { TRIALS = 100000, BATCH = 100, RUNS = 1000 };

static double clock_us(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void show(const char *what, double value, double bar, const char *unit)
{
    printf("%s\t%g\t-\t%g\t%s\n", what, value, bar, unit);
}

static int fill(struct store *store, int runs, struct err *err)
{
    int64_t run;

    for (int i = 0; i < runs; i++) {
        char name[16];

        snprintf(name, sizeof(name), "r%d", i);
        if (store_begin(store, err) < 0 ||
            fill_run(store, name, "minimize", &run, err) < 0)
            return -1;
        for (int64_t n = 1; n <= TRIALS / runs; n++) {
            if (store_begin(store, err) < 0 ||
                fill_trial(store, run, n, sin((double)n), err) < 0 ||
                (n % BATCH == 0 && store_commit(store, err) < 0))
                return -1;
        }
    }
    return store_commit(store, err);
}

struct reading {
    double start_us, first_us;
    int64_t count;
};

static int on_trial(void *user, const struct trial_row *trial)
{
    struct reading *reading = user;

    (void)trial;
    if (reading->count++ == 0)
        reading->first_us = clock_us(CLOCK_MONOTONIC) - reading->start_us;
    return 0;
}

static int on_run(void *user, const struct run_row *run)
{
    (void)run;
    ++*(int64_t *)user;
    return 0;
}

static int measure_one_run(struct store *store, struct err *err)
{
    struct trial_query query = {.run = 1};
    struct reading reading = {0};
    double start_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);

    if (fill(store, 1, err) < 0)
        return -1;
    show("store: CPU to write a trial (100 a commit)",
         (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start_us) / TRIALS, 60, "us");
    reading.start_us = clock_us(CLOCK_MONOTONIC);
    if (store_each_trial(store, &query, on_trial, &reading, err) < 0)
        return -1;
    show("store: first of 100,000 trials", reading.first_us / 1e3, 5, "ms");
    show("store: all 100,000 trials",
         (clock_us(CLOCK_MONOTONIC) - reading.start_us) / 1e3, 500, "ms");
    query.order = ORDER_BEST;
    reading = (struct reading){.start_us = clock_us(CLOCK_MONOTONIC)};
    if (store_each_trial(store, &query, on_trial, &reading, err) < 0)
        return -1;
    show("store: best of 100,000 trials", reading.first_us / 1e3, 5, "ms");
    return 0;
}

static int measure_many_runs(struct store *store, struct err *err)
{
    int64_t count = 0;
    double start_us;

    if (fill(store, RUNS, err) < 0)
        return -1;
    start_us = clock_us(CLOCK_MONOTONIC);
    if (store_each_run(store, on_run, &count, err) < 0)
        return -1;
    show("store: list 1,000 runs of 100 trials",
         (clock_us(CLOCK_MONOTONIC) - start_us) / 1e3, 100, "ms");
    return 0;
}

static int measure(int (*part)(struct store *store, struct err *err))
{
    char folder[] = "/tmp/smtune-bench-XXXXXX";
    struct err err = {0};
    struct store *store;
    int result = -1;

    if (mkdtemp(folder) == NULL)
        return -1;
    store = store_open(folder, STORE_CREATE, &err);
    if (store != NULL)
        result = part(store, &err);
    if (result < 0)
        fprintf(stderr, "bench_store: %s\n", err.text);
    store_close(store);
    fs_remove_tree(folder, NULL);
    return result;
}

int main(void)
{
    return measure(measure_one_run) < 0 || measure(measure_many_runs) < 0;
}
