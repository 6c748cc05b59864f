/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <tensor_core.cuh>

#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/* What is done to each number by itself. */

static size_t count_of(struct matrix x)
{
    return x.rows * x.columns;
}

static __global__ void normalize(const uint8_t *bytes, float *x, size_t count)
{
    const float scale = 1 / (255 * 0.3530F), shift = -0.2860F / 0.3530F;

    for (size_t i = first_element(); i < count; i += element_stride())
        x[i] = (float)bytes[i] * scale + shift;
}

void cuda_normalize(const uint8_t *bytes, struct matrix x)
{
    launch(each_of("normalize", count_of(x)), normalize, bytes, x.data,
           count_of(x));
}

static __global__ void relu(float *x, size_t count)
{
    for (size_t i = first_element(); i < count; i += element_stride())
        x[i] = x[i] < 0 ? 0 : x[i];
}

void cuda_relu(struct matrix x)
{
    launch(each_of("relu", count_of(x)), relu, x.data, count_of(x));
}

/* Words 4 block .. 4 block + 3 of base/rng.c's generator, Philox4x32-10. */
struct philox {
    uint32_t key[2];
    uint32_t counter[4];
};

static __device__ void philox_words(struct philox at, uint64_t block,
                                    uint32_t words[4])
{
    words[0] = (uint32_t)block;
    for (int i = 1; i < 4; i++)
        words[i] = at.counter[i];
    for (int i = 0; i < 10; i++) {
        uint64_t product0 = 0xD2511F53ULL * words[0];
        uint64_t product1 = 0xCD9E8D57ULL * words[2];

        words[0] = (uint32_t)(product1 >> 32) ^ words[1] ^ at.key[0];
        words[1] = (uint32_t)product1;
        words[2] = (uint32_t)(product0 >> 32) ^ words[3] ^ at.key[1];
        words[3] = (uint32_t)product0;
        at.key[0] += 0x9E3779B9U;
        at.key[1] += 0xBB67AE85U;
    }
}

struct drop {
    struct philox at;     /* but for the step */
    const uint64_t *step; /* read when it runs */
    uint64_t first;       /* word, of the matrix's first number */
    uint32_t threshold;
    float scale;
};

static __global__ void dropout(float *x, size_t count, struct drop how)
{
    const uint64_t first = how.first, end = (first + count + 3) / 4;

    how.at.counter[2] = (uint32_t)*how.step;
    how.at.counter[3] = (uint32_t)(*how.step >> 32);
    for (uint64_t block = first / 4 + first_element(); block < end;
         block += element_stride()) {
        uint32_t words[4];

        philox_words(how.at, block, words);
        for (uint64_t i = 0; i < 4; i++) {
            uint64_t word = 4 * block + i;

            if (word >= first && word - first < count)
                x[word - first] =
                    words[i] < how.threshold ? 0 : x[word - first] * how.scale;
        }
    }
}

void cuda_dropout(struct matrix x, double rate, const struct noise *noise)
{
    const struct drop how = {
        .at = {{(uint32_t)noise->seed, (uint32_t)(noise->seed >> 32)},
               {0, noise->stream, 0, 0}},
        .step = noise->step,
        .first = noise->first_row * x.columns,
        .threshold = (uint32_t)(rate * 4294967296.0),
        .scale = (float)(1 / (1 - rate))};

    launch(each_of("dropout", count_of(x) / 4 + 2), dropout, x.data,
           count_of(x), how);
}

static __global__ void relu_dropout_grad(const float *y, float *dy,
                                         size_t count, float scale)
{
    for (size_t i = first_element(); i < count; i += element_stride())
        dy[i] = y[i] > 0 ? dy[i] * scale : 0;
}

void cuda_relu_dropout_grad(struct matrix y, double rate, struct matrix dy)
{
    launch(each_of("relu_dropout_grad", count_of(y)), relu_dropout_grad,
           (const float *)y.data, dy.data, count_of(y),
           (float)(1 / (1 - rate)));
}

void cuda_clear(struct matrix x)
{
    device_check("clear", cudaMemsetAsync(x.data, 0, count_of(x) * sizeof(real),
                                          device_stream()));
}

void cuda_copy(struct matrix from, struct matrix to)
{
    device_check("copy", cudaMemcpyAsync(to.data, from.data,
                                         count_of(from) * sizeof(real),
                                         cudaMemcpyDefault, device_stream()));
}

/* As gelu.c: x s with s = 1 / (1 + e^-2u), u = sqrt(2 / pi) (x + cubic
 * x^3). */
static constexpr float TWICE_ROOT = 1.5957691216057308F;
static constexpr float CUBIC = 0.044715F;

static __device__ float gelu_share(float x)
{
    const float scale = -TWICE_ROOT * LOG2_E;

    return __fdividef(1, 1 + fast_exp2(scale * x * (1 + CUBIC * x * x)));
}

static __device__ float gelu_of(float x)
{
    return x * gelu_share(x);
}

static __device__ float gelu_slope(float x)
{
    const float slope = TWICE_ROOT * (1 + 3 * CUBIC * x * x);
    const float s = gelu_share(x);

    return s + x * s * (1 - s) * slope;
}

/* How many fours may be read where arrays of `count` begin; the other numbers
 * are single ones. */
static size_t fours_of(size_t count, const float *a, const float *b)
{
    return ((uintptr_t)a | (uintptr_t)b) % sizeof(float4) == 0 ? count / 4 : 0;
}

static __global__ void gelu(const float *__restrict__ x, float *__restrict__ y,
                            size_t fours, size_t count)
{
    for (size_t i = first_element(); i < fours; i += element_stride()) {
        const float4 four = ((const float4 *)x)[i];

        ((float4 *)y)[i] = {gelu_of(four.x), gelu_of(four.y), gelu_of(four.z),
                            gelu_of(four.w)};
    }
    for (size_t i = 4 * fours + first_element(); i < count;
         i += element_stride())
        y[i] = gelu_of(x[i]);
}

void cuda_gelu(struct matrix x, struct matrix y)
{
    const size_t count = count_of(x), fours = fours_of(count, x.data, y.data);

    launch(each_of("gelu", fours > 0 ? fours : count), gelu,
           (const float *)x.data, y.data, fours, count);
}

static __global__ void gelu_grad(const float *__restrict__ x,
                                 float *__restrict__ dy, size_t fours,
                                 size_t count)
{
    for (size_t i = first_element(); i < fours; i += element_stride()) {
        const float4 four = ((const float4 *)x)[i];
        float4 grad = ((float4 *)dy)[i];

        grad.x *= gelu_slope(four.x);
        grad.y *= gelu_slope(four.y);
        grad.z *= gelu_slope(four.z);
        grad.w *= gelu_slope(four.w);
        ((float4 *)dy)[i] = grad;
    }
    for (size_t i = 4 * fours + first_element(); i < count;
         i += element_stride())
        dy[i] *= gelu_slope(x[i]);
}

void cuda_gelu_grad(struct matrix x, struct matrix dy)
{
    const size_t count = count_of(x), fours = fours_of(count, x.data, dy.data);

    launch(each_of("gelu_grad", fours > 0 ? fours : count), gelu_grad,
           (const float *)x.data, dy.data, fours, count);
}
