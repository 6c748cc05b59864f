/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of files as floats, and back. BF16 is the upper half of a float. F16
 * has 5 bits of exponent and 10 of mantissa (IEEE 754, binary16), and is
 * converted by its bits, because not every compiler has a type for it.
 */
#include "training/weights/dtype.h"

#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

static const struct {
    const char *name;
    size_t bytes;
} dtypes[] = {
#define X(name, bytes) [DTYPE_##name] = {#name, bytes},
    DTYPES(X)
#undef X
};

enum {
    EXPONENT_F32 = 127, /* of 1 */
    EXPONENT_F16 = 15,
    MANTISSA_F32 = 23, /* bits */
    MANTISSA_F16 = 10,
    SHIFT = MANTISSA_F32 - MANTISSA_F16,
    INFINITE_F16 = 0x7c00,
    QUIET_F16 = 0x0200
};

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

size_t dtype_bytes(enum dtype dtype)
{
    return dtypes[dtype].bytes;
}

enum dtype dtype_find(const char *name)
{
    size_t i = 0;

    while (i < ARRAY_LEN(dtypes) && strcmp(dtypes[i].name, name) != 0)
        i++;
    return (enum dtype)i;
}

bool dtype_is_float(enum dtype dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

static float float_of(uint32_t bits)
{
    float number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static uint32_t bits_of(float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static float from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = (half >> MANTISSA_F16) & 0x1f;
    uint32_t mantissa = half & 0x3ff;
    float small;

    if (exponent == 0x1f)
        return float_of(sign | 0x7f800000 | mantissa << SHIFT);
    if (exponent > 0)
        return float_of(
            sign | (exponent + EXPONENT_F32 - EXPONENT_F16) << MANTISSA_F32 |
            mantissa << SHIFT);
    small = (float)mantissa / (float)(1 << 24);
    return sign != 0 ? -small : small;
}

/* Without the lowest `count` bits: the nearest, of two the even one. */
static uint32_t rounded(uint32_t bits, int count)
{
    uint32_t half = (uint32_t)1 << (count - 1);

    return (bits + half - 1 + (bits >> count & 1)) >> count;
}

static uint16_t to_f16(float number)
{
    uint32_t bits = bits_of(number);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t mantissa = bits & 0x7fffff;
    int exponent =
        (int)(bits >> MANTISSA_F32 & 0xff) - EXPONENT_F32 + EXPONENT_F16;
    uint32_t half;

    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(sign | INFINITE_F16 | QUIET_F16 | mantissa >> SHIFT);
    if (exponent >= 0x1f)
        return sign | INFINITE_F16;
    if (exponent < -MANTISSA_F16)
        return sign;
    if (exponent <= 0) /* the leading 1 becomes a bit like others */
        half = rounded(mantissa | 0x800000, SHIFT + 1 - exponent);
    else
        half = rounded((uint32_t)exponent << MANTISSA_F32 | mantissa, SHIFT);
    return (uint16_t)(sign | half);
}

static uint16_t to_bf16(float number)
{
    uint32_t bits = bits_of(number);

    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)rounded(bits, 16);
}

static uint32_t read_bytes(const uint8_t *from, size_t bytes)
{
    uint32_t bits = 0;

    for (size_t i = bytes; i-- > 0;)
        bits = bits << 8 | from[i];
    return bits;
}

static void write_bytes(uint32_t bits, size_t bytes, uint8_t *to)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(bits >> 8 * i);
}

void dtype_decode(enum dtype dtype, const void *from, size_t count, float *to)
{
    size_t bytes = dtypes[dtype].bytes;
    const uint8_t *at = from;

    for (size_t i = 0; i < count; i++, at += bytes) {
        uint32_t bits = read_bytes(at, bytes);

        if (dtype == DTYPE_F16)
            to[i] = from_f16((uint16_t)bits);
        else
            to[i] = float_of(dtype == DTYPE_BF16 ? bits << 16 : bits);
    }
}

void dtype_encode(enum dtype dtype, const float *from, size_t count, void *to)
{
    size_t bytes = dtypes[dtype].bytes;
    uint8_t *at = to;

    for (size_t i = 0; i < count; i++, at += bytes) {
        uint32_t bits = bits_of(from[i]);

        if (dtype == DTYPE_F16)
            bits = to_f16(from[i]);
        else if (dtype == DTYPE_BF16)
            bits = to_bf16(from[i]);
        write_bytes(bits, bytes, at);
    }
}
