/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is paused is no time of the run's. */
#include "orchestrator/engine/core/pause.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"

/* The clock goes on while a test runs. */
static void must_be_about(int64_t ms, int64_t expected)
{
    assert_in_range(ms - expected + 1000, 0, 60 * 1000);
    assert_true(ms >= expected);
}

static struct engine *engine_of(int64_t age_ms)
{
    struct engine *engine = mem_zero(sizeof(*engine));

    engine->clocks.started_ms = clock_monotonic_ms() - age_ms;
    return engine;
}

static void test_pause__earlier_engines_and_this_one_add_up(void **state)
{
    struct engine *engine = engine_of(7000);

    (void)state;
    engine->clocks.earlier_ms = 100000;
    assert_false(engine_is_paused(engine));
    assert_int_equal(engine_paused_ms(engine), 0);
    must_be_about(engine_elapsed_ms(engine), 107000);
    free(engine);
}

static void test_pause__is_not_counted(void **state)
{
    struct engine *engine = engine_of(600 * 1000);

    (void)state;
    engine->clocks.paused_ms = 50 * 1000;
    engine->paused_since_ms = clock_monotonic_ms() - 200 * 1000;
    assert_true(engine_is_paused(engine));
    must_be_about(engine_paused_ms(engine), 250 * 1000);
    must_be_about(engine_elapsed_ms(engine), 350 * 1000);
    free(engine);
}

/* A pause that is older than the session is taken from it only as far as that
 * goes. */
static void test_pause__that_is_older_than_the_session(void **state)
{
    struct engine *engine = engine_of(5000);
    int64_t elapsed_ms;

    (void)state;
    engine->paused_since_ms = clock_monotonic_ms() - 300 * 1000;
    must_be_about(engine_paused_ms(engine), 5000);
    elapsed_ms = engine_elapsed_ms(engine);
    assert_true(elapsed_ms > -60 * 1000 && elapsed_ms < 60 * 1000);
    free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pause__earlier_engines_and_this_one_add_up),
        cmocka_unit_test(test_pause__is_not_counted),
        cmocka_unit_test(test_pause__that_is_older_than_the_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
