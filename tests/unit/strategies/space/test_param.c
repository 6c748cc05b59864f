/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/space/space.h"
#include "tests/unit/strategies/space/params.h"

/* Property tests: each property must hold for many random parameters of each
 * shape, and for the awkward ones of a table. */

enum { PARAMS_PER_SHAPE = 200 };

static const struct param awkward[] = {
    FLOAT(1e-300, 1e300, LINEAR),
    FLOAT(1e-300, 1e300, LOG),
    FLOAT(-8e307, 8e307, LINEAR),
    FLOAT(5e-324, 1e-300, LOG),
    FLOAT(-3, -1, LINEAR),
    FLOAT(0, 0.999, REVERSE_LOG),
    FLOAT(0, 1 - 0x1p-53, REVERSE_LOG),
    FLOAT(1e-300, 0.5, LOGIT),
    FLOAT(0.001, 1 - 0x1p-53, LOGIT),
    FLOAT(0.1, 0.3, LINEAR),
    STEPPED(0, 1, 0.1, LINEAR),
    STEPPED(-0.3, 0.3, 0.1, LINEAR),
    STEPPED(0.1, 0.9, 0.1, LOGIT),
    STEPPED(0, 0.9, 0.1, REVERSE_LOG),
    STEPPED(0.1, 0.9, 0.4, LOGIT),
    STEPPED(0, 0.9, 0.3, REVERSE_LOG),
    STEPPED(1e-5, 1e-3, 1e-5, LOG),
    STEPPED(0.5, 2.5, 1, LOG),
    STEPPED(1e300, 9e300, 1e300, LOG),
    INT(-5, 5, 0, LINEAR),
    INT(0, 1, 0, LINEAR),
    INT(-0x1p53, 0x1p53, 0x1p30, LINEAR),
    INT(0x1p53 - 10, 0x1p53, 0, LINEAR),
    INT(-0x1p53, -0x1p53 + 10, 0, LINEAR),
    INT(1e12 - 2000, 1e12, 0, LOG),
    FLOAT(1, 1 + 1e-8, LOG),
    INT(1, 2, 0, LOG),
    INT(1, 1000000, 0, LOG),
    INT(1, 9, 2, LOG),
    INT(1, 1025, 64, LOG),
    {.name = "x", .kind = PARAM_BOOL},
    {.name = "x", .kind = PARAM_CATEGORICAL, .values = words, .value_count = 5},
    {.name = "x", .kind = PARAM_ORDINAL, .values = words, .value_count = 3},
    {.name = "x", .kind = PARAM_CONST, .values = words, .value_count = 1},
};

static double power_of_ten(struct rng *rng, double from, double to)
{
    return pow(10, from + rng_uniform(rng) * (to - from));
}

static struct param random_float(struct rng *rng)
{
    struct param param = FLOAT(0, 1, LINEAR);
    double sign = rng_below(rng, 2) ? -1 : 1;

    param.min = sign * power_of_ten(rng, -300, 300);
    param.max = param.min + power_of_ten(rng, -3, 5) * fabs(param.min);
    return param;
}

static struct param random_log(struct rng *rng)
{
    struct param param = FLOAT(0, 1, LOG);

    param.min = power_of_ten(rng, -300, 290);
    param.max = param.min * power_of_ten(rng, 0.1, 10);
    return param;
}

static struct param random_reverse_log(struct rng *rng)
{
    struct param param = FLOAT(0, 1, REVERSE_LOG);

    param.min = rng_below(rng, 3) ? rng_uniform(rng) * 0.8 : 0;
    param.max = 1 - power_of_ten(rng, -12, -1);
    return param;
}

static struct param random_logit(struct rng *rng)
{
    struct param param = FLOAT(0, 1, LOGIT);

    param.min = power_of_ten(rng, -12, -0.5);
    param.max = 1 - power_of_ten(rng, -12, -0.5);
    return param;
}

static struct param random_int(struct rng *rng)
{
    struct param param = INT(0, 1, 0, LINEAR);
    double reach = floor(power_of_ten(rng, 0, 12));

