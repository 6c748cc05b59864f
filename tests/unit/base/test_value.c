/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/value.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

static void test_value__prints_as_a_command_line_shows_it(void **state)
{
    static const struct {
        struct value value;
        const char *expected;
    } cases[] = {
        {{.type = VALUE_NULL}, ""},
        {{.type = VALUE_BOOL, .boolean = true}, "true"},
        {{.type = VALUE_BOOL, .boolean = false}, "false"},
        {{.type = VALUE_INT, .integer = INT64_MIN}, "-9223372036854775808"},
        {{.type = VALUE_REAL, .real = 0.1}, "0.1"},
        {{.type = VALUE_REAL, .real = 1e-4}, "0.0001"},
        {{.type = VALUE_REAL, .real = 128}, "128"},
        {{.type = VALUE_REAL, .real = 1.0 / 3}, "0.3333333333333333"},
        {{.type = VALUE_REAL, .real = 5e-324}, "4.94065645841247e-324"},
        {{.type = VALUE_REAL, .real = -INFINITY}, "-inf"},
        {{.type = VALUE_REAL, .real = NAN}, "nan"},
        {{.type = VALUE_TEXT, .text = "a b"}, "a b"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = BUF_INIT;

        value_print(&cases[i].value, &out);
        assert_string_equal(buf_text(&out), cases[i].expected);
        buf_clear(&out);
    }
}

static void test_value__an_argument_keeps_the_form_of_a_number(void **state)
{
    static const struct {
        struct value value;
        const char *expected;
    } cases[] = {
        {{.type = VALUE_NULL}, ""},
        {{.type = VALUE_INT, .integer = 4}, "4"},
        {{.type = VALUE_REAL, .real = 4}, "4.0"},
        {{.type = VALUE_REAL, .real = -0.0}, "-0.0"},
        {{.type = VALUE_REAL, .real = 0.1}, "0.1"},
        {{.type = VALUE_REAL, .real = 1e-5}, "1e-05"},
        {{.type = VALUE_REAL, .real = 1e14}, "100000000000000.0"},
        {{.type = VALUE_REAL, .real = INFINITY}, "inf"},
        {{.type = VALUE_REAL, .real = NAN}, "nan"},
        {{.type = VALUE_TEXT, .text = "4"}, "4"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = BUF_INIT;

        value_print_argument(&cases[i].value, &out);
        assert_string_equal(buf_text(&out), cases[i].expected);
        buf_clear(&out);
    }
}

static void test_value__real_reads_back_to_the_same_double(void **state)
{
    uint64_t bits = 88172645463325252u;
    char text[32];
    double real;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&real, &bits, sizeof(real));
        if (!isfinite(real))
            continue;
        value_format_real(real, text, sizeof(text));
        assert_true(strtod(text, NULL) == real);
    }
}

static void test_value__equal_means_same_type_and_content(void **state)
{
    struct value nan = value_real(NAN), one = value_int(1);
    struct value real = value_real(1), truth = value_bool(true);
    char copy[] = "sgd";
    struct value a = value_text("sgd"), b = value_text(copy);
    struct value null = value_null(), adam = value_text("adam");

    (void)state;
    assert_true(value_equal(&nan, &nan));
    assert_true(value_equal(&null, &null));
    assert_true(value_equal(&a, &b));
    assert_true(value_equal(&truth, &truth));
    assert_true(value_equal(&one, &one));
    assert_true(value_equal(&real, &real));
    assert_false(value_equal(&one, &real));
    assert_false(value_equal(&one, &truth));
    assert_false(value_equal(&real, &nan));
    assert_false(value_equal(&nan, &real));
    assert_false(value_equal(&a, &adam));
    assert_false(value_equal(&a, &null));
}

static void test_value__only_a_number_other_than_zero_is_true(void **state)
{
    static const struct {
        struct value value;
        bool truth;
    } cases[] = {
        {{.type = VALUE_NULL}, false},
        {{.type = VALUE_BOOL, .boolean = true}, true},
        {{.type = VALUE_BOOL, .boolean = false}, false},
        {{.type = VALUE_INT, .integer = -1}, true},
        {{.type = VALUE_INT, .integer = 0}, false},
        {{.type = VALUE_REAL, .real = 0.5}, true},
        {{.type = VALUE_REAL, .real = -0.0}, false},
        {{.type = VALUE_REAL, .real = NAN}, false},
        {{.type = VALUE_TEXT, .text = "1"}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(value_is_true(&cases[i].value), cases[i].truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value__prints_as_a_command_line_shows_it),
        cmocka_unit_test(test_value__an_argument_keeps_the_form_of_a_number),
        cmocka_unit_test(test_value__real_reads_back_to_the_same_double),
        cmocka_unit_test(test_value__equal_means_same_type_and_content),
        cmocka_unit_test(test_value__only_a_number_other_than_zero_is_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
