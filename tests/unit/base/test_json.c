/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/value.h"

static void assert_prints(json_t *json, const char *expected)
{
    struct buf out = BUF_INIT;

    assert_non_null(json);
    json_print(json, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
    json_decref(json);
}

static void test_json__prints_values_as_short_as_they_read_back(void **state)
{
    struct value values[] = {
        value_null(),     value_bool(true),      value_int(-7),
        value_real(0.1),  value_real(3),         value_real(1e300),
        value_real(NAN),  value_real(-INFINITY), value_text("a\"b\n"),
        value_text("µs"), value_bool(false),
    };
    const char *expected[] = {"null",          "true",   "-7",   "0.1",
                              "3.0",           "1e+300", "null", "null",
                              "\"a\\\"b\\n\"", "\"µs\"", "false"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_prints(json_from_value(&values[i]), expected[i]);
    assert_prints(json_from_text(NULL), "null");
}

static void test_json__any_real_comes_back(void **state)
{
    const double reals[] = {0.1, -3, INFINITY, -INFINITY, NAN};
    const char *expected[] = {"0.1", "-3.0", "\"inf\"", "\"-inf\"", "\"nan\""};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reals); i++) {
        json_t *json = json_from_any_real(reals[i]);
        double back = json_to_real(json);

        assert_prints(json, expected[i]);
        assert_true(back == reals[i] || (isnan(back) && isnan(reals[i])));
    }
    assert_true(isnan(json_to_real(json_null())));
    assert_true(isnan(json_to_real(NULL)));
}

static void test_json__escapes_bytes_that_are_not_utf8(void **state)
{
    (void)state;
    assert_prints(json_from_text("a\xff\xc3"), "\"a\\\\xff\\\\xc3\"");
}

/* In a key, too, and the same text for who reads it. The record has it as it
 * is, as smtune has always printed it. */
static void test_json__shows_escaped_what_a_terminal_would_obey(void **state)
{
    static const char text[] = "a\033\x7f\xc2\x9b\xe2\x80\xae\xd8\x9c\xc3\xa9"
                               "\xf0\x9f\x98\x80";
    json_t *json = json_object(), *again;
    struct buf out = BUF_INIT;

    (void)state;
    json_object_set_new(json, text, json_from_text(text));
    json_print(json, &out);
    assert_string_equal(buf_text(&out),
                        "{\"a\\u001B\x7f\xc2\x9b\xe2\x80\xae\xd8\x9c\xc3\xa9"
                        "\xf0\x9f\x98\x80\":"
                        "\"a\\u001B\x7f\xc2\x9b\xe2\x80\xae\xd8\x9c\xc3\xa9"
                        "\xf0\x9f\x98\x80\"}");
    buf_truncate(&out, 0);
    json_show(json, &out);
    assert_string_equal(
        buf_text(&out),
        "{\"a\\u001B\\u007F\\u009B\\u202E\\u061C\xc3\xa9\xf0\x9f\x98\x80\":"
        "\"a\\u001B\\u007F\\u009B\\u202E\\u061C\xc3\xa9\xf0\x9f\x98\x80\"}");
    again = json_parse(buf_text(&out), out.length, NULL);
    assert_true(json_equal(json, again));
    buf_clear(&out);
    json_decref(again);
    json_decref(json);
}

static void test_json__what_stands_for_none_is_null(void **state)
{
    (void)state;
    assert_prints(json_int_unless(7, 0), "7");
    assert_prints(json_int_unless(0, 0), "null");
    assert_prints(json_int_unless(0, -1), "0");
    assert_prints(json_int_unless(-1, -1), "null");
    assert_prints(json_text_unless_empty("a"), "\"a\"");
    assert_prints(json_text_unless_empty(""), "null");
    assert_prints(json_text_unless_empty(NULL), "null");
}

static void test_json__keeps_the_order_of_keys(void **state)
{
    const char *text = "{\"z\":1,\"a\":[1.5,[],{}],\"m\":{\"k\":null}}";

    (void)state;
    assert_prints(json_parse(text, strlen(text), NULL), text);
}

static void test_json__pretty_is_indented_and_ends_in_a_newline(void **state)
{
    const char *text = "{\"a\":[1,2.5],\"b\":{},\"c\":{\"d\":\"x\"}}";
    json_t *json = json_parse(text, strlen(text), NULL);
    struct buf out = BUF_INIT;

    (void)state;
    json_print_pretty(json, &out);
    assert_string_equal(buf_text(&out), "{\n"
                                        "  \"a\": [\n"
                                        "    1,\n"
                                        "    2.5\n"
                                        "  ],\n"
                                        "  \"b\": {},\n"
                                        "  \"c\": {\n"
                                        "    \"d\": \"x\"\n"
                                        "  }\n"
                                        "}\n");
    buf_clear(&out);
    json_decref(json);
}

static void test_json__error_has_a_place(void **state)
{
    static const struct {
        const char *text;
        int line, column;
        const char *part;
    } cases[] = {
        {"", 1, 1, "not valid JSON"},
        {"{\"a\":1,\n \"b\":}", 2, 6, "not valid JSON"},
        {"{\"a\":1,\"a\":2}", 1, 10, "duplicate"},
        {"[1] [2]", 1, 5, "not valid JSON"},
        {"{\"a\":nan}", 1, 8, "not valid JSON"},
        {"\"a\x01\"", 1, 2, "control character"},
        {"1e999", 1, 5, "overflow"},
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_null(json_parse(cases[i].text, strlen(cases[i].text), &err));
        assert_int_equal(err.kind, ERR_FILE);
        assert_non_null(strstr(err.text, cases[i].part));
        assert_null(strchr(err.text, '\n'));
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
    }
    assert_null(json_parse("[", 1, NULL));
}

static void test_json__depth_is_bounded_outside_strings(void **state)
{
    char deep[2 * 65 + 1], text[] = "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
                                    "[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[[[\"";
    struct err err;
    json_t *json;

    (void)state;
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    assert_null(json_parse(deep, 130, &err));
    assert_int_equal(err.column, 65);
    assert_null(json_parse(deep, 130, NULL));
    json = json_parse(deep + 1, 128, &err);
    assert_non_null(json);
    json_decref(json);
    json = json_parse(text, strlen(text), &err);
    assert_true(json_is_string(json));
    json_decref(json);
}

static void test_json__size_is_bounded(void **state)
{
    size_t length = (1 << 20) + 1;
    char *text = mem_alloc(length);
    struct err err;
    json_t *json;

    (void)state;
    memset(text, ' ', length);
    text[0] = '1';
    assert_null(json_parse(text, length, &err));
    json = json_parse(text, length - 1, &err);
    assert_int_equal(json_integer_value(json), 1);
    json_decref(json);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__prints_values_as_short_as_they_read_back),
        cmocka_unit_test(test_json__any_real_comes_back),
        cmocka_unit_test(test_json__escapes_bytes_that_are_not_utf8),
        cmocka_unit_test(test_json__shows_escaped_what_a_terminal_would_obey),
        cmocka_unit_test(test_json__what_stands_for_none_is_null),
        cmocka_unit_test(test_json__keeps_the_order_of_keys),
        cmocka_unit_test(test_json__pretty_is_indented_and_ends_in_a_newline),
        cmocka_unit_test(test_json__error_has_a_place),
        cmocka_unit_test(test_json__depth_is_bounded_outside_strings),
        cmocka_unit_test(test_json__size_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
