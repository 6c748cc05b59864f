/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_COUNT_H
#define SMTUNE_BASE_COUNT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Arithmetic on counts that come from outside: text of Slurm, answers of its
 * REST API, /proc, files and messages of trials, options. Whatever they hold, a
 * sum or a product that does not fit is the nearest number that does.
 */

/* Numbers of files and messages go up to this (2^53, as JSON has them exactly);
 * beyond it they are damage. A thousandfold of one fits, and a sum of a
 * thousand. */
#define COUNT_MAX (INT64_C(1) << 53)

/* Whether it lies within -COUNT_MAX..COUNT_MAX. */
static inline bool count_is_sound(int64_t number)
{
    return number >= -COUNT_MAX && number <= COUNT_MAX;
}

static inline int64_t count_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

static inline int64_t count_subtract(int64_t a, int64_t b)
{
    int64_t difference;

    if (__builtin_sub_overflow(a, b, &difference))
        return b < 0 ? INT64_MAX : INT64_MIN;
    return difference;
}

static inline int64_t count_times(int64_t a, int64_t b)
{
    int64_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
    return product;
}

static inline int count_to_int(int64_t number)
{
    if (number > INT_MAX)
        return INT_MAX;
    return number < INT_MIN ? INT_MIN : (int)number;
}

/* Of what statvfs() or a driver counts without a sign. */
static inline int64_t count_of(uint64_t number)
{
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

#endif
