/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "executors/slurm/talk/tasks.h"

struct part {
    const char *text;
    struct slurm_tasks tasks;
    const char *rest;
};

static void test_slurm_tasks__parts_of_a_list(void **state)
{
    static const struct part parts[] = {
        {"3", {3, 3, 1}, ""},
        {"2-5,9", {2, 5, 1}, "9"},
        {"8-99:2%4", {8, 99, 2}, "%4"},
        {"7...", {7, 7, 1}, "..."},
        {"0-2147483647:2147483647", {0, INT32_MAX, INT32_MAX}, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const char *text = parts[i].text;
        struct slurm_tasks tasks;

        assert_int_equal(slurm_tasks_take(&text, &tasks), 1);
        assert_int_equal(tasks.first, parts[i].tasks.first);
        assert_int_equal(tasks.last, parts[i].tasks.last);
        assert_int_equal(tasks.step, parts[i].tasks.step);
        assert_string_equal(text, parts[i].rest);
    }
}

static void test_slurm_tasks__stops_at_what_is_no_task(void **state)
{
    static const char *const texts[] = {"", "%4", "...", "-3", "x"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *text = texts[i];
        struct slurm_tasks tasks;

        assert_int_equal(slurm_tasks_take(&text, &tasks), 0);
        assert_ptr_equal(text, texts[i]);
    }
}

static void test_slurm_tasks__no_array_has_such_tasks(void **state)
{
    static const char *const texts[] = {
        "5-3",
        "1-",
        "1-5:0",
        "1-5:-1",
        "2147483648",
        "0-99999999999999999999",
        "1432:51111111111111111111111111", /* found by fuzzing */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *text = texts[i];
        struct slurm_tasks tasks;

        assert_int_equal(slurm_tasks_take(&text, &tasks), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_tasks__parts_of_a_list),
        cmocka_unit_test(test_slurm_tasks__stops_at_what_is_no_task),
        cmocka_unit_test(test_slurm_tasks__no_array_has_such_tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
