/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/system/user_name.h"

#include <grp.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

enum { NOBODYS = 2147483633 };

static void expect(char *name, const char *expected)
{
    assert_string_equal(name, expected);
    free(name);
}

static void test_user_name__is_a_name_or_a_number(void **state)
{
    (void)state;
    expect(user_name(0), "root");
    expect(group_name(0), "root");
    assert_null(getpwuid(NOBODYS));
    assert_null(getgrgid(NOBODYS));
    expect(user_name(NOBODYS), "2147483633");
    expect(group_name(NOBODYS), "2147483633");
}

static void test_user_name__finds_groups(void **state)
{
    static const char *const wrong[] = {
        "", "no such group", "12x", "-1", "4294967295", "99999999999999999999"};
    gid_t group = 1;

    (void)state;
    assert_true(group_find("root", &group));
    assert_int_equal(group, 0);
    assert_true(group_find("2147483633", &group));
    assert_int_equal(group, NOBODYS);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(group_find(wrong[i], &group));
}

static void test_user_name__lists_our_groups(void **state)
{
    char *own = group_name(getegid());
    struct buf groups = BUF_INIT;

    (void)state;
    assert_true(group_is_ours(getegid()));
    assert_false(group_is_ours(NOBODYS));
    group_add_ours(&groups);
    assert_int_equal(strncmp(buf_text(&groups), own, strlen(own)), 0);
    buf_clear(&groups);
    free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_name__is_a_name_or_a_number),
        cmocka_unit_test(test_user_name__finds_groups),
        cmocka_unit_test(test_user_name__lists_our_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
