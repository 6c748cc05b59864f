/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/linalg.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cblas.h>

#include "base/mem.h"
#include "base/system/openblas.h"

/*
 * OpenBLAS reads its environment while it is being loaded, and only then: how
 * many threads to start, and on a processor newer than itself (where it would
 * fall back to its oldest kernels, several times slower) which one to take it
 * for. What is not set by the user is set for that moment alone, so that
 * trials do not inherit it.
 */

enum { BLOCK = 48 };

struct linalg {
    void *library;
    __typeof__(cblas_dtrsv) *dtrsv;
    __typeof__(cblas_dtrsm) *dtrsm;
    __typeof__(cblas_dsyrk) *dsyrk;
    __typeof__(cblas_dgemm) *dgemm;
};

static const char fast_name[] = "libopenblas.so.0";
static const char plain_name[] = "libgslcblas.so.0";

/* Whether it is set by us, to be taken back. */
static bool set_unless_set(const char *name, const char *value)
{
    return value != NULL && getenv(name) == NULL && setenv(name, value, 0) == 0;
}

static void *load_library(void)
{
    void *library = dlopen(fast_name, RTLD_NOW | RTLD_NOLOAD);
    bool has_threads, has_kernels;
    void (*set_threads)(int);

    if (library != NULL)
        return library;
    has_threads = set_unless_set("OPENBLAS_NUM_THREADS", "1");
    has_kernels = set_unless_set("OPENBLAS_CORETYPE", openblas_kernels());
    library = dlopen(fast_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (has_threads)
        unsetenv("OPENBLAS_NUM_THREADS");
    if (has_kernels)
        unsetenv("OPENBLAS_CORETYPE");
    if (library == NULL)
        return NULL;
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    if (set_threads != NULL)
        set_threads(1);
    return library;
}

struct linalg *linalg_open(struct err *err)
{
    struct linalg *linalg = mem_zero(sizeof(*linalg));
    void *library = load_library();

    if (library == NULL)
        library = dlopen(plain_name, RTLD_NOW | RTLD_LOCAL);
    linalg->library = library;
    if (library != NULL) {
        *(void **)&linalg->dtrsv = dlsym(library, "cblas_dtrsv");
        *(void **)&linalg->dtrsm = dlsym(library, "cblas_dtrsm");
        *(void **)&linalg->dsyrk = dlsym(library, "cblas_dsyrk");
        *(void **)&linalg->dgemm = dlsym(library, "cblas_dgemm");
    }
    if (linalg->dtrsv != NULL && linalg->dtrsm != NULL &&
        linalg->dsyrk != NULL && linalg->dgemm != NULL)
        return linalg;
    err_set(err, ERR_FAILED, "cannot load '%s' or '%s'", fast_name, plain_name);
    linalg_close(linalg);
    return NULL;
}

void linalg_close(struct linalg *linalg)
{
    if (linalg == NULL)
        return;
    if (linalg->library != NULL)
        dlclose(linalg->library);
    free(linalg);
}

static bool factor_block(double *matrix, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i++) {
        double *row = matrix + i * stride;

        for (size_t j = 0; j <= i; j++) {
            const double *other = matrix + j * stride;
            double sum = row[j];

            for (size_t k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (j < i)
                row[j] = sum / other[j];
            else if (sum > 0)
                row[i] = sqrt(sum);
            else
                return false;
        }
    }
    return true;
}

bool linalg_factor(const struct linalg *linalg, double *matrix, size_t n,
                   size_t stride)
{
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t size = n - at < BLOCK ? n - at : BLOCK;
        size_t rest = n - at - size;
        double *block = matrix + at * stride + at;
        double *below = block + size * stride;

        if (!factor_block(block, size, stride))
            return false;
        if (rest == 0)
            return true;
        linalg->dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans,
                      CblasNonUnit, (int)rest, (int)size, 1, block, (int)stride,
                      below, (int)stride);
        linalg->dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)rest,
                      (int)size, -1, below, (int)stride, 1, below + size,
                      (int)stride);
    }
    return true;
}

void linalg_solve(const struct linalg *linalg, const double *factor, size_t n,
                  size_t stride, double *x)
{
    if (n > 0)
        linalg->dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit,
                      (int)n, factor, (int)stride, x, 1);
}

void linalg_solve_rows(const struct linalg *linalg, bool transposed,
                       const double *factor, size_t n, size_t stride,
                       double *rows, size_t m)
{
    if (n > 0 && m > 0)
        linalg->dtrsm(CblasRowMajor, CblasRight, CblasLower,
                      transposed ? CblasNoTrans : CblasTrans, CblasNonUnit,
                      (int)m, (int)n, 1, factor, (int)stride, rows, (int)n);
}

/* K^-1 = X^T X with X = L^-1, a block of X's rows at a time; those have zeroes
 * behind the diagonal, and solve X L = I. */
void linalg_invert(const struct linalg *linalg, const double *factor, size_t n,
                   size_t stride, double *inverse)
{
    double *solved = mem_array(n * BLOCK, sizeof(*solved));

    memset(inverse, 0, n * n * sizeof(*inverse));
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t size = n - at < BLOCK ? n - at : BLOCK;
        size_t width = at + size;

        memset(solved, 0, size * width * sizeof(*solved));
        for (size_t i = 0; i < size; i++)
            solved[i * width + at + i] = 1;
        linalg->dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans,
                      CblasNonUnit, (int)size, (int)width, 1, factor,
                      (int)stride, solved, (int)width);
        linalg->dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)width,
                      (int)size, 1, solved, (int)width, 1, inverse, (int)n);
    }
    free(solved);
}

void linalg_multiply(const struct linalg *linalg, const double *a, size_t m,
                     size_t n, const double *b, size_t k, double *out)
{
    if (m > 0 && n > 0 && k > 0)
        linalg->dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)k,
                      (int)n, 1, a, (int)n, b, (int)n, 0, out, (int)k);
}
