/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <tensor_core.cuh>

#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/*
 * A block has a row at a time, of two or more: loss, errors, probabilities and
 * gradient in one kernel, in place. A row is read once for its largest logit
 * and the sum of exponentials (Milakov and Gimelshein, "Online normalizer
 * calculation for softmax", 2018), and once, from its end, for what becomes of
 * it: what was read last is still in the cache. How many blocks there are
 * depends on the shape alone, so the sums' order is the same on all devices.
 */

/* Blocks of rows that the cache has to hold. */
static constexpr int WIDE_BLOCKS = 264;
static constexpr size_t WIDE_COLUMNS = 8192;

static constexpr int UNROLLED = 4; /* loads that a thread has under way */

struct logits {
    float *x;
    const uint16_t *targets;
    size_t rows, columns;
    bool wants_gradient;
    float scale;            /* of it */
    struct totals *partial; /* [TOTALS_MAX] */
};

/* A row: fours from the first address that is a multiple of 16 bytes on, and
 * single numbers before and behind them. */
struct row {
    float *x;
    float4 *fours;
    unsigned before, four_count, columns;
};

static __device__ struct row row_of(float *x, size_t columns)
{
    struct row row;

    row.x = x;
    row.columns = (unsigned)columns;
    row.before = (unsigned)(-(uintptr_t)x % sizeof(float4) / sizeof(float));
    if (row.before > row.columns)
        row.before = row.columns;
    row.fours = (float4 *)(x + row.before);
    row.four_count = (row.columns - row.before) / 4;
    return row;
}

/* This thread's number of those that are in no four, or where there is none,
 * the number of columns; they are at most six. */
static __device__ unsigned single_of(const struct row &row)
{
    const unsigned behind = row.before + 4 * row.four_count;
    const unsigned single = threadIdx.x < row.before
                                ? threadIdx.x
                                : behind + threadIdx.x - row.before;

    return single < row.columns ? single : row.columns;
}

/* What a thread has seen of a row: the first of its largest logits, and the sum
 * of exponentials over that one. While all are -INFINITY, the offset is 0, and
 * they add nothing to the sum. */
struct seen {
    float largest, offset; /* times LOG2_E */
    float sum;
    unsigned index;
};

static __device__ void find_larger(float logit, unsigned index,
                                   struct seen *seen)
{
    if (!(logit > seen->largest))
        return;
    seen->sum *= fast_exp2((seen->largest - logit) * LOG2_E);
    seen->largest = logit;
    seen->offset = logit * LOG2_E;
    seen->index = index;
}

static __device__ float power_of(float logit, float offset)
{
    return fast_exp2(logit * LOG2_E - offset);
}

static __device__ void see_one(float logit, unsigned index, struct seen *seen)
{
    find_larger(logit, index, seen);
    seen->sum += power_of(logit, seen->offset);
}

static __device__ void see_four(float4 four, unsigned index, struct seen *seen)
{
    if (fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)) > seen->largest) {
        find_larger(four.x, index, seen);
        find_larger(four.y, index + 1, seen);
        find_larger(four.z, index + 2, seen);
        find_larger(four.w, index + 3, seen);
    }
    seen->sum +=
        power_of(four.x, seen->offset) + power_of(four.y, seen->offset) +
        power_of(four.z, seen->offset) + power_of(four.w, seen->offset);
}

/* A thread's numbers of the row, from the first on. */
static __device__ struct seen see(const struct row &row)
{
    const unsigned single = single_of(row);
    struct seen seen = {-INFINITY, 0, 0, 0};

    if (single < row.before)
        see_one(row.x[single], single, &seen);
    for (unsigned i = threadIdx.x; i < row.four_count;
         i += UNROLLED * THREADS) {
        float4 fours[UNROLLED];

#pragma unroll
        for (unsigned j = 0; j < UNROLLED; j++)
            fours[j] = i + j * THREADS < row.four_count
                           ? row.fours[i + j * THREADS]
                           : float4{-INFINITY, -INFINITY, -INFINITY, -INFINITY};
#pragma unroll
        for (unsigned j = 0; j < UNROLLED; j++)
            see_four(fours[j], row.before + 4 * (i + j * THREADS), &seen);
    }
    if (single >= row.before && single < row.columns)
        see_one(row.x[single], single, &seen);
    return seen;
}

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
static __device__ struct place join(struct place best, struct place *room)
{
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

/* What a logit becomes: a share of its exponential over the largest, less
 * something at the target. */
struct outcome {
    float offset, share, less;
    unsigned target;
};

static __device__ float become(const struct outcome &it, float logit,
                               unsigned index)
{
    const float p = power_of(logit, it.offset) * it.share;

    return index == it.target ? p - it.less : p;
}

static __device__ void write(const struct row &row, const struct outcome &it)
{
    const unsigned single = single_of(row);
    const unsigned turns =
        (row.four_count + UNROLLED * THREADS - 1) / (UNROLLED * THREADS);

    for (unsigned turn = turns; turn > 0; turn--) {
        const unsigned i = (turn - 1) * UNROLLED * THREADS + threadIdx.x;
        float4 fours[UNROLLED];

#pragma unroll
        for (unsigned j = 0; j < UNROLLED; j++)
            if (i + j * THREADS < row.four_count)
                fours[j] = row.fours[i + j * THREADS];
#pragma unroll
        for (unsigned j = 0; j < UNROLLED; j++) {
            const unsigned index = row.before + 4 * (i + j * THREADS);

            if (i + j * THREADS < row.four_count)
                row.fours[i + j * THREADS] = {
                    become(it, fours[j].x, index),
                    become(it, fours[j].y, index + 1),
                    become(it, fours[j].z, index + 2),
                    become(it, fours[j].w, index + 3)};
        }
    }
    if (single < row.columns)
        row.x[single] = become(it, row.x[single], single);
}

static __global__ void softmax_loss(struct logits it)
{
    __shared__ struct place places[WARPS];
    __shared__ float sums[WARPS];
    struct totals totals = {0, 0};

    for (size_t i = blockIdx.x; i < it.rows; i += gridDim.x) {
        const struct row row = row_of(it.x + i * it.columns, it.columns);
        const unsigned target = it.targets[i];
        const float wanted = row.x[target];
        const struct seen seen = see(row);
        const struct place best = join({seen.largest, seen.index}, places);
        const float factor =
            seen.largest > -INFINITY
                ? fast_exp2((seen.largest - best.value) * LOG2_E)
                : 1; /* of no sum, or of a NaN */
        const float sum = block_sum(seen.sum * factor, sums);
        const float whole = it.wants_gradient ? it.scale : 1;

        write(row, {best.value * LOG2_E, whole / sum,
                    it.wants_gradient ? whole : 0, target});
        if (threadIdx.x == 0) {
            totals.loss += (double)(best.value - wanted) + log((double)sum);
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
    const size_t most = it.columns < WIDE_COLUMNS ? TOTALS_MAX : WIDE_BLOCKS;
    const int blocks = (int)(pairs < most ? pairs : most);

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
