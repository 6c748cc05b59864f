/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "strategies/space/space.h"
#include "tests/unit/strategies/space/params.h"

/* What is refused as a parameter, and as a parameter's value. */

static const struct {
    struct param param;
    const char *message;
} impossible[] = {
    {FLOAT(2, 1, LINEAR), "min 2 is above max 1"},
    {FLOAT(3, 3, LINEAR), "min and max are both 3"},
    {FLOAT(0, INFINITY, LINEAR), "max inf is not a finite number"},
    {FLOAT(NAN, 1, LINEAR), "min nan is not a finite number"},
    {FLOAT(-1.5e308, 1.5e308, LINEAR), "too wide"},
    {FLOAT(0, 1, LOG), "scale log needs min > 0, not 0"},
    {FLOAT(-1, 1, LOG), "scale log needs min > 0, not -1"},
    {FLOAT(0, 1, REVERSE_LOG), "scale reverse_log needs max < 1, not 1"},
    {FLOAT(-0.1, 0.5, REVERSE_LOG), "scale reverse_log needs min >= 0"},
    {FLOAT(0, 0.5, LOGIT), "scale logit needs min > 0, not 0"},
    {FLOAT(0.5, 1, LOGIT), "scale logit needs max < 1, not 1"},
    {INT(0, 5, 0, LOGIT), "scale logit requires type float, not int"},
    {INT(0.5, 5, 0, LINEAR), "min 0.5 of an int is not a whole number"},
    {INT(0, 5.5, 0, LINEAR), "max 5.5 of an int is not a whole number"},
    {INT(0, 5, 0.5, LINEAR), "step 0.5 of an int is not a whole number"},
    {INT(0, 1e17, 0, LINEAR), "beyond 9007199254740992"},
    {STEPPED(0, 1, -0.1, LINEAR), "step -0.1 is not positive"},
    {STEPPED(0, 1, NAN, LINEAR), "step nan is not positive"},
    {STEPPED(0, 1, 2, LINEAR), "step 2 is wider than the range from 0 to 1"},
    {STEPPED(0, 1, 0.3, LINEAR), "step 0.3 does not fit: from 0 it reaches "
                                 "0.9, not max 1"},
    {STEPPED(0, 1, 1e-13, LINEAR), "too fine"},
    {INT(1, 0x1p53, 0, LOG), "step 1 is too fine for values as large"},
    {FLOAT(1, 1 + 1e-12, LOG), "too narrow for scale log"},
    {INT(0, 10, 4, LINEAR), "step 4 does not fit: from 0 it reaches 8, not"},
    {{.kind = PARAM_CATEGORICAL}, "missing values"},
    {{.kind = PARAM_CATEGORICAL, .values = words, .value_count = 1},
     "'values' has only one value"},
    {{.kind = PARAM_CATEGORICAL,
      .values = (const struct value[]){{.type = VALUE_INT, .integer = 1},
                                       {.type = VALUE_TEXT, .text = "b"},
                                       {.type = VALUE_TEXT, .text = "1"}},
      .value_count = 3},
     "duplicate value '1'"},
    {{.kind = PARAM_ORDINAL,
      .values = (const struct value[]){{.type = VALUE_INT, .integer = 1},
                                       {.type = VALUE_NULL}},
      .value_count = 2},
     "value 2 is null"},
    {{.kind = PARAM_BOOL, .step = 1}, "a bool has no step"},
    {{.kind = PARAM_BOOL, .scale = SCALE_LOG}, "a bool has no scale"},
};

static void test_param_check__impossible_ones_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(impossible); i++) {
        struct err err = {0};

        assert_int_equal(param_check(&impossible[i].param, &err), -1);
        assert_int_equal(err.kind, ERR_FILE);
        if (strstr(err.text, impossible[i].message) == NULL)
            fail_msg("'%s' is not in '%s'", impossible[i].message, err.text);
    }
}

static const struct param coerced_float = FLOAT(0, 1, LINEAR);
static const struct param coerced_step = STEPPED(0, 1, 0.1, LINEAR);
static const struct param coerced_int = INT(0, 100, 5, LINEAR);
static const struct param coerced_bool = {.kind = PARAM_BOOL};
static const struct param coerced_words = {
    .kind = PARAM_CATEGORICAL, .values = words, .value_count = 5};

#define TEXT(t)                                                                \
    {                                                                          \
        .type = VALUE_TEXT, .text = (t)                                        \
    }
#define REAL(r)                                                                \
    {                                                                          \
        .type = VALUE_REAL, .real = (r)                                        \
    }
#define WHOLE(i)                                                               \
    {                                                                          \
        .type = VALUE_INT, .integer = (i)                                      \
    }
#define TRUTH(b)                                                               \
    {                                                                          \
        .type = VALUE_BOOL, .boolean = (b)                                     \
    }
#define NOTHING                                                                \
    {                                                                          \
        .type = VALUE_NULL                                                     \
    }

static const struct {
    const struct param *param;
    struct value from, to; /* to null: refused */
} coercions[] = {
    {&coerced_float, TEXT("0.25"), REAL(0.25)},
    {&coerced_float, WHOLE(1), REAL(1)},
    {&coerced_float, TEXT("1.5"), NOTHING},
    {&coerced_float, TEXT("0.5x"), NOTHING},
    {&coerced_float, TEXT(""), NOTHING},
    {&coerced_float, TEXT("nan"), NOTHING},
    {&coerced_float, TRUTH(true), NOTHING},
    {&coerced_float, NOTHING, NOTHING},
    {&coerced_step, REAL(0.1 + 0.2), REAL(0.3)},
    {&coerced_step, REAL(0.35), NOTHING},
    {&coerced_int, REAL(15), WHOLE(15)},
    {&coerced_int, TEXT("20"), WHOLE(20)},
    {&coerced_int, WHOLE(21), NOTHING},
    {&coerced_int, REAL(20.000001), NOTHING},
    {&coerced_bool, WHOLE(0), TRUTH(false)},
    {&coerced_bool, TEXT("true"), TRUTH(true)},
    {&coerced_bool, TEXT("yes"), NOTHING},
    {&coerced_bool, WHOLE(2), NOTHING},
    {&coerced_words, TEXT("adam"), TEXT("adam")},
    {&coerced_words, TEXT("3"), WHOLE(3)},
    {&coerced_words, TEXT("true"), TRUTH(true)},
    {&coerced_words, REAL(0.5), REAL(0.5)},
    {&coerced_words, TEXT("Adam"), NOTHING},
};

static void test_param_check__coerces_what_comes_from_elsewhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(coercions); i++) {
        struct value to = value_null();
        int expected = coercions[i].to.type == VALUE_NULL ? -1 : 0;

        if (param_coerce(coercions[i].param, &coercions[i].from, &to) !=
                expected ||
            (expected == 0 && !value_equal(&to, &coercions[i].to)))
            fail_msg("coercion %zu is wrong", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_param_check__impossible_ones_are_refused),
        cmocka_unit_test(test_param_check__coerces_what_comes_from_elsewhere),
    };

    return cmocka_run_group_tests_name("param_check", tests, NULL, NULL);
}
