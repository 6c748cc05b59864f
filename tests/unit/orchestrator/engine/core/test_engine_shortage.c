/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where there is no room, nothing starts for longer and longer. */
#include "orchestrator/engine/core/shortage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"

static void test_shortage__is_over_by_itself(void **state)
{
    struct engine *engine = mem_zero(sizeof(*engine));

    (void)state;
    assert_false(engine_is_held(engine));
    engine_begin_shortage(engine, "the disk is full");
    assert_true(engine_lacks_room(engine));
    assert_true(engine_is_held(engine));
    assert_string_equal(engine->shortage.text,
                        "no trials start for now: the disk is full");
    engine->shortage.until_ms = clock_monotonic_ms() - 1;
    assert_false(engine_is_held(engine));
    free(engine);
}

/* Many trials fail at once for one reason: that is one shortage. */
static void test_shortage__grows_once_a_time(void **state)
{
    struct engine *engine = mem_zero(sizeof(*engine));
    int64_t first_ms, until_ms;

    (void)state;
    engine_begin_shortage(engine, "full");
    first_ms = engine->shortage.last_ms;
    until_ms = engine->shortage.until_ms;
    engine_begin_shortage(engine, "full");
    assert_int_equal(engine->shortage.until_ms, until_ms);
    for (int i = 0; i < 20; i++) {
        int64_t before_ms = engine->shortage.last_ms;

        engine->shortage.until_ms = clock_monotonic_ms() - 1;
        engine_begin_shortage(engine, "full");
        assert_true(engine->shortage.last_ms >= before_ms);
    }
    assert_true(engine->shortage.last_ms > first_ms);
    assert_true(engine->shortage.last_ms <= 30 * 1000);
    engine_prolong_shortage(engine, "still");
    assert_true(engine_lacks_room(engine));
    engine_end_shortage(engine);
    engine_begin_shortage(engine, "full");
    assert_int_equal(engine->shortage.last_ms, first_ms);
    free(engine);
}

static void test_shortage__a_pause_holds_starts_too(void **state)
{
    struct engine *engine = mem_zero(sizeof(*engine));

    (void)state;
    engine->paused_since_ms = clock_monotonic_ms();
    assert_true(engine_is_held(engine));
    assert_false(engine_lacks_room(engine));
    free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortage__is_over_by_itself),
        cmocka_unit_test(test_shortage__grows_once_a_time),
        cmocka_unit_test(test_shortage__a_pause_holds_starts_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
