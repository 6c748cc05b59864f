/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/each/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"

/* Cells in brackets, with the number of the line before them; or the error. */
static char *show(const char *text, size_t length, bool is_tsv)
{
    struct buf out = BUF_INIT;
    struct err err;
    struct csv csv;
    int found;

    csv_begin(&csv, text, length, is_tsv);
    while ((found = csv_next(&csv, &err)) > 0) {
        buf_printf(&out, "%zu", csv.first_line);
        for (size_t i = 0; i < csv.count; i++)
            buf_printf(&out, "[%s]", csv_cell(&csv, i));
    }
    if (found < 0)
        buf_printf(&out, "error: %s", err.text);
    csv_clear(&csv);
    buf_add_string(&out, "");
    return buf_take(&out);
}

static void test_csv__records(void **state)
{
    static const struct {
        const char *text;
        bool is_tsv;
        const char *expected;
    } cases[] = {
        {"", false, ""},
        {"a", false, "1[a]"},
        {"a\n", false, "1[a]"},
        {"a,b\r\nc,d\r\n", false, "1[a][b]2[c][d]"},
        {"a,\n,b", false, "1[a][]2[][b]"},
        {",", false, "1[][]"},
        {"\n\na", false, "1[]2[]3[a]"},
        {"a\r", false, "1[a]"},
        {"a\rb", false, "1[a\rb]"},
        {"\"a,b\",\"c\"\"d\"\n", false, "1[a,b][c\"d]"},
        {"\"a\nb\",c\nd,e", false, "1[a\nb][c]3[d][e]"},
        {"\"a\r\nb\"\r\nc", false, "1[a\r\nb]3[c]"},
        {"\"\",\"\"", false, "1[][]"},
        {"a\"b,c", false, "1[a\"b][c]"},
        {" \"a\"", false, "1[ \"a\"]"},
        {"a\tb,c\n\"d\"\te", true, "1[a][b,c]2[\"d\"][e]"},
        {"\"a\nb", false, "error: line 1: a double quote that is not closed"},
        {"x\n\"a\"b", false,
         "1[x]error: line 2: text behind the closing quote of a cell (a quote "
         "in a cell is doubled)"},
        {"\"", false, "error: line 1: a double quote that is not closed"},
        {"\"\"\"", false, "error: line 1: a double quote that is not closed"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *shown =
            show(cases[i].text, strlen(cases[i].text), cases[i].is_tsv);

        assert_string_equal(shown, cases[i].expected);
        free(shown);
    }
}

static void test_csv__nul(void **state)
{
    char *shown = show("a\nb\0c\n", 6, false);

    (void)state;
    assert_string_equal(shown, "1[a]error: line 2: it contains a NUL byte");
    free(shown);
}

static void test_csv__record_as_written(void **state)
{
    static const char text[] = "\"a\nb\", c\r\nd";
    struct csv csv;

    (void)state;
    csv_begin(&csv, text, strlen(text), false);
    assert_int_equal(csv_next(&csv, NULL), 1);
    assert_int_equal(csv.length, strlen("\"a\nb\", c"));
    assert_ptr_equal(csv.start, text);
    csv_clear(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv__records),
        cmocka_unit_test(test_csv__nul),
        cmocka_unit_test(test_csv__record_as_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
