/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one function can do is bounded: no expression runs for seconds. */
#include "base/expr/bounded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/expr.h"

enum { TEXT_BYTES = 16000 };

static const char *const columns[] = {"a", "b", "n"};
static const struct expr_table table = {.columns = columns, .column_count = 3};

struct texts {
    struct expr_env *env;
    char a[TEXT_BYTES + 1]; /* of one letter */
    char b[TEXT_BYTES + 1]; /* half of it, and another letter */
};

static int setup(void **state)
{
    static struct texts texts;

    memset(texts.a, 'a', TEXT_BYTES);
    memset(texts.b, 'a', TEXT_BYTES / 2);
    texts.b[TEXT_BYTES / 2] = 'b';
    texts.env = expr_env_create(NULL);
    *state = &texts;
    return texts.env == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    struct texts *texts = *state;

    expr_env_destroy(texts->env);
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The value as text, or "error: why". */
static char *outcome(struct texts *texts, const char *text)
{
    struct err err = {0};
    struct expr *expr = expr_compile(texts->env, text, &table, 1, &err);
    struct value values[] = {value_text(texts->a), value_text(texts->b),
                             value_int(INT32_MAX)};
    struct buf out = BUF_INIT;
    struct value value;

    if (expr == NULL || expr_eval(expr, values, &value, &err) != 0)
        buf_printf(&out, "error: %s", err.text);
    else
        value_print(&value, &out);
    expr_destroy(expr);
    return buf_take(&out);
}

static void test_bounded__functions_are_those_of_sqlite(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"printf('%5.2f|%-4s|%%|%c|%03d', 1.5, 'ab', 'xyz', 7)",
         " 1.50|ab  |%|x|007"},
        {"printf('%.4c|%+d|%,d|%x', 'x', 5, 1234567, 255)",
         "xxxx|+5|1,234,567|ff"},
        {"format('%*d|%-*d|%.*f', 4, 7, 3, 8, 2, 3.14159)", "   7|8  |3.14"},
        {"printf('%*d', -3, 5)", "5  "},
        {"printf('%lld|%i|%n%s', 1, 2, 'x')", "1|2|x"},
        {"printf('%d|%s')", "0|"},
        {"printf('100%')", "100%"},
        {"printf('plain')", "plain"},
        {"printf(NULL) IS NULL", "1"},
        {"printf('%Q %q', 'it''s', 'it''s')", "'it''s' it''s"},
        {"'[' || trim('  x ') || ltrim(' y ') || rtrim(' z ') || ']'",
         "[xy  z]"},
        {"trim('abcba', 'ab') || ltrim('aab', 'a') || rtrim('baa', 'a')",
         "cbb"},
        {"trim(NULL) IS NULL", "1"},
        {"instr('hello', 'l') + instr(12345, 4)", "7"},
        {"replace('a-b-c', '-', '++')", "a++b++c"},
        {"'Abc' LIKE 'a%' AND 'Abc' GLOB 'A?c' AND 'x' NOT LIKE 'y'", "1"},
        {"'a%' LIKE 'a!%' ESCAPE '!' AND 'ab' NOT LIKE 'a!%' ESCAPE '!'", "1"},
        {"NULL LIKE 'a' IS NULL", "1"},
        {"length(printf('%16000s', 'x'))", "16000"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = outcome(*state, cases[i].text);

        if (strcmp(text, cases[i].expected) != 0)
            fail_msg("%s: %s", cases[i].text, text);
        free(text);
    }
}

static void assert_refused(struct texts *texts, const char *text,
                           const char *part)
{
    int64_t start_ms = now_ms();
    char *found = outcome(texts, text);

    if (strncmp(found, "error: ", 7) != 0 || strstr(found, part) == NULL)
        fail_msg("%.80s: %.200s", text, found);
    free(found);
    assert_true(now_ms() - start_ms < 1000);
}

