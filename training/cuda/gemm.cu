/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/gemm.cuh"

#include <cublasLt.h>

#include "training/cuda/columns.cuh"
#include "training/cuda/launch.cuh"

/*
 * Products through cuBLASLt, of float in full single precision (no TF32), or of
 * bf16 with sums and results in float. It has its matrices in columns: one of
 * ours in rows is the transposed one to it, so d = a b is asked for as dT = bT
 * aT. Which kernel it takes is asked once for each shape.
 *
 * Not every version offers an epilogue for every shape (of one row or column,
 * of rows that are not aligned). Such a product is made plain, and kernels of
 * our own do what the epilogue would have done.
 */

static constexpr size_t ALGORITHMS_MAX = 256, WORKSPACE_BYTES = 32 << 20;

/* What a choice hangs on. */
struct shape {
    uint64_t rows, columns, inner;
    cudaDataType_t type;
    cublasLtEpilogue_t epilogue;
    bool transposes_a, transposes_b;
    uint32_t align_bytes;
};

struct choice {
    struct shape shape;
    bool is_offered;
    cublasLtMatmulAlgo_t algorithm;
};

static struct library {
    cublasLtHandle_t handle;
    void *workspace;
    struct choice choices[ALGORITHMS_MAX]; /* the oldest is replaced */
    size_t choice_count;
} library;

struct descriptors {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, d;
};

int gemm_start(struct err *err)
{
    if (cublasLtCreate(&library.handle) != CUBLAS_STATUS_SUCCESS ||
        cudaMalloc(&library.workspace, WORKSPACE_BYTES) != cudaSuccess)
        return err_set(
            err, ERR_FAILED,
            "cannot start cuBLASLt: check that the GPU has free memory");
    return 0;
}

static cublasLtEpilogue_t epilogue_of(enum gemm_end end)
{
    static const cublasLtEpilogue_t epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT,
                                                   CUBLASLT_EPILOGUE_BIAS,
                                                   CUBLASLT_EPILOGUE_BGRADB};

    return epilogues[end];
}

static uint32_t alignment_of(const struct gemm *it)
{
    uintptr_t all = (uintptr_t)it->a.data | (uintptr_t)it->b.data |
                    (uintptr_t)it->d.data | (uintptr_t)it->bias;

    return all % 16 == 0 ? 16 : sizeof(float);
}

static struct shape shape_of(const struct gemm *it)
{
    struct shape shape = {};

    shape.rows = it->d.rows;
    shape.columns = it->d.columns;
    shape.inner = it->transposes_a ? it->a.rows : it->a.columns;
    shape.type = it->type;
    shape.epilogue = epilogue_of(it->end);
    shape.transposes_a = it->transposes_a;
    shape.transposes_b = it->transposes_b;
    shape.align_bytes = alignment_of(it);
    return shape;
}

static bool is_same(const struct shape *one, const struct shape *other)
{
    return one->rows == other->rows && one->columns == other->columns &&
           one->inner == other->inner && one->type == other->type &&
           one->epilogue == other->epilogue &&
           one->transposes_a == other->transposes_a &&
           one->transposes_b == other->transposes_b &&
           one->align_bytes == other->align_bytes;
}

static bool lay_out(cublasLtMatrixLayout_t *layout, const struct operand &x)
{
    return cublasLtMatrixLayoutCreate(layout, x.type, x.columns, x.rows,
                                      (int64_t)x.stride) ==
           CUBLAS_STATUS_SUCCESS;
}

static bool set(cublasLtMatmulDesc_t product,
                cublasLtMatmulDescAttributes_t what, const void *value,
                size_t bytes)
{
    return cublasLtMatmulDescSetAttribute(product, what, value, bytes) ==
           CUBLAS_STATUS_SUCCESS;
}

/* To the library the right factor comes first. */
static bool describe(const struct gemm *it, struct descriptors *to)
{
    const cublasOperation_t ways[] = {CUBLAS_OP_N, CUBLAS_OP_T};
    cublasOperation_t way_a = ways[it->transposes_b];
    cublasOperation_t way_b = ways[it->transposes_a];
    cublasLtEpilogue_t epilogue = epilogue_of(it->end);

    return lay_out(&to->a, it->b) && lay_out(&to->b, it->a) &&
           lay_out(&to->d, operand_of(it->d)) &&
           cublasLtMatmulDescCreate(&to->product, CUBLAS_COMPUTE_32F,
                                    CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
           set(to->product, CUBLASLT_MATMUL_DESC_TRANSA, &way_a,
               sizeof(way_a)) &&
           set(to->product, CUBLASLT_MATMUL_DESC_TRANSB, &way_b,
               sizeof(way_b)) &&
           set(to->product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
               sizeof(epilogue)) &&
           (it->end == GEMM_PLAIN ||
            set(to->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &it->bias,
                sizeof(it->bias)));
}

static void forget(const struct descriptors *it)
{
    if (it->product != NULL)
        cublasLtMatmulDescDestroy(it->product);
    if (it->a != NULL)
        cublasLtMatrixLayoutDestroy(it->a);
    if (it->b != NULL)
        cublasLtMatrixLayoutDestroy(it->b);
    if (it->d != NULL)
        cublasLtMatrixLayoutDestroy(it->d);
}

static bool prefer(cublasLtMatmulPreference_t preference, uint32_t align_bytes)
{
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    uint64_t workspace_bytes = WORKSPACE_BYTES;
    cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
        sizeof(workspace_bytes));

    for (int i = 0; i < 4 && status == CUBLAS_STATUS_SUCCESS; i++)
        status = cublasLtMatmulPreferenceSetAttribute(
            preference, alignments[i], &align_bytes, sizeof(align_bytes));
    return status == CUBLAS_STATUS_SUCCESS;
}