    param.min = floor((rng_uniform(rng) - 0.5) * 2 * reach);
    param.max = param.min + 1 + (double)rng_below(rng, (uint64_t)reach);
    return param;
}

static struct param random_int_step(struct rng *rng)
{
    struct param param = random_int(rng);

    param.step = 1 + (double)rng_below(rng, 1000);
    param.max = param.min + param.step * (double)(1 + rng_below(rng, 3000));
    return param;
}

static struct param random_int_log(struct rng *rng)
{
    struct param param = INT(0, 1, 0, LOG);

    param.min = floor(power_of_ten(rng, 0, 6));
    param.max = param.min + 1 + (double)rng_below(rng, 1000000);
    if (rng_below(rng, 2)) {
        param.step = 1 + (double)rng_below(rng, 100);
        param.max = param.min + param.step * (double)(1 + rng_below(rng, 500));
    }
    return param;
}

static double decimal(long long digits, int exponent)
{
    char text[40];

    snprintf(text, sizeof(text), "%llde%d", digits, exponent);
    return strtod(text, NULL);
}

static struct param random_step(struct rng *rng)
{
    struct param param = STEPPED(0, 1, 1, LINEAR);
    long long step = 1 + (long long)rng_below(rng, 99);
    long long first = (long long)rng_below(rng, 2000) - 1000;
    long long count = 1 + (long long)rng_below(rng, 300);
    int exponent = (int)rng_below(rng, 12) - 8;

    param.step = decimal(step, exponent);
    param.min = decimal(first, exponent);
    param.max = decimal(first + count * step, exponent);
    return param;
}

static struct param random_step_log(struct rng *rng)
{
    struct param param = random_step(rng);
    double shift = param.min <= 0 ? -param.min : 0;

    param.scale = SCALE_LOG;
    param.min += shift + param.step;
    param.max += shift + param.step;
    return param;
}

static struct param (*const shapes[])(struct rng *rng) = {
    random_float,   random_log,  random_reverse_log,
    random_logit,   random_int,  random_int_step,
    random_int_log, random_step, random_step_log};

/* Calls the property for the awkward and for random parameters. */
static void for_all(void (*property)(const struct param *param,
                                     struct rng *rng))
{
    struct rng rng;

    rng_init(&rng, 20260101, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(awkward); i++) {
        struct err err = {0};

        if (param_check(&awkward[i], &err) < 0)
            fail_msg("awkward %zu: %s", i, err.text);
        property(&awkward[i], &rng);
    }
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        for (int j = 0; j < PARAMS_PER_SHAPE; j++) {
            struct param param = shapes[i](&rng);
            struct err err = {0};

            if (param_check(&param, &err) < 0)
                fail_msg("shape %zu: %s", i, err.text);
            property(&param, &rng);
        }
}

static bool is_number(const struct param *param)
{
    return param->kind == PARAM_FLOAT || param->kind == PARAM_INT;
}

static bool is_listed(const struct param *param, const struct value *value)
{
    for (size_t i = 0; i < param->value_count; i++)
        if (value_equal(&param->values[i], value))
            return true;
    return false;
}

static void check_type_and_bounds(const struct param *param, double u)
{
    struct value value = param_from_unit(param, u);

    if (is_number(param)) {
        assert_int_equal(value.type,
                         param->kind == PARAM_INT ? VALUE_INT : VALUE_REAL);
        assert_true(value_number(&value) >= param->min);
        assert_true(value_number(&value) <= param->max);
    } else if (param->kind == PARAM_BOOL) {
        assert_int_equal(value.type, VALUE_BOOL);
    } else {
        assert_true(is_listed(param, &value));
    }
}

static void within_bounds(const struct param *param, struct rng *rng)
{
    static const double edges[] = {0,   1,         0x1p-1074, 1 - 0x1p-53,
                                   0.5, 1 + 1e-15, -1,        2,
                                   NAN, INFINITY,  -INFINITY, -0.0};

    for (size_t i = 0; i < ARRAY_LEN(edges); i++)
        check_type_and_bounds(param, edges[i]);
    for (int i = 0; i < 200; i++)
        check_type_and_bounds(param, rng_uniform(rng));
}

