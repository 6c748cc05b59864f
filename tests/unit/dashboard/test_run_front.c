/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: clock_monotonic_ms */
#include "dashboard/run_front.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "dashboard/source.h"
#include "store/store.h"

enum { COST_MS = 30 };

static int64_t now_ms = 1000000;
static int64_t cost_ms = COST_MS; /* of one front */
static int made;

int64_t __wrap_clock_monotonic_ms(void);

int64_t __wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

static json_t *make_front(UNUSED void *user, UNUSED struct store *store,
                          UNUSED int64_t run, UNUSED struct err *err)
{
    now_ms += cost_ms;
    made++;
    return json_integer(made);
}

static const struct dashboard_source source = {.front = make_front};

/* How many fronts that made of so many results. */
static int update(struct run_front *front, struct front_time *time,
                  size_t objectives, int64_t results)
{
    const struct run_row run = {.objective_count = objectives,
                                .succeeded = results};
    struct err err = {0};
    int before = made;

    assert_int_equal(run_front_update(front, time, &source, NULL, &run, &err),
                     0);
    return made - before;
}

static struct front_time look(void)
{
    return (struct front_time){now_ms, 0};
}

static void test_run_front__follows_results_now_and_then(void **state)
{
    struct run_front front = {0};
    struct front_time time = look();

    (void)state;
    assert_int_equal(update(&front, &time, 1, 5), 0);
    assert_int_equal(update(&front, &time, 2, 5), 1);
    assert_int_equal(update(&front, &time, 2, 5), 0);
    assert_false(run_front_is_due(&front, now_ms + 60000));
    time = look();
    assert_int_equal(update(&front, &time, 2, 6), 0);
    assert_false(run_front_is_due(&front, now_ms));
    now_ms += 10000;
    assert_true(run_front_is_due(&front, now_ms));
    time = look();
    assert_int_equal(update(&front, &time, 2, 6), 1);
    assert_false(run_front_is_due(&front, now_ms + 60000));
    run_front_clear(&front);
}

static void test_run_front__makes_a_large_one_seldom(void **state)
{
    struct run_front front = {0};
    struct front_time time = look();

    (void)state;
    cost_ms = 2000;
    assert_int_equal(update(&front, &time, 2, 5), 1);
    cost_ms = COST_MS;
    now_ms += 60000;
    time = look();
    assert_int_equal(update(&front, &time, 2, 6), 0);
    assert_false(run_front_is_due(&front, now_ms));
    now_ms += 40000;
    assert_true(run_front_is_due(&front, now_ms));
    run_front_clear(&front);
}

static void test_run_front__takes_little_of_one_look(void **state)
{
    struct run_front fronts[3] = {{0}};
    struct front_time time = look();

    (void)state;
    assert_int_equal(update(&fronts[0], &time, 2, 5), 1);
    assert_int_equal(update(&fronts[1], &time, 2, 5), 1);
    assert_int_equal(update(&fronts[2], &time, 2, 5), 0);
    assert_true(run_front_is_due(&fronts[2], now_ms));
    time = look();
    assert_int_equal(update(&fronts[2], &time, 2, 5), 1);
    for (size_t i = 0; i < ARRAY_LEN(fronts); i++)
        run_front_clear(&fronts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_front__follows_results_now_and_then),
        cmocka_unit_test(test_run_front__makes_a_large_one_seldom),
        cmocka_unit_test(test_run_front__takes_little_of_one_look),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
