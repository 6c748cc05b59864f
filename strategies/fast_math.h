/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_FAST_MATH_H
#define SMTUNE_STRATEGIES_FAST_MATH_H

#include <stdint.h>
#include <string.h>

/*
 * Functions for loops over many floats: without branches and calls, so that a
 * compiler turns them into vector instructions. Relative errors are below
 * 1e-6, of fast_erf absolute ones.
 */

static inline float float_of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline uint32_t bits_of_float(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* e^x for x <= 80; 0 from about -87 down. */
static inline float fast_exp(float x)
{
    float clamped = x < -87.0f ? -87.0f : x;
    /* 2^23 * 1.5 makes the sum round to a whole number */
    float whole = (clamped * 1.44269504f + 12582912.0f) - 12582912.0f;
    float r = (clamped - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float p = 1.0f / 720;

    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1;
    p = p * r + 1;
    p *= float_of_bits((uint32_t)((int32_t)whole + 127) << 23);
    return x < -87.0f ? 0 : p;
}

/* log x for normal x > 0: 2 artanh((m - 1) / (m + 1)) of the mantissa m in
 * [sqrt(1/2), sqrt(2)), as a series. */
static inline float fast_log(float x)
{
    uint32_t bits = bits_of_float(x) - 0x3f3504f3u;
    float m = float_of_bits((bits & 0x7fffffu) + 0x3f3504f3u);
    float exponent = (float)((int32_t)bits >> 23);
    float t = (m - 1) / (m + 1);
    float s = t * t;
    float p = 1.0f / 9;

    p = p * s + 1.0f / 7;
    p = p * s + 1.0f / 5;
    p = p * s + 1.0f / 3;
    p = p * s + 1;
    return exponent * 0.693147181f + 2 * t * p;
}

/* The error function for x >= 0: Abramowitz and Stegun, "Handbook of
 * mathematical functions" (1964), 7.1.26. */
static inline float fast_erf(float x)
{
    float t = 1 / (1 + 0.3275911f * x);
    float p = 1.061405429f;

    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    return 1 - p * t * fast_exp(-x * x);
}

#endif
