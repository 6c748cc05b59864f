/* SPDX-License-Identifier: GPL-3.0-or-later */
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
    return 1 / (1 + expf(-TWICE_ROOT * x * (1 + CUBIC * x * x)));
}

static __global__ void gelu(const float *x, float *y, size_t count)
{
    for (size_t i = first_element(); i < count; i += element_stride())
        y[i] = x[i] * gelu_share(x[i]);
}

void cuda_gelu(struct matrix x, struct matrix y)
{
    launch(each_of("gelu", count_of(x)), gelu, (const float *)x.data, y.data,
           count_of(x));
}

static __global__ void gelu_grad(const float *x, float *dy, size_t count)
{
    for (size_t i = first_element(); i < count; i += element_stride()) {
        float slope = TWICE_ROOT * (1 + 3 * CUBIC * x[i] * x[i]);
        float s = gelu_share(x[i]);

        dy[i] *= s + x[i] * s * (1 - s) * slope;
    }
}

void cuda_gelu_grad(struct matrix x, struct matrix dy)
{
    launch(each_of("gelu_grad", count_of(x)), gelu_grad, (const float *)x.data,
           dy.data, count_of(x));
}
