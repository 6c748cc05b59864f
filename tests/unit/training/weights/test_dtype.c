/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/weights/dtype.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"

static float decoded(enum dtype dtype, uint16_t bits)
{
    float number;

    dtype_decode(dtype, &bits, 1, &number);
    return number;
}

static uint16_t encoded(enum dtype dtype, float number)
{
    uint16_t bits;

    dtype_encode(dtype, &number, 1, &bits);
    return bits;
}

/* By IEEE 754, binary16: the smallest and largest of each kind. */
static void test_dtype__f16_by_hand(void **state)
{
    static const struct {
        uint16_t bits;
        float number;
    } cases[] = {
        {0x0000, 0.0F},
        {0x0001, 0x1p-24F},
        {0x03ff, 0x3ffp-24F},
        {0x0400, 0x1p-14F},
        {0x3c00, 1.0F},
        {0x3c01, 0x1.004p0F},
        {0xc000, -2.0F},
        {0x7bff, 65504.0F},
        {0x3555, 0x1.554p-2F},
        {0x7c00, (float)INFINITY},
        {0xfc00, -(float)INFINITY},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(decoded(DTYPE_F16, cases[i].bits) == cases[i].number);
        assert_int_equal(encoded(DTYPE_F16, cases[i].number), cases[i].bits);
    }
}

static void test_dtype__every_number_of_two_bytes_comes_back(void **state)
{
    static const enum dtype dtypes[] = {DTYPE_F16, DTYPE_BF16};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(dtypes); i++)
        for (uint32_t bits = 0; bits <= 0xffff; bits++) {
            float number = decoded(dtypes[i], (uint16_t)bits);
            uint16_t again = encoded(dtypes[i], number);

            if (isnan(number))
                assert_true(isnan(decoded(dtypes[i], again)));
            else
                assert_int_equal(again, bits);
        }
}

/* Between two numbers the nearer one, in the middle the even one. */
static void test_dtype__rounds_to_the_nearest(void **state)
{
    static const struct {
        enum dtype dtype;
        float number;
        uint16_t bits;
    } cases[] = {
        {DTYPE_F16, 0x1.002p0F, 0x3c00},
        {DTYPE_F16, 0x1.006p0F, 0x3c02},
        {DTYPE_F16, 0x1.00201p0F, 0x3c01},
        {DTYPE_F16, 0x1p-25F, 0x0000},
        {DTYPE_F16, 0x1.8p-24F, 0x0002},
        {DTYPE_F16, 0x1.01p-25F, 0x0001},
        {DTYPE_F16, 0x3ff.8p-24F, 0x0400},
        {DTYPE_F16, 65519.0F, 0x7bff},
        {DTYPE_F16, 65520.0F, 0x7c00},
        {DTYPE_F16, 1e30F, 0x7c00},
        {DTYPE_F16, -1e-30F, 0x8000},
        {DTYPE_BF16, 0x1.01p0F, 0x3f80},
        {DTYPE_BF16, 0x1.03p0F, 0x3f82},
        {DTYPE_BF16, 0x1.0101p0F, 0x3f81},
        {DTYPE_BF16, 0x1.fffffep127F, 0x7f80},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(encoded(cases[i].dtype, cases[i].number),
                         cases[i].bits);
}

static void test_dtype__has_the_names_of_the_format(void **state)
{
    (void)state;
    for (int i = 0; i < DTYPE_COUNT; i++)
        assert_int_equal(dtype_find(dtype_name((enum dtype)i)), i);
    assert_int_equal(dtype_find("f32"), DTYPE_COUNT);
    assert_int_equal(dtype_bytes(DTYPE_BF16), 2);
    assert_true(dtype_is_float(DTYPE_F32));
    assert_false(dtype_is_float(DTYPE_I32));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtype__f16_by_hand),
        cmocka_unit_test(test_dtype__every_number_of_two_bytes_comes_back),
        cmocka_unit_test(test_dtype__rounds_to_the_nearest),
        cmocka_unit_test(test_dtype__has_the_names_of_the_format),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
