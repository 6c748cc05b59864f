/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is long, many or without end is cut or refused. */
#include "base/metrics/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "tests/unit/base/metrics/metrics_test.h"

/* A line of `length` bytes: `head`, blanks, `tail`. */
static char *long_line(const char *head, size_t length, const char *tail)
{
    char *line = mem_alloc(length + 1);

    memset(line, ' ', length);
    memcpy(line, head, strlen(head));
    memcpy(line + length - strlen(tail), tail, strlen(tail));
    line[length] = '\0';
    return line;
}

static void test_metrics__long_lines_are_cut(void **state)
{
    enum { LIMIT = 64 << 10 };
    static const struct {
        size_t length;
        const char *tail, *expected;
    } cases[] = {
        {LIMIT, "b=12", "a@1=1 b@1=12 c@1=3"},
        {LIMIT + 1, "b=12", "a@1=1 c@1=3"},
        {LIMIT + 1, "b=12 ", "a@1=1 c@1=3"},
        {LIMIT + 1, "b=12, ", "a@1=1 b@1=12 c@1=3"},
        {LIMIT + 3, "b=1.5", "a@1=1 c@1=3"},
        {3 * LIMIT, "b=12", "a@1=1 c@1=3"},
        {LIMIT + 1, "b=1_.+-Z9z1", "a@1=1 c@1=3"},
        {LIMIT + 1, "b=1 /x", "a@1=1 b@1=1 c@1=3"},
        {LIMIT + 1, "b=1 @x", "a@1=1 b@1=1 c@1=3"},
        {LIMIT + 1, "b=1 [x", "a@1=1 b@1=1 c@1=3"},
        {LIMIT + 1, "b=1 ~x", "a@1=1 b@1=1 c@1=3"},
    };
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *line = long_line("a=1", cases[i].length, cases[i].tail);
        char *text = mem_printf("%s\nc=3", line);
        size_t splits[] = {0, 5, LIMIT - 1, LIMIT, LIMIT + 1, strlen(line)};

        for (size_t j = 0; j < ARRAY_LEN(splits); j++) {
            char *actual = read_split(rules, text, strlen(text), splits[j]);

            if (strcmp(actual, cases[i].expected) != 0)
                fail_msg("%zu, %zu: %s", i, splits[j], actual);
            free(actual);
        }
        free(text);
        free(line);
    }
    metric_rules_destroy(rules);
}

static void test_metrics__a_line_of_one_word_may_be_cut_whole(void **state)
{
    enum { LENGTH = (64 << 10) + 1 };
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);
    char *text = mem_alloc(LENGTH + sizeof("\na=1"));
    char *actual;

    (void)state;
    memset(text, 'x', LENGTH);
    memcpy(text + LENGTH, "\na=1", sizeof("\na=1"));
    actual = read_split(rules, text, LENGTH + strlen("\na=1"), 0);
    assert_string_equal(actual, "a@1=1");
    free(actual);
    free(text);
    metric_rules_destroy(rules);
}

static void count(void *user, const struct metric_point *point)
{
    (void)point;
    ++*(size_t *)user;
}

static void test_metrics__names_are_bounded(void **state)
{
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);
    struct metric_reader *reader = metric_reader_create(rules, 0);
    char line[32], *name, *text, *expected;
    size_t found = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        int length = snprintf(line, sizeof(line), "m%d=1\n", i % 1500);

        metric_reader_feed(reader, line, (size_t)length, count, &found);
    }
    assert_int_equal(found, 2000);
    metric_reader_destroy(reader);
    metric_rules_destroy(rules);

    name = mem_zero(129);
    memset(name, 'x', 128);
    text = mem_printf("%s=1 x%s=2 xx%s=3", name, name, name);
    expected = mem_printf("%s@1=1", name);
    assert_reads(text, expected);
    free(name);
    free(text);
    free(expected);
}

static void test_metrics__numbers_and_lines_are_bounded(void **state)
{
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);
    struct metric_reader *reader = metric_reader_create(rules, 0);
    struct buf line = BUF_INIT;
    size_t found = 0;

    (void)state;
    buf_printf(&line, "a=%0400d b=%0401d\n", 1, 1);
    metric_reader_feed(reader, line.data, line.length, count, &found);
    assert_int_equal(found, 1);
    buf_truncate(&line, 0);
    for (int i = 0; i < 4097; i++)
        buf_add_string(&line, "a=1 ");
    buf_add_string(&line, "b=1\n");
    metric_reader_feed(reader, line.data, line.length, count, &found);
    assert_int_equal(found, 1 + 1);
    buf_clear(&line);
    metric_reader_destroy(reader);
    metric_rules_destroy(rules);
}

static void test_metrics__a_regex_is_bounded(void **state)
{
    char pattern[4098] = "(";
    const struct metric_rule rule = {"a", pattern};
    struct metric_rules *rules;
    struct err err;

    (void)state;
    memset(pattern + 1, 'x', 4096);
    pattern[4096] = ')';
    assert_null(metric_rules_create(&rule, 1, &err));
    assert_string_equal(err.text,
                        "the regular expression is longer than 4096 bytes");
    memcpy(pattern + 4095, ")", 2);
    rules = metric_rules_create(&rule, 1, &err);
    assert_non_null(rules);
    metric_rules_destroy(rules);
}

static void test_metrics__a_runaway_regex_is_stopped(void **state)
{
    static const struct metric_rule list[] = {{"x", "(?:a+)+b|([0-9])$"}};
    struct metric_rules *rules = metric_rules_create(list, 1, NULL);
    char *line = long_line("", 60000, "!");
    char *actual;

    (void)state;
    assert_reads_by(rules, "aaa 1", 5, "x@1=1");
    /* within the limits of a bare PCRE2 it would be found */
    assert_reads_by(rules, "aaaaaaaaaaaaaaaaaaaa 1", 22, "");
    memset(line, 'a', 59999);
    actual = read_split(rules, line, 60000, 0);
    assert_string_equal(actual, "");
    free(actual);
    free(line);
    metric_rules_destroy(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics__long_lines_are_cut),
        cmocka_unit_test(test_metrics__a_line_of_one_word_may_be_cut_whole),
        cmocka_unit_test(test_metrics__names_are_bounded),
        cmocka_unit_test(test_metrics__numbers_and_lines_are_bounded),
        cmocka_unit_test(test_metrics__a_regex_is_bounded),
        cmocka_unit_test(test_metrics__a_runaway_regex_is_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
