/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/cuda/cublasLt.h"

#include "tests/cuda/cuda_bf16.h"

struct emulated_library {
    int unused;
};

static emulated_library library;

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = &library;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t stride)
{
    *layout = new emulated_layout{type, rows, columns, stride};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *product,
                                        cublasComputeType_t, cudaDataType_t)
{
    *product = new emulated_matmul;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product)
{
    delete product;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t what,
    const void *value, size_t bytes)
{
    const struct {
        void *to;
        size_t bytes;
    } fields[] = {{&product->way_a, sizeof(product->way_a)},
                  {&product->way_b, sizeof(product->way_b)},
                  {&product->epilogue, sizeof(product->epilogue)},
                  {&product->bias, sizeof(product->bias)}};

    if (bytes != fields[what].bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(fields[what].to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(
    cublasLtMatmulPreference_t *preference)
{
    *preference = new emulated_preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(
    cublasLtMatmulPreference_t preference)
{
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t what, const void *value, size_t bytes)
{
    const bool is_room = what == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
    void *to = &preference->workspace_bytes;

    if (!is_room)
        to = &preference
                  ->align_bytes[what -
                                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES];
    if (bytes != (is_room ? sizeof(uint64_t) : sizeof(uint32_t)))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* To which no other preference was told stays at what the library assumes. As
 * versions of it did, it has no epilogue for vectors, and one for some other
 * shapes (rows or columns of three) that fails. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t at_d,
    cublasLtMatmulPreference_t preference, int most,
    cublasLtMatmulHeuristicResult_t *results, int *count)
{
    uint32_t align_bytes = 0;

    for (uint32_t each : preference->align_bytes)
        align_bytes = each > align_bytes ? each : align_bytes;
    results[0].algo = {align_bytes, preference->workspace_bytes};
    *count = most < 1 ? most : 1;
    if (how->epilogue != CUBLASLT_EPILOGUE_DEFAULT &&
        (at_d->rows == 1 || at_d->columns == 1))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_SUCCESS;
}

/* A factor, element by element. */
struct factor {
    const void *data;
    emulated_layout layout;
    bool is_transposed;

    uint64_t rows() const
    {
        return is_transposed ? layout.columns : layout.rows;
    }
    uint64_t columns() const
    {
        return is_transposed ? layout.rows : layout.columns;
    }
    double at(uint64_t row, uint64_t column) const
    {
        const uint64_t stride = (uint64_t)layout.stride;
        const uint64_t place =
            is_transposed ? column + row * stride : row + column * stride;

        return layout.type == CUDA_R_32F
                   ? (double)((const float *)data)[place]
                   : (double)(float)((const __nv_bfloat16 *)data)[place];
    }
};

struct product {
    factor a, b;
    emulated_matmul how;
    float alpha, beta;
    float *d;
    uint64_t stride;
};

static void multiply(const product &it)
{
    for (uint64_t column = 0; column < it.b.columns(); column++) {
        double sum = 0;

        for (uint64_t i = 0; i < it.b.rows(); i++)
            sum += it.b.at(i, column);
        if (it.how.epilogue == CUBLASLT_EPILOGUE_BGRADB)
            it.how.bias[column] = (float)sum;
        for (uint64_t row = 0; row < it.a.rows(); row++) {
            float *to = it.d + row + column * it.stride;
            double value = 0;

            for (uint64_t i = 0; i < it.b.rows(); i++)
                value += it.a.at(row, i) * it.b.at(i, column);
            value *= (double)it.alpha;
            if (it.beta != 0)
                value += (double)(it.beta * *to);
            if (it.how.epilogue == CUBLASLT_EPILOGUE_BIAS)
                value += (double)it.how.bias[row];
            *to = (float)value;
        }
    }
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t how,
                              const void *alpha, const void *a,
                              cublasLtMatrixLayout_t at_a, const void *b,
                              cublasLtMatrixLayout_t at_b, const void *beta,
                              const void *c, cublasLtMatrixLayout_t at_c,
                              void *d, cublasLtMatrixLayout_t at_d,
                              const cublasLtMatmulAlgo_t *algorithm,
                              void *workspace, size_t workspace_bytes,
                              cudaStream_t stream)
{
    const uintptr_t all = (uintptr_t)a | (uintptr_t)b | (uintptr_t)d;
    product it = {{a, *at_a, how->way_a == CUBLAS_OP_T},
                  {b, *at_b, how->way_b == CUBLAS_OP_T},
                  *how,
                  *(const float *)alpha,
                  *(const float *)beta,
                  (float *)d,
                  (uint64_t)at_d->stride};

    if (it.a.rows() != at_d->rows || it.b.columns() != at_d->columns ||
        it.a.columns() != it.b.rows() || c != d || at_c != at_d ||
        at_a->type != at_b->type || at_d->type != CUDA_R_32F ||
        (at_a->type != CUDA_R_32F &&
         how->epilogue == CUBLASLT_EPILOGUE_BGRADB) ||
        all % algorithm->align_bytes != 0 || workspace == nullptr ||
        workspace_bytes < algorithm->workspace_bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!emulated_is_current(stream) ||
        (how->epilogue != CUBLASLT_EPILOGUE_DEFAULT &&
         (at_d->rows == 3 || at_d->columns == 3)))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    emulated_put(stream, [=] {
        multiply(it);
        return true;
    });
    return CUBLAS_STATUS_SUCCESS;
}