static void test_bounded__a_format_has_no_huge_width(void **state)
{
    static const char *const formats[] = {
        "printf('%.2147483647c', 'x')",
        "format('%2147483647d', 1)",
        "printf('%.2147483647d', 1)",
        "printf('%.2147483647f', 1)",
        "printf('%99999999999999999999d', 1)",
        "printf('%.*c', n, 'x')",
        "printf('%.*c', -n, 'x')",
        "printf('%*d', -9223372036854775807 - 1, 1)",
        "printf('%s %% %d %.*c', 'a', 1, '2147483647', 'x')",
        "printf(replace('%.0c', '0', n), 'x')",
        "printf('%8192d%8193d', 1, 1)",
    };

    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        assert_refused(*state, formats[i],
                       "the widths and precisions of a format add up to more "
                       "than 16384");
    assert_refused(*state, "printf('%y%.2147483647c', 'x')",
                   "unknown conversion in a format");
}

static char *repeat(const char *part, size_t count)
{
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i > 0 ? "+" : "", part);
    return buf_take(&text);
}

static void test_bounded__an_evaluation_compares_only_so_much(void **state)
{
    static const char *const once[] = {
        "trim(a, b)",
        "ltrim(a, b)",
        "rtrim(a, b)",
        "trim(printf('%16000s', 'z'), replace(printf('%8000s', ''), ' ', 'y') "
        "|| 'z')",
    };
    static const char *const often[] = {
        "instr(a, b)",
        "length(replace(a, b, ''))",
        "(a LIKE '%aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab%')",
        "(a GLOB '*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*[b]*')",
    };

    for (size_t i = 0; i < ARRAY_LEN(once); i++)
        assert_refused(*state, once[i], "compares more than 2000000");
    for (size_t i = 0; i < ARRAY_LEN(often); i++) {
        char *text = repeat(often[i], 50);

        assert_refused(*state, text, "compares more than 2000000");
        free(text);
    }
}

/* Texts that no list of names and no log line of a run comes near to. */
static void test_bounded__leaves_room_for_long_texts(void **state)
{
    static const char *const cases[] = {
        "instr(a, 'some-name.csv')",
        "length(replace(a, 'some', 'other'))",
        "trim(a, ' ') = a",
        "a LIKE '%some%name%.csv'",
        "instr(a, 'x') + instr(a, 'y') + instr(b, 'z') + length(trim(b))",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = outcome(*state, cases[i]);

        if (strstr(text, "error") != NULL)
            fail_msg("%s: %s", cases[i], text);
        free(text);
    }
}

/* The charge is that of one evaluation, not of all. */
static void test_bounded__each_evaluation_begins_anew(void **state)
{
    struct texts *texts = *state;
    struct expr *expr =
        expr_compile(texts->env, "a LIKE '%bb%bb%bb%'", &table, 1, NULL);
    struct value values[] = {value_text(texts->a), value_text(texts->b),
                             value_int(1)};
    struct value value;

    assert_non_null(expr);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(expr_eval(expr, values, &value, NULL), 0);
        assert_int_equal(value.integer, 0);
    }
    expr_destroy(expr);
}

/* Outside of an expression no limit on arguments protects the table of
 * statements. */
static void test_bounded__refuses_more_arguments_than_it_has_room_for(
    void **state)
{
    struct bounded *bounded = bounded_create();
    struct buf sql = BUF_INIT;
    sqlite3 *db = NULL;
    char *message = NULL;

    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(bounded_add(bounded, db), SQLITE_OK);
    buf_add_string(&sql, "SELECT printf('%d'");
    for (int i = 0; i < 40; i++)
        buf_add_string(&sql, ", 1");
    buf_add_string(&sql, ")");
    assert_int_equal(sqlite3_exec(db, buf_text(&sql), NULL, NULL, &message),
                     SQLITE_ERROR);
    assert_string_equal(message, "too many arguments");
    sqlite3_free(message);
    assert_int_equal(sqlite3_exec(db, "SELECT printf()", NULL, NULL, NULL),
                     SQLITE_OK);
    buf_clear(&sql);
    sqlite3_close(db);
    bounded_destroy(bounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounded__functions_are_those_of_sqlite),
        cmocka_unit_test(test_bounded__a_format_has_no_huge_width),
        cmocka_unit_test(test_bounded__an_evaluation_compares_only_so_much),
        cmocka_unit_test(test_bounded__leaves_room_for_long_texts),
        cmocka_unit_test(test_bounded__each_evaluation_begins_anew),
        cmocka_unit_test(
            test_bounded__refuses_more_arguments_than_it_has_room_for),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
