/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/schedules/scheduler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"

static void test_scheduler__options_are_checked(void **state)
{
    static const struct {
        struct schedule_options options;
        const char *text;
    } cases[] = {
        {{.method = "ahsa", .min = 1, .max = 9, .eta = 3},
         "unknown schedule method 'ahsa' (did you mean 'asha'?)"},
        {{.method = "asha", .max = 9, .eta = 3},
         "min must be 1 or more, not 0"},
        {{.method = "asha", .min = 9, .max = 9, .eta = 3},
         "max must be more than min 9, not 9"},
        {{.method = "asha", .min = 1, .max = UINT64_C(1000000000001), .eta = 3},
         "max must be at most 1000000000000, not 1000000000001"},
        {{.method = "asha", .min = 1, .max = SCHEDULE_NO_MAX, .eta = 3},
         "max must be at most 1000000000000, not 9223372036854775807"},
        {{.method = "asha", .min = 1, .max = 9, .eta = 1},
         "eta must be from 2 to 1000, not 1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct schedule_plan plan;
        struct err err = {0};

        assert_null(scheduler_create(&cases[i].options, NULL, &err));
        assert_int_equal(err.kind, ERR_FILE);
        assert_string_equal(err.text, cases[i].text);
        err.text[0] = '\0';
        assert_int_equal(schedule_plan_init(&plan, &cases[i].options, 9, &err),
                         -1);
        assert_string_equal(err.text, cases[i].text);
    }
}

static void test_scheduler__unknown_method_names_the_known_ones(void **state)
{
    struct schedule_options options = {
        .method = "something", .min = 1, .max = 9, .eta = 3};
    struct err err = {0};

    (void)state;
    assert_null(scheduler_create(&options, NULL, &err));
    assert_non_null(strstr(err.text, "unknown schedule method 'something' "
                                     "(one of: asha"));
}

static void test_scheduler__plan_refuses_what_it_cannot_count(void **state)
{
    struct schedule_options options = {.method = "asha",
                                       .min = UINT64_C(900000000000),
                                       .max = UINT64_C(1000000000000),
                                       .eta = 3};
    struct schedule_plan plan;
    struct err err = {0};

    (void)state;
    assert_int_equal(
        schedule_plan_init(&plan, &options, UINT64_C(1000000000), &err), -1);
    assert_string_equal(err.text,
                        "out of range: 1000000000 trials up to "
                        "resource 900000000000 are too many to count");
    assert_int_equal(
        schedule_plan_init(&plan, &options, UINT64_C(1000000001), &err), -1);
    assert_string_equal(
        err.text,
        "out of range: 1000000001 trials, at most 1000000000 are possible");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scheduler__options_are_checked),
        cmocka_unit_test(test_scheduler__unknown_method_names_the_known_ones),
        cmocka_unit_test(test_scheduler__plan_refuses_what_it_cannot_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