static void ends_exact(const struct param *param, struct rng *rng)
{
    struct value low = param_from_unit(param, 0);
    struct value high = param_from_unit(param, 1);
    uint64_t n = param_cardinality(param);
    struct value first, last;

    (void)rng;
    if (is_number(param)) {
        assert_true(value_number(&low) == param->min);
        assert_true(value_number(&high) == param->max);
    }
    if (n > 0) {
        first = param_value_at(param, 0);
        last = param_value_at(param, n - 1);
        assert_true(value_equal(&low, &first));
        assert_true(value_equal(&high, &last));
    }
}

static void monotone(const struct param *param, struct rng *rng)
{
    double before = -INFINITY;

    (void)rng;
    if (!is_number(param))
        return;
    for (int i = 0; i <= 5000; i++) {
        struct value value = param_from_unit(param, i / 5000.0);

        assert_true(value_number(&value) >= before);
        before = value_number(&value);
    }
}

static void check_round_trip(const struct param *param, uint64_t k)
{
    struct value value = param_value_at(param, k);
    double u = param_to_unit(param, &value);
    struct value back = param_from_unit(param, u);

    if (!(u >= 0 && u <= 1) || !value_equal(&value, &back))
        fail_msg("%s %s %g..%g step %g: value %llu, %.17g, is at %.17g and "
                 "comes back as %.17g",
                 param_kind_names[param->kind], param_scale_names[param->scale],
                 param->min, param->max, param->step, (unsigned long long)k,
                 value_number(&value), u, value_number(&back));
}

static void round_trips(const struct param *param, struct rng *rng)
{
    uint64_t n = param_cardinality(param);

    for (uint64_t k = 0; k < n && k < 2000; k++)
        check_round_trip(param, k);
    for (int i = 0; i < 200 && n > 0; i++)
        check_round_trip(param, rng_below(rng, n));
    if (param->scale == SCALE_LOG && param->min < 1e-307)
        return; /* numbers this small have few digits */
    for (int i = 0; i < 200 && n == 0; i++) {
        double u = rng_uniform(rng);
        struct value value = param_from_unit(param, u);

        /* values next to 1 are coarse on the scales that stretch there */
        if (param->scale == SCALE_LINEAR || param->scale == SCALE_LOG)
            assert_true(fabs(param_to_unit(param, &value) - u) < 1e-7);
        else
            assert_true(fabs(param_to_unit(param, &value) - u) < 0.02);
    }
}

static void values_in_order(const struct param *param, struct rng *rng)
{
    uint64_t n = param_cardinality(param);

    (void)rng;
    if (n == 0 || !is_number(param))
        return;
    for (uint64_t k = 1; k < n && k < 5000; k++) {
        struct value before = param_value_at(param, k - 1);
        struct value value = param_value_at(param, k);

        assert_true(value_number(&before) < value_number(&value));
    }
}

/* m points in the middle of every 1/m of each share: m hits a value. */
static void equal_shares(const struct param *param, struct rng *rng)
{
    enum { M = 7, MOST = 3000 };
    uint64_t n = param_cardinality(param);

    (void)rng;
    if (n == 0 || n > MOST || param->scale != SCALE_LINEAR)
        return;
    for (uint64_t i = 0; i < n * M; i++) {
        struct value value =
            param_from_unit(param, ((double)i + 0.5) / (double)(n * M));
        struct value expected = param_value_at(param, i / M);

        assert_true(value_equal(&value, &expected));
    }
}

static void coerce_keeps_its_own_values(const struct param *param,
                                        struct rng *rng)
{
    for (int i = 0; i < 50; i++) {
        struct value value = param_from_unit(param, rng_uniform(rng));
        struct value same;

        assert_int_equal(param_coerce(param, &value, &same), 0);
        assert_true(value_equal(&value, &same));
    }
}

#define PROPERTY(name)                                                         \
    static void test_param__##name(void **state)                               \
    {                                                                          \
        (void)state;                                                           \
        for_all(name);                                                         \
    }
