/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * A block has a row at a time, of two or more: loss, errors, probabilities and
 * gradient in one kernel, in place. How many blocks there are hangs on the rows
 * alone, so the sums' order is the same on all devices.
 */

struct logits {
    float *x;
    const uint16_t *targets;
    size_t rows, columns;
    bool wants_gradient;
    float scale;            /* of it */
    struct totals *partial; /* [TOTALS_MAX] */
};

struct place {
    float value;
    unsigned index;
};

/* The first of the largest, as softmax.c has it. */
static __device__ struct place larger(struct place a, struct place b)
{
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b
                                                                          : a;
}

/* All threads get it; the room is as of block_sum. */
static __device__ struct place find_largest(const float *x, size_t columns,
                                            struct place *room)
{
    struct place best = {-INFINITY, 0};

    for (size_t i = threadIdx.x; i < columns; i += THREADS)
        if (x[i] > best.value)
            best = {x[i], (unsigned)i};
    for (int lane = WARP / 2; lane > 0; lane /= 2)
        best = larger(best, {__shfl_xor_sync(0xffffffffU, best.value, lane),
                             __shfl_xor_sync(0xffffffffU, best.index, lane)});
    if (threadIdx.x % WARP == 0)
        room[threadIdx.x / WARP] = best;
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        best = larger(best, room[i]);
    return best;
}

static __global__ void softmax_loss(struct logits it)
{
    __shared__ struct place places[WARPS];
    __shared__ float sums[WARPS];
    struct totals totals = {0, 0};

    for (size_t row = blockIdx.x; row < it.rows; row += gridDim.x) {
        float *x = it.x + row * it.columns;
        const unsigned target = it.targets[row];
        const struct place best = find_largest(x, it.columns, places);
        const float above = best.value - x[target];
        float sum = 0;

        __syncthreads(); /* all have read the target's logit */
        for (size_t i = threadIdx.x; i < it.columns; i += THREADS) {
            x[i] = expf(x[i] - best.value);
            sum += x[i];
        }
        sum = block_sum(sum, sums);
        for (size_t i = threadIdx.x; i < it.columns; i += THREADS) {
            float p = x[i] / sum;

            x[i] = it.wants_gradient ? (p - (i == target)) * it.scale : p;
        }
        if (threadIdx.x == 0) {
            totals.loss += (double)above + log((double)sum);
            totals.errors += best.index != target;
        }
    }
    if (threadIdx.x == 0)
        it.partial[blockIdx.x] = totals;
}

static void start(const char *operation, struct logits it,
                  struct totals *totals)
{
    const size_t pairs = (it.rows + 1) / 2;
    const int blocks = pairs < TOTALS_MAX ? (int)pairs : TOTALS_MAX;

    it.partial = device_totals(operation, blocks, totals);
    launch(each_block(operation, (size_t)blocks), softmax_loss, it);
}

void cuda_softmax_loss(struct matrix logits, const uint16_t *targets,
                       struct totals *totals)
{
    start("softmax_loss",
          {logits.data, targets, logits.rows, logits.columns, false, 0, NULL},
          totals);
}

void cuda_softmax_loss_grad(struct matrix logits, const uint16_t *targets,
                            double scale, struct totals *totals)
{
    start("softmax_loss_grad",
          {logits.data, targets, logits.rows, logits.columns, true,
           (float)scale, NULL},
          totals);
}
