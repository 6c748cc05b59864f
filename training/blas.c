/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/blas.h"

#include <cblas.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)

/* The fallback's name: no such processor had AVX2. */
static const char OLDEST[] = "Prescott";

static const char *better_kernels(void)
{
    if (strcmp(openblas_get_corename(), OLDEST) != 0)
        return NULL;
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

static const char *better_kernels(void)
{
    return NULL;
}

#endif

void blas_choose_kernels(char **argv)
{
    const char *kernels = better_kernels();
    char program[PATH_MAX];
    ssize_t length;

    if (kernels == NULL || getenv("OPENBLAS_CORETYPE") != NULL)
        return;
    length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length < 0 || setenv("OPENBLAS_CORETYPE", kernels, 0) != 0)
        return;
    program[length] = '\0';
    execv(program, argv);
}
