/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_CUDA_CUDA_BF16_H
#define SMTUNE_TESTS_CUDA_CUDA_BF16_H

#include <stdint.h>
#include <string.h>

/* The upper half of a float, rounded to the nearest, of two to the even one. */
struct __nv_bfloat16 {
    uint16_t bits;

    __nv_bfloat16() = default;
    explicit __nv_bfloat16(float value)
    {
        uint32_t whole;

        memcpy(&whole, &value, sizeof(whole));
        if (value == value)
            whole += 0x7fff + (whole >> 16 & 1);
        else
            whole |= 0x400000; /* stays one in the upper half */
        bits = (uint16_t)(whole >> 16);
    }
    explicit operator float() const
    {
        const uint32_t whole = (uint32_t)bits << 16;
        float value;

        memcpy(&value, &whole, sizeof(value));
        return value;
    }
};

static inline __nv_bfloat16 __float2bfloat16_rn(float value)
{
    return __nv_bfloat16(value);
}

static inline float __bfloat162float(__nv_bfloat16 value)
{
    return (float)value;
}

#endif
