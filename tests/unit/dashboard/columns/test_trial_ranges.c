/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/columns/trial_ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

static void test_trial_ranges__reads_numbers_and_ranges(void **state)
{
    struct trial_ranges ranges;
    struct err err = {0};

    (void)state;
    assert_int_equal(trial_ranges_read("1,5,9-20,21-21", &ranges, &err), 0);
    assert_int_equal(ranges.count, 4);
    assert_int_equal(ranges.ranges[0].first, 1);
    assert_int_equal(ranges.ranges[0].last, 1);
    assert_int_equal(ranges.ranges[1].first, 5);
    assert_int_equal(ranges.ranges[2].first, 9);
    assert_int_equal(ranges.ranges[2].last, 20);
    assert_int_equal(ranges.ranges[3].last, 21);
    trial_ranges_clear(&ranges);
    assert_null(ranges.ranges);
    assert_int_equal(ranges.count, 0);
}

static void test_trial_ranges__are_all_where_none_are_named(void **state)
{
    struct trial_ranges ranges;
    struct err err = {0};

    (void)state;
    assert_int_equal(trial_ranges_read(NULL, &ranges, &err), 0);
    assert_int_equal(ranges.count, 1);
    assert_int_equal(ranges.ranges[0].first, 1);
    assert_int_equal(ranges.ranges[0].last, INT64_MAX);
    trial_ranges_clear(&ranges);
}

static void test_trial_ranges__refuse_what_is_no_rising_list(void **state)
{
    static const char *const bad[] = {
        "",
        "0",
        "-1",
        "a",
        "/",
        ":",
        "1,",
        ",1",
        "1,,2",
        "1-",
        "1-a",
        "2-1",
        "1-0",
        "0-3",
        "1,1",
        "2,1",
        "1-3,3",
        "1 ",
        " 1",
        "1;2",
        "1-2-3",
        "+1",
        "1.5",
        "0x1",
        "1,-2",
        "1--2",
        "1,2,3 and",
        "5,4-9",
        "99999999999999999999,99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct trial_ranges ranges;
        struct err err = {0};

        if (trial_ranges_read(bad[i], &ranges, &err) != -1)
            fail_msg("'%s' is taken", bad[i]);
        assert_int_equal(err.kind, ERR_USAGE);
        assert_non_null(strstr(err.text, "expected an ascending list"));
        trial_ranges_clear(&ranges);
    }
}

/* "1,2,3" and so on; the caller's to free. */
static char *list_up_to(int last)
{
    struct buf text = BUF_INIT;

    for (int i = 1; i <= last; i++)
        buf_printf(&text, "%s%d", i > 1 ? "," : "", i);
    return buf_take(&text);
}

static void test_trial_ranges__are_only_so_many(void **state)
{
    char *most = list_up_to(TRIAL_RANGES_MAX);
    char *more = list_up_to(TRIAL_RANGES_MAX + 1);
    struct trial_ranges ranges;
    struct err err = {0};

    (void)state;
    assert_int_equal(trial_ranges_read(most, &ranges, &err), 0);
    assert_int_equal(ranges.count, TRIAL_RANGES_MAX);
    assert_int_equal(ranges.ranges[TRIAL_RANGES_MAX - 1].last,
                     TRIAL_RANGES_MAX);
    trial_ranges_clear(&ranges);
    assert_int_equal(trial_ranges_read(more, &ranges, &err), -1);
    assert_non_null(strstr(err.text, "at most 1000 parts"));
    trial_ranges_clear(&ranges);
    free(most);
    free(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trial_ranges__reads_numbers_and_ranges),
        cmocka_unit_test(test_trial_ranges__are_all_where_none_are_named),
        cmocka_unit_test(test_trial_ranges__refuse_what_is_no_rising_list),
        cmocka_unit_test(test_trial_ranges__are_only_so_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
