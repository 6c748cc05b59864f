/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/operand.cuh"

#include "training/cuda/launch.cuh"

struct alignas(ROW_NUMBERS * sizeof(bf16)) group {
    bf16 numbers[ROW_NUMBERS];
};

/* One group a thread; zeroes behind a row's end. */
static __global__ void round_rows(struct operand x, struct group *to,
                                  size_t groups)
{
    const float *from = (const float *)x.data;

    for (size_t i = first_element(); i < x.rows * groups;
         i += element_stride()) {
        const size_t row = i / groups, first = i % groups * ROW_NUMBERS;
        struct group group;

        for (size_t j = 0; j < ROW_NUMBERS; j++)
            group.numbers[j] = __float2bfloat16_rn(
                first + j < x.columns ? from[row * x.stride + first + j] : 0);
        to[i] = group;
    }
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
        launch(each_of(operation, x.rows * groups), round_rows, x,
               (struct group *)room, groups);
    return taken;
}

void operand_release(const char *operation, const struct operand *x,
                     const struct operand *taken)
{
    if (taken->data != x->data && taken->data != NULL)
        device_check(operation,
                     cudaFreeAsync((void *)taken->data, device_stream()));
}