/* Asks for the one it thinks best. */
static bool ask(const struct descriptors *it, uint32_t align_bytes,
                cublasLtMatmulAlgo_t *algorithm)
{
    cublasLtMatmulHeuristicResult_t result = {};
    cublasLtMatmulPreference_t preference;
    int count = 0;
    bool is_known;

    if (cublasLtMatmulPreferenceCreate(&preference) != CUBLAS_STATUS_SUCCESS)
        return false;
    is_known = prefer(preference, align_bytes) &&
               cublasLtMatmulAlgoGetHeuristic(
                   library.handle, it->product, it->a, it->b, it->d, it->d,
                   preference, 1, &result, &count) == CUBLAS_STATUS_SUCCESS &&
               count == 1;
    cublasLtMatmulPreferenceDestroy(preference);
    *algorithm = result.algo;
    return is_known;
}

/* NULL where it has none. */
static const cublasLtMatmulAlgo_t *choose(const struct gemm *product,
                                          const struct descriptors *it)
{
    const struct shape shape = shape_of(product);
    size_t known = library.choice_count < ALGORITHMS_MAX ? library.choice_count
                                                         : ALGORITHMS_MAX;
    struct choice *choice = NULL;

    for (size_t i = 0; i < known && choice == NULL; i++) {
        if (is_same(&library.choices[i].shape, &shape))
            choice = &library.choices[i];
    }
    if (choice == NULL) {
        choice = &library.choices[library.choice_count++ % ALGORITHMS_MAX];
        choice->shape = shape;
        choice->is_offered = ask(it, shape.align_bytes, &choice->algorithm);
    }
    return choice->is_offered ? &choice->algorithm : NULL;
}

/* Of operands that are of the product's type. */
static cublasStatus_t multiply(const struct gemm *product)
{
    const float one = 1, beta = product->adds ? 1 : 0;
    struct descriptors it = {};
    const cublasLtMatmulAlgo_t *algorithm =
        describe(product, &it) ? choose(product, &it) : NULL;
    cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;

    if (algorithm != NULL)
        status =
            cublasLtMatmul(library.handle, it.product, &one, product->b.data,
                           it.a, product->a.data, it.b, &beta, product->d.data,
                           it.d, product->d.data, it.d, algorithm,
                           library.workspace, WORKSPACE_BYTES, device_stream());
    forget(&it);
    return status;
}

static __global__ void add_to_rows(const float *bias, struct matrix d)
{
    for (size_t i = first_element(); i < d.rows * d.columns;
         i += element_stride())
        d.data[i] += bias[i % d.columns];
}

/* What the epilogue stands for. */
static void finish(const struct gemm *it)
{
    if (it->end == GEMM_ADD_BIAS)
        launch(each_of(it->operation, it->d.rows * it->d.columns), add_to_rows,
               (const float *)it->bias, it->d);
    else
        sum_columns(it->operation,
                    {(float *)it->a.data, it->a.rows, it->a.columns},
                    {it->bias, 1, it->d.rows});
}

static void multiply_and_finish(const struct gemm *product)
{
    cublasStatus_t status = multiply(product);

    if (status != CUBLAS_STATUS_SUCCESS && product->end != GEMM_PLAIN) {
        struct gemm plain = *product;

        plain.end = GEMM_PLAIN;
        status = multiply(&plain);
        if (status == CUBLAS_STATUS_SUCCESS)
            finish(product);
    }
    if (status != CUBLAS_STATUS_SUCCESS)
        device_fail(product->operation,
                    "cuBLASLt returned status %d for a product of %zu x %zu",
                    (int)status, product->d.rows, product->d.columns);
}

void gemm(const struct gemm *product)
{
    const char *operation = product->operation;
    struct gemm it = *product;

    it.a = operand_take(operation, product->a, it.type);
    it.b = operand_take(operation, product->b, it.type);
    if (it.a.data != NULL && it.b.data != NULL)
        multiply_and_finish(&it);
    operand_release(operation, &product->b, &it.b);
    operand_release(operation, &product->a, &it.a);
}
