/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_FAST_MATH_H
#define SMTUNE_TRAINING_UTIL_FAST_MATH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "training/util/real.h"

/*
 * Arithmetic for loops over many numbers, in forms that compilers turn into
 * SIMD without leave to reorder or to forget NaN. In double precision it is
 * the C library's.
 */

/* Sums and maxima are made in so many lanes, and these are joined at the end,
 * so that the result is the same whatever the processor's width. */
enum { LANES = 16 };

#ifdef SMTRAIN_DOUBLE
static inline real fast_exp(real x)
{
    return exp(x);
}
#else
/*
 * e^x with a relative error under 2e-7; of x under -87 or over 88 that of the
 * bound; NaN of NaN. x = n ln 2 + r with |r| <= ln 2 / 2, and e^r by the
 * polynomial of degree 6 of Cephes (Moshier, 1989); ln 2 is taken off in two
 * parts (Cody and Waite, 1980).
 */
static inline real fast_exp(real x)
{
    const real shifter = 12582912.0F; /* 1.5 * 2^23: adding it rounds */
    real shifted, n, r, p;
    uint32_t bits;

    x = x < -87.0F ? -87.0F : x;
    x = x > 88.0F ? 88.0F : x;
    shifted = x * 1.44269504F + shifter;
    n = shifted - shifter;
    r = x - n * 0.693359375F;
    r = r + n * 2.12194440e-4F;
    p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    __builtin_memcpy(&bits, &shifted, sizeof(bits));
    bits = (bits << 23) + (127U << 23);
    __builtin_memcpy(&n, &bits, sizeof(n));
    return p * n;
}
#endif

static inline real fast_sum(const real *x, size_t count)
{
    real lanes[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += x[i + lane];
    for (; i < count; i++)
        sum += x[i];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

static inline real fast_dot(const real *x, const real *y, size_t count)
{
    real lanes[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += x[i + lane] * y[i + lane];
    for (; i < count; i++)
        sum += x[i] * y[i];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

/* The largest; a NaN may or may not be passed over. count > 0. */
static inline real fast_max(const real *x, size_t count)
{
    real lanes[LANES], largest = x[0];
    size_t i = 0;

    for (size_t lane = 0; lane < LANES; lane++)
        lanes[lane] = x[0];
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
    for (; i < count; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (size_t lane = 0; lane < LANES; lane++)
        largest = lanes[lane] > largest ? lanes[lane] : largest;
    return largest;
}

#endif
