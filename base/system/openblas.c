/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/system/openblas.h"

#include <stddef.h>

#if defined(__x86_64__)

const char *openblas_kernels(void)
{
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
    return NULL;
}

#else

const char *openblas_kernels(void)
{
    return NULL;
}

#endif
