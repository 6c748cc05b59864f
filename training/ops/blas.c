/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/blas.h"

#include <cblas.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/openblas.h"

/* The fallback's name: no processor for which there is a choice is that old. */
static const char OLDEST[] = "Prescott";

void blas_choose_kernels(char **argv)
{
    const char *kernels = openblas_kernels();
    char program[PATH_MAX];
    ssize_t length;

    if (strcmp(openblas_get_corename(), OLDEST) != 0 || kernels == NULL ||
        getenv("OPENBLAS_CORETYPE") != NULL)
        return;
    length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length < 0 || setenv("OPENBLAS_CORETYPE", kernels, 0) != 0)
        return;
    program[length] = '\0';
    execv(program, argv);
}
