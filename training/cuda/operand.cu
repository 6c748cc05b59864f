/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/operand.cuh"

#include "training/cuda/launch.cuh"

struct alignas(ROW_NUMBERS * sizeof(bf16)) group {
    bf16 numbers[ROW_NUMBERS];
};

static __device__ struct group round_numbers(const float numbers[ROW_NUMBERS])
{
    struct group group;

#pragma unroll
    for (size_t i = 0; i < ROW_NUMBERS; i++)
        group.numbers[i] = __float2bfloat16_rn(numbers[i]);
    return group;
}

/* One group a thread; zeroes behind a row's end. */
static __global__ void round_rows(struct operand x, struct group *to,
                                  size_t groups)
{
    const float *from = (const float *)x.data;

    for (size_t i = first_element(); i < x.rows * groups;
         i += element_stride()) {
        const size_t row = i / groups, first = i % groups * ROW_NUMBERS;
        float numbers[ROW_NUMBERS];

        for (size_t j = 0; j < ROW_NUMBERS; j++)
            numbers[j] =
                first + j < x.columns ? from[row * x.stride + first + j] : 0;
        to[i] = round_numbers(numbers);
    }
}

/* Of rows without gaps, which begin and end with a group. */
static __global__ void round_all(const float4 *__restrict__ from,
                                 struct group *__restrict__ to, size_t groups)
{
    for (size_t i = first_element(); i < groups; i += element_stride()) {
        const float4 a = from[2 * i], b = from[2 * i + 1];
        const float numbers[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};

        to[i] = round_numbers(numbers);
    }
}

static void start(const char *operation, struct operand x, struct group *to,
                  size_t groups)
{
    const struct launch many = each_of(operation, x.rows * groups);

    if (x.columns == x.stride && x.columns % ROW_NUMBERS == 0 &&
        (uintptr_t)x.data % sizeof(float4) == 0)
        launch(many, round_all, (const float4 *)x.data, to, x.rows * groups);
    else
        launch(many, round_rows, x, to, groups);
}

struct operand operand_take(const char *operation, struct operand x,
                            cudaDataType_t type)
{
    struct operand taken = {NULL, x.rows, x.columns, bf16_stride(x.columns),
                            CUDA_R_16BF};
    const size_t groups = taken.stride / ROW_NUMBERS;
    void *room = NULL;

    if (x.type == type)
        return x;
    device_check(operation,
                 cudaMallocAsync(&room, x.rows * groups * sizeof(struct group),
                                 device_stream()));
    taken.data = room;
    if (room != NULL)
        start(operation, x, (struct group *)room, groups);
    return taken;
}

void operand_release(const char *operation, const struct operand *x,
                     const struct operand *taken)
{
    if (taken->data != x->data && taken->data != NULL)
        device_check(operation,
                     cudaFreeAsync((void *)taken->data, device_stream()));
}
