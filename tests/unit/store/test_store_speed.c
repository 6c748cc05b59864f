/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long writing and reading take, of the processor's time: what else runs
 * does not count. The bounds are generous, for a shared processor and
 * sanitizers: they catch a lost index or statement cache. */
#include "store/store.h"

#include <math.h>
#include <time.h>

#include "tests/unit/store/store_test.h"

enum { TRIALS = 5000, BATCH = 100, RUNS = 50 };

static double clock_us(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void fill_in_batches(struct store *store, int64_t run, int64_t trials)
{
    struct err err = {0};

    for (int64_t n = 1; n <= trials; n++) {
        must(store_begin(store, &err));
        must(fill_trial(store, run, n, sin((double)n), &err));
        if (n % BATCH == 0 || n == trials)
            must(store_commit(store, &err));
    }
}

struct reading {
    double start_us, first_us;
    int64_t count;
};

static int time_trial(void *user, const struct trial_row *trial)
{
    struct reading *reading = user;

    (void)trial;
    if (reading->count++ == 0)
        reading->first_us =
            clock_us(CLOCK_PROCESS_CPUTIME_ID) - reading->start_us;
    return 0;
}

static void read_all(struct store *store, int64_t run, enum trial_order order)
{
    struct err err = {0};
    struct reading reading = {.start_us = clock_us(CLOCK_PROCESS_CPUTIME_ID)};
    double all_us;

    must(store_each_trial(store,
                          &(struct trial_query){.run = run, .order = order},
                          time_trial, &reading, &err));
    all_us = clock_us(CLOCK_PROCESS_CPUTIME_ID) - reading.start_us;
    print_message("%s: first of %d trials after %.2f ms, all after %.0f ms\n",
                  order == ORDER_BEST ? "by value" : "by number", TRIALS,
                  reading.first_us / 1e3, all_us / 1e3);
    assert_int_equal(reading.count, TRIALS);
    assert_true(reading.first_us < 50e3);
    assert_true(all_us < 3e6);
}

static void test_store_speed__one_long_run(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run;
    double start_us, each_us;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    must(store_commit(store, &err));
    start_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    fill_in_batches(store, run, TRIALS);
    each_us = (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start_us) / TRIALS;
    print_message("a trial's 23 rows: %.1f us of CPU, %d trials a commit\n",
                  each_us, BATCH);
    assert_true(each_us < 600);
    store_close(store);
    store = must_open(*state, STORE_READ);
    read_all(store, run, ORDER_NUMBER);
    read_all(store, run, ORDER_BEST);
    store_close(store);
}

static int count_run(void *user, const struct run_row *run)
{
    ++*(int64_t *)user;
    assert_int_equal(run->succeeded, BATCH);
    return 0;
}

static void test_store_speed__many_runs(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run, count = 0;
    double start_us, all_us;

    for (int i = 0; i < RUNS; i++) {
        char name[16];

        snprintf(name, sizeof(name), "r%d", i);
        must(store_begin(store, &err));
        must(
            fill_run(store, name, i % 2 ? "minimize" : "maximize", &run, &err));
        fill_in_batches(store, run, BATCH);
    }
    store_close(store);
    store = must_open(*state, STORE_READ);
    start_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    must(store_each_run(store, count_run, &count, &err));
    all_us = clock_us(CLOCK_PROCESS_CPUTIME_ID) - start_us;
    print_message("%d runs of %d trials: all after %.1f ms\n", RUNS, BATCH,
                  all_us / 1e3);
    assert_int_equal(count, RUNS);
    assert_true(all_us < 300e3);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_speed__one_long_run),
        STORE_TEST(test_store_speed__many_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
