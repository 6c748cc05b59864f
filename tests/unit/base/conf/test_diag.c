/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

static const char *const keys[] = {"type", "distribution"};

static void expect_render(struct diags *diags, bool colour,
                          const char *expected)
{
    struct buf out = BUF_INIT;

    diags_render(diags, colour, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

static struct diags *create(const char *source)
{
    struct diags *diags = diags_create("exp.yaml");

    diags_set_source(diags, source, strlen(source));
    return diags;
}

static void test_diag__shows_the_line_and_a_caret(void **state)
{
    struct diags *diags = create("a: 1\n  distributon: log\r\nb: 2");

    (void)state;
    assert_int_equal(diags_add_unknown(diags, (struct diag_place){2, 3, 11},
                                       "distributon", keys, ARRAY_LEN(keys),
                                       "unknown key '%s'", "distributon"),
                     -1);
    expect_render(diags, false,
                  "exp.yaml:2:3: error: unknown key 'distributon'\n"
                  " 2 |   distributon: log\n"
                  "   |   ^~~~~~~~~~~ did you mean 'distribution'?\n");
    diags_destroy(diags);
}

static void test_diag__colours(void **state)
{
    struct diags *diags = create("a: 1");

    (void)state;
    diags_add(diags, (struct diag_place){1, 4, 1}, NULL, "no");
    expect_render(diags, true,
                  "\033[1mexp.yaml:1:4: \033[31merror:\033[0;1m no\033[0m\n"
                  " 1 | a: 1\n"
                  "   |    \033[1;32m^\033[0m\n");
    diags_destroy(diags);
}

static void test_diag__lists_few_candidates(void **state)
{
    struct diags *diags = create("");

    (void)state;
    diags_add_unknown(diags, (struct diag_place){0, 0, 1}, "colour", keys,
                      ARRAY_LEN(keys), "unknown key 'colour'");
    expect_render(diags, false,
                  "exp.yaml: error: unknown key 'colour'\n"
                  "   = one of: type, distribution\n");
    diags_destroy(diags);
}

/* A file's name, its lines, and names in it that a message proposes. */
static void test_diag__nothing_plays_with_the_terminal(void **state)
{
    static const char *const names[] = {"a\033[2J", "b\xe2\x80\xae"};
    struct diags *diags = diags_create("x\033]0;y\007.yaml");

    (void)state;
    diags_set_source(diags,
                     "a: \xe2\x80\xae"
                     "1\n",
                     8);
    diags_add(diags, (struct diag_place){0, 0, 1}, "of \033[1m", "\xd8\x9c");
    diags_add(diags, (struct diag_place){1, 1, 1}, NULL, "no");
    diags_add_unknown(diags, (struct diag_place){2, 1, 1}, "c", names,
                      ARRAY_LEN(names), "unknown key 'c'");
    expect_render(diags, false,
                  "x\\x1b]0;y\\x07.yaml: error: \\xd8\\x9c\n"
                  "   = of \\x1b[1m\n"
                  "x\\x1b]0;y\\x07.yaml:1:1: error: no\n"
                  " 1 | a: ?1\n"
                  "   | ^\n"
                  "x\\x1b]0;y\\x07.yaml:2:1: error: unknown key 'c'\n"
                  " 2 |\n"
                  "   | ^ one of: a\\x1b[2J, b\\xe2\\x80\\xae\n");
    diags_destroy(diags);
}

static void test_diag__marks_stand_under_wide_and_control_bytes(void **state)
{
    struct diags *diags = create("\t\xe6\x97\xa5\xff\x1b: x\n");

    (void)state;
    diags_add(diags, (struct diag_place){1, 2, 2}, NULL, "wide");
    diags_add(diags, (struct diag_place){1, 7, 99}, NULL, "clipped");
    diags_add(diags, (struct diag_place){1, 99, 1}, NULL, "past the end");
    expect_render(diags, false,
                  "exp.yaml:1:2: error: wide\n"
                  " 1 |  \xe6\x97\xa5??: x\n"
                  "   |  ^~~\n"
                  "exp.yaml:1:7: error: clipped\n"
                  " 1 |  \xe6\x97\xa5??: x\n"
                  "   |        ^\n"
                  "exp.yaml:1:99: error: past the end\n"
                  " 1 |  \xe6\x97\xa5??: x\n"
                  "   |         ^\n");
    diags_destroy(diags);
}

static void test_diag__long_lines_are_cut_around_the_place(void **state)
{
    struct buf source = BUF_INIT, out = BUF_INIT;
    struct diags *diags;

    (void)state;
    for (int i = 0; i < 5000; i++)
        buf_add_string(&source, "0123456789");
    diags = create(buf_text(&source));
    diags_add(diags, (struct diag_place){1, 20001, 10}, NULL, "here");
    diags_render(diags, false, &out);
    assert_true(out.length < 400);
    assert_non_null(strstr(out.data, "\n 1 | ...0123"));
    assert_non_null(strstr(out.data, "789...\n"));
    assert_non_null(strstr(out.data, "   |   "));
    assert_non_null(strstr(out.data, " ^~~~~~~~~~\n"));
    buf_clear(&out);
    buf_clear(&source);
    diags_destroy(diags);
}

static void test_diag__messages_are_one_short_line(void **state)
{
    struct diags *diags = create("a");
    char huge[5000];

    (void)state;
    memset(huge, 'x', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    diags_add(diags, (struct diag_place){1, 1, 1}, NULL, "bad '%s'",
              "a\nb\033");
    diags_add(diags, (struct diag_place){1, 1, 1}, NULL, "bad '%s'", huge);
    assert_string_equal(diags_get(diags, 0)->text, "bad 'a\\x0ab\\x1b'");
    assert_int_equal(strlen(diags_get(diags, 1)->text), 403);
    diags_destroy(diags);
}

static void test_diag__keeps_twenty_in_order_and_counts_the_rest(void **state)
{
    struct diags *diags = create("");
    struct buf out = BUF_INIT;
    struct err err;

    (void)state;
    for (int i = 0; i < 27; i++)
        diags_add(diags, (struct diag_place){i < 20 ? 40 - i : 1, 1, 1}, NULL,
                  "message %d", i);
    assert_int_equal(diags_count(diags), 27);
    assert_string_equal(diags_get(diags, 0)->text, "message 19");
    assert_string_equal(diags_get(diags, 19)->text, "message 0");
    diags_render(diags, false, &out);
    assert_non_null(strstr(buf_text(&out), "\nand 7 more errors\n"));
    buf_clear(&out);
    assert_int_equal(diags_to_err(diags, &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_int_equal(err.line, 21);
    assert_string_equal(err.path, "exp.yaml");
    assert_string_equal(err.text, "message 19");
    diags_destroy(diags);
}

static void test_diag__null_keeps_nothing(void **state)
{
    (void)state;
    assert_int_equal(diags_add(NULL, (struct diag_place){1, 1, 1}, NULL, "x"),
                     -1);
    assert_int_equal(diags_add_unknown(NULL, (struct diag_place){1, 1, 1}, "x",
                                       keys, 2, "x"),
                     -1);
    assert_int_equal(diags_count(NULL), 0);
    diags_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diag__shows_the_line_and_a_caret),
        cmocka_unit_test(test_diag__colours),
        cmocka_unit_test(test_diag__lists_few_candidates),
        cmocka_unit_test(test_diag__nothing_plays_with_the_terminal),
        cmocka_unit_test(test_diag__marks_stand_under_wide_and_control_bytes),
        cmocka_unit_test(test_diag__long_lines_are_cut_around_the_place),
        cmocka_unit_test(test_diag__messages_are_one_short_line),
        cmocka_unit_test(test_diag__keeps_twenty_in_order_and_counts_the_rest),
        cmocka_unit_test(test_diag__null_keeps_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
