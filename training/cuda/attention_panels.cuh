/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_ATTENTION_PANELS_CUH
#define SMTUNE_TRAINING_CUDA_ATTENTION_PANELS_CUH

#include "training/cuda/attention.cuh"
#include "training/cuda/operand.cuh"

/*
 * What attention on tensor cores multiplies, rounded to bf16 once: the rows of
 * one head of one sequence are a panel, with zeroes behind the head's width, so
 * that a thread can copy 16 bytes at a time.
 */

/* Of a query, for the way back: the logarithm (to the base 2) of its sum of
 * exponentials, and y dy. */
struct alignas(8) query_numbers {
    float log_sum, product;
};

enum panel { PANEL_Q, PANEL_K, PANEL_V, PANEL_DY, PANELS };

struct panels {
    int columns; /* 32, 64 or 128: of each row */
    bf16 *rows;  /* [PANELS][sequences][heads][length][columns] */
    struct query_numbers *queries; /* [sequences][heads][length] */
};

static constexpr size_t PANEL_CHUNK = 8; /* numbers in 16 bytes */

/* The head's panel of that kind; `head` counts over all sequences. */
template <int COLUMNS>
static __device__ inline const bf16 *panel_of(const struct heads &it,
                                              const struct panels &panels,
                                              enum panel kind, size_t head)
{
    return panels.rows +
           (kind * it.sequences * it.heads + head) * it.length * COLUMNS;
}

/* Panels of qkv, and of dy with `queries` where it.dy is not NULL; they are
 * released in the stream's order. False where there is no memory, which
 * device_check reports. */
bool panels_take(const char *operation, const struct heads &it,
                 struct panels *panels);
void panels_release(const char *operation, const struct panels *panels);

#endif
