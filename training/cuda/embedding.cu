/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

static __global__ void embedding(const uint16_t *tokens, struct matrix table,
                                 struct matrix positions, struct matrix x)
{
    const size_t width = x.columns, count = x.rows * width;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        size_t row = i / width, column = i % width;

        x.data[i] = table.data[tokens[row] * width + column] +
                    positions.data[row % positions.rows * width + column];
    }
}

void cuda_embedding(const uint16_t *tokens, struct matrix table,
                    struct matrix positions, struct matrix x)
{
    launch(each_of("embedding", x.rows * x.columns), embedding, tokens, table,
           positions, x);
}

static __global__ void positions_grad(struct matrix dx,
                                      struct matrix dpositions)
{
    const size_t width = dx.columns, count = dpositions.rows * width;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        float sum = 0;

        for (size_t at = i; at < dx.rows * width; at += count)
            sum += dx.data[at];
        dpositions.data[i] = sum;
    }
}

/* Rows of this block's token among those from `first` on, one a thread, in
 * order: how many. */
static __device__ unsigned find_rows(const uint16_t *tokens, size_t first,
                                     size_t rows, size_t *found)
{
    __shared__ unsigned counts[WARPS];
    const size_t row = first + threadIdx.x;
    const bool is_mine = row < rows && tokens[row] == blockIdx.x;
    const unsigned lanes = __ballot_sync(0xffffffffU, is_mine);
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    unsigned before = 0, all = 0;

    if (lane == 0)
        counts[warp] = (unsigned)__popc(lanes);
    __syncthreads();
    for (unsigned i = 0; i < WARPS; i++) {
        before += i < warp ? counts[i] : 0;
        all += counts[i];
    }
    if (is_mine)
        found[before + (unsigned)__popc(lanes & ((1U << lane) - 1))] = row;
    __syncthreads();
    return all;
}

/* A block a token looks for its rows and adds them up, so that no two blocks
 * write to one place and the order is theirs. */
static __global__ void table_grad(const uint16_t *tokens, struct matrix dx,
                                  struct matrix dtable)
{
    __shared__ size_t found[THREADS];
    const size_t width = dx.columns;
    float *to = dtable.data + blockIdx.x * width;

    for (size_t first = 0; first < dx.rows; first += THREADS) {
        unsigned count = find_rows(tokens, first, dx.rows, found);

        for (size_t i = threadIdx.x; count > 0 && i < width; i += THREADS) {
            float sum = to[i];

            for (unsigned j = 0; j < count; j++)
                sum += dx.data[found[j] * width + i];
            to[i] = sum;
        }
    }
}

void cuda_embedding_grad(const uint16_t *tokens, struct matrix dx,
                         struct matrix dtable, struct matrix dpositions)
{
    launch(each_of("embedding_grad", dpositions.rows * dx.columns),
           positions_grad, dx, dpositions);
    launch(each_block("embedding_grad", dtable.rows), table_grad, tokens, dx,
           dtable);
}