PROPERTY(within_bounds)
PROPERTY(ends_exact)
PROPERTY(monotone)
PROPERTY(round_trips)
PROPERTY(values_in_order)
PROPERTY(equal_shares)
PROPERTY(coerce_keeps_its_own_values)

static bool stands_for(const struct param *param, double u,
                       const struct value *value)
{
    struct value other = param_from_unit(param, u);

    return value_equal(&other, value);
}

static void check_share(const struct param *param, struct rng *rng)
{
    for (int i = 0; i < 20; i++) {
        double u = rng_uniform(rng), low, high, inside;
        struct value value = param_from_unit(param, u);

        param_share(param, u, &low, &high);
        inside = 0.02 * (high - low);
        if (param_cardinality(param) == 0)
            assert_true(low == u && high == u);
        if (high - low < 1e-6) /* as wide as rounding, or nearly so */
            continue;
        assert_true(u >= low - inside && u <= high + inside);
        assert_true(stands_for(param, low + inside, &value));
        assert_true(stands_for(param, high - inside, &value));
        assert_true(low <= 0 || !stands_for(param, low - inside, &value));
        assert_true(high >= 1 || !stands_for(param, high + inside, &value));
    }
}

static void test_param__share_is_all_that_stands_for_a_value(void **state)
{
    (void)state;
    for_all(check_share);
}

/* The share of every value of an int on a log scale is log((v + 1/2) /
 * (v - 1/2)): an even sweep of u must meet each that often, within one. */
static void test_param__log_int_shares_are_those_of_rounding(void **state)
{
    const struct param param = INT(1, 50, 0, LOG);
    enum { SWEEP = 1000000 };
    int count[51] = {0};
    double whole = log(50.5) - log(0.5);

    (void)state;
    for (int i = 0; i < SWEEP; i++) {
        struct value v = param_from_unit(&param, (i + 0.5) / SWEEP);

        count[v.integer]++;
    }
    for (int v = 1; v <= 50; v++) {
        double expected = SWEEP * log((v + 0.5) / (v - 0.5)) / whole;

        assert_true(fabs(count[v] - expected) <= 1.001);
    }
}

/* Half a step below 1 is not positive: 1 has as much below as above it. */
static void test_param__end_share_beyond_the_domain_is_mirrored(void **state)
{
    const struct param param = INT(1, 9, 2, LOG);
    double whole = log(10) - log(0.5);
    enum { SWEEP = 100000 };
    int ones = 0;

    (void)state;
    for (int i = 0; i < SWEEP; i++)
        ones += param_from_unit(&param, (i + 0.5) / SWEEP).integer == 1;
    assert_true(fabs(ones - SWEEP * 2 * log(2) / whole) <= 1.001);
}

static void test_param__scales_are_even_where_they_say(void **state)
{
    const struct param log_scale = FLOAT(1e-4, 1, LOG);
    const struct param reverse = FLOAT(0, 0.9999, REVERSE_LOG);
    const struct param logit = FLOAT(0.001, 0.999, LOGIT);
    struct value v;

    (void)state;
    v = param_from_unit(&log_scale, 0.5);
    assert_true(fabs(v.real - 1e-2) < 1e-15);
    v = param_from_unit(&reverse, 0.25); /* 1 - x: 1, 0.1, 0.01 ... */
    assert_true(fabs(v.real - 0.9) < 1e-12);
    v = param_from_unit(&reverse, 0.75);
    assert_true(fabs(v.real - 0.999) < 1e-12);
    v = param_from_unit(&logit, 0.5);
    assert_true(fabs(v.real - 0.5) < 1e-15);
    v = param_from_unit(&logit, 0.25);
    assert_true(fabs(v.real - 1 / (1 + sqrt(999))) < 1e-12);
}

static void test_param__steps_are_clean_decimals(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 5, 0, 0);
    for (int i = 0; i < 2000; i++) {
        long long step = 1 + (long long)rng_below(&rng, 99);
        long long first = (long long)rng_below(&rng, 2000) - 1000;
        int exponent = (int)rng_below(&rng, 30) - 20;
        struct param param = STEPPED(decimal(first, exponent),
                                     decimal(first + 100 * step, exponent),
                                     decimal(step, exponent), LINEAR);

        assert_int_equal(param_check(&param, NULL), 0);
        assert_int_equal(param_cardinality(&param), 101);
        for (int k = 0; k <= 100; k++)
            assert_true(param_value_at(&param, (uint64_t)k).real ==
                        decimal(first + k * step, exponent));
    }
}

