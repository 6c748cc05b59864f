/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "orchestrator/job/env_list.h"

static void test_env_list__sets_and_replaces(void **state)
{
    char path[] = "PATH=/bin", paths[] = "PATHS=1", empty[] = "EMPTY=";
    char *const inherited[] = {path, paths, empty, NULL};
    struct env_list list = {0};

    (void)state;
    env_list_inherit(&list, inherited);
    env_list_set(&list, "PATH", "/usr/bin:/bin");
    env_list_printf(&list, "N", "%d", 7);
    assert_int_equal(list.count, 4);
    assert_string_equal(env_list_get(&list, "PATH"), "/usr/bin:/bin");
    assert_string_equal(env_list_get(&list, "PATHS"), "1");
    assert_string_equal(env_list_get(&list, "EMPTY"), "");
    assert_string_equal(env_list_get(&list, "N"), "7");
    assert_null(env_list_get(&list, "PAT"));
    assert_null(list.items[4]);
    env_list_unset(&list, "PATH");
    env_list_unset(&list, "PAT");
    assert_int_equal(list.count, 3);
    assert_null(env_list_get(&list, "PATH"));
    assert_string_equal(env_list_get(&list, "N"), "7");
    assert_null(list.items[3]);
    env_list_clear(&list);
}

static void test_env_list__grows(void **state)
{
    struct env_list list = {0};
    char name[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "V%d", i);
        env_list_set(&list, name, "x");
        assert_null(list.items[i + 1]);
    }
    assert_int_equal(list.count, 1000);
    env_list_clear(&list);
    assert_null(list.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_env_list__sets_and_replaces),
        cmocka_unit_test(test_env_list__grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
