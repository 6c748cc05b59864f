/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fill_many DIRECTORY TRIALS PER_SECOND: adds trials of 10 parameters to the
 * run "many", which is made where there is none. PER_SECOND 0: as quickly as it
 * goes; otherwise each is committed by itself, and its number and the time (ns
 * since 1970) are printed then. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/changes.h"
#include "tests/unit/store/store_fill.h"

enum { BATCH = 1000 };

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int find_or_add(struct store *store, int64_t *run, struct err *err)
{
    if (store_find_run(store, "many", run, NULL) == 0)
        return 0;
    if (store_begin(store, err) < 0 ||
        fill_run(store, "many", "minimize", run, err) < 0)
        return -1;
    return store_commit(store, err);
}

static int add_one(struct store *store, int64_t run, int64_t number,
                   struct err *err)
{
    uint64_t mixed = (uint64_t)number * 0x9e3779b97f4a7c15 >> 11;

    if (store_begin(store, err) < 0)
        return -1;
    return fill_trial(store, run, number, (double)mixed / (1ULL << 53), err);
}

static int add_at_rate(struct store *store, int64_t run, int64_t number,
                       double per_second, struct err *err)
{
    struct timespec pause = {.tv_nsec = (long)(1e9 / per_second)};

    nanosleep(&pause, NULL); /* the rate that is asked for */
    if (add_one(store, run, number, err) < 0 || store_commit(store, err) < 0)
        return -1;
    printf("%" PRId64 " %" PRId64 "\n", number, now_ns());
    fflush(stdout);
    return 0;
}

static int fill(struct store *store, int64_t trials, double per_second,
                struct err *err)
{
    int64_t run, before;

    if (find_or_add(store, &run, err) < 0 ||
        store_count_jobs(store, run, &before, err) < 0)
        return -1;
    for (int64_t n = before + 1; n <= before + trials; n++) {
        if (per_second > 0
                ? add_at_rate(store, run, n, per_second, err) < 0
                : add_one(store, run, n, err) < 0 ||
                      (n % BATCH == 0 && store_commit(store, err) < 0))
            return -1;
    }
    return store_commit(store, err);
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct store *store;
    int result = -1;

    if (argc != 4)
        return 2;
    store = store_open(argv[1], STORE_CREATE, &err);
    if (store != NULL)
        result = fill(store, strtoll(argv[2], NULL, 10), strtod(argv[3], NULL),
                      &err);
    store_close(store);
    if (result < 0)
        fprintf(stderr, "fill_many: %s\n", err.text);
    return result < 0;
}