static void test_param__cardinality_counts_values(void **state)
{
    const struct param one_to_ten = INT(1, 10, 0, LINEAR);
    const struct param eights = INT(16, 512, 8, LOG);
    const struct param tenths = STEPPED(0, 1, 0.1, LINEAR);
    const struct param real = FLOAT(0, 1, LINEAR);
    const struct param flag = {.kind = PARAM_BOOL};
    const struct param all = INT(-0x1p53, 0x1p53, 0, LINEAR);

    (void)state;
    assert_int_equal(param_cardinality(&one_to_ten), 10);
    assert_int_equal(param_cardinality(&eights), 63);
    assert_int_equal(param_cardinality(&tenths), 11);
    assert_int_equal(param_cardinality(&real), 0);
    assert_int_equal(param_cardinality(&flag), 2);
    assert_int_equal(param_cardinality(&all), (UINT64_C(1) << 54) + 1);
}

static void test_param__coerce_takes_what_means_the_same(void **state)
{
    const struct param real = FLOAT(1, 2, LINEAR);
    const struct param whole = INT(1, 9, 2, LINEAR);
    const struct param flag = {.name = "x", .kind = PARAM_BOOL};
    const struct param word = {
        .name = "x", .kind = PARAM_ORDINAL, .values = words, .value_count = 3};
    const struct {
        const struct param *param;
        struct value from;
        const char *text; /* NULL: it is none of its values */
    } cases[] = {
        {&real, value_int(2), "2"},
        {&real, value_text("1.5"), "1.5"},
        {&real, value_real(0.5), NULL},
        {&real, value_real(2.5), NULL},
        {&real, value_text("1.5s"), NULL},
        {&real, value_text(""), NULL},
        {&real, value_text("nan"), NULL},
        {&real, value_bool(true), NULL},
        {&real, value_null(), NULL},
        {&whole, value_real(3), "3"},
        {&whole, value_int(4), NULL},
        {&whole, value_int(0), NULL},
        {&whole, value_int(10), NULL},
        {&flag, value_bool(false), "false"},
        {&flag, value_int(0), "false"},
        {&flag, value_int(1), "true"},
        {&flag, value_int(2), NULL},
        {&flag, value_text("true"), "true"},
        {&flag, value_text("false"), "false"},
        {&flag, value_text("yes"), NULL},
        {&flag, value_real(1), NULL},
        {&word, words[1], "adam"},
        {&word, value_text("none of them"), NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf text = BUF_INIT;
        struct value to;

        if (param_coerce(cases[i].param, &cases[i].from, &to) != 0) {
            assert_null(cases[i].text);
            continue;
        }
        value_print(&to, &text);
        assert_non_null(cases[i].text);
        assert_string_equal(buf_text(&text), cases[i].text);
        buf_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_param__within_bounds),
        cmocka_unit_test(test_param__ends_exact),
        cmocka_unit_test(test_param__monotone),
        cmocka_unit_test(test_param__round_trips),
        cmocka_unit_test(test_param__values_in_order),
        cmocka_unit_test(test_param__equal_shares),
        cmocka_unit_test(test_param__coerce_keeps_its_own_values),
        cmocka_unit_test(test_param__coerce_takes_what_means_the_same),
        cmocka_unit_test(test_param__share_is_all_that_stands_for_a_value),
        cmocka_unit_test(test_param__log_int_shares_are_those_of_rounding),
        cmocka_unit_test(test_param__end_share_beyond_the_domain_is_mirrored),
        cmocka_unit_test(test_param__scales_are_even_where_they_say),
        cmocka_unit_test(test_param__steps_are_clean_decimals),
        cmocka_unit_test(test_param__cardinality_counts_values),
    };

    return cmocka_run_group_tests_name("param", tests, NULL, NULL);
}
