/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/folder.h"

#include "base/buf.h"
#include "base/host_list.h"

static void assert_names(const char *text, const char *wanted)
{
    struct host_list list = {0};
    struct buf out = BUF_INIT;

    assert_int_equal(host_list_add(&list, text, NULL), 0);
    for (size_t i = 0; i < list.count; i++)
        buf_printf(&out, "%s%s", i > 0 ? " " : "", list.names[i]);
    assert_string_equal(buf_text(&out), wanted);
    buf_clear(&out);
    host_list_clear(&list);
}

static void assert_refused(const char *text, const char *part)
{
    struct host_list list = {0};
    struct err err = {.text = ""};

    assert_int_equal(host_list_add(&list, text, &err), -1);
    assert_non_null(strstr(err.text, part));
    host_list_clear(&list);
}

static void test_host_list__is_expanded(void **state)
{
    (void)state;
    assert_names("n17", "n17");
    assert_names("n[1-4,7]", "n1 n2 n3 n4 n7");
    assert_names("n[3],login,gpu[08-10]-ib",
                 "n3 login gpu08-ib gpu09-ib gpu10-ib");
    assert_names("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2");
}

static void test_host_list__is_refused(void **state)
{
    (void)state;
    assert_refused("", "invalid name");
    assert_refused("a,,b", "invalid name");
    assert_refused("a b", "invalid name of a node: 'a b'");
    assert_refused("n1]", "invalid name");
    assert_refused("n[1-4", "lacks a ']'");
    assert_refused("n[]", "empty brackets");
    assert_refused("n[4-1]", "numbers");
    assert_refused("n[1,]", "numbers");
    assert_refused("n[a-b]", "numbers");
    assert_refused("n[1-]", "numbers");
    assert_refused("n[1234567890]", "numbers");
    assert_refused("n[0-999999]", "more than 65536 nodes");
    assert_refused("a[1]b[1]c[1]d[1]e[1]", "too many brackets");
}

static void test_host_list__is_searched(void **state)
{
    struct host_list list = {0};

    (void)state;
    assert_false(host_list_has(&list, "n1"));
    assert_int_equal(host_list_add(&list, "n[3,1],n2,n[1-3]", NULL), 0);
    host_list_sort(&list);
    assert_int_equal(list.count, 3);
    assert_true(host_list_has(&list, "n1"));
    assert_true(host_list_has(&list, "n3"));
    assert_false(host_list_has(&list, "n4"));
    host_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_list__is_expanded),
        cmocka_unit_test(test_host_list__is_refused),
        cmocka_unit_test(test_host_list__is_searched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
