/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/tree.h"

#include <string.h>

#include "base/compiler.h"

enum { LANES = 8, BLOCK = 512 };

/* Wherever it begins. Results may be written over what they were made of, so
 * it is said, not left to the compiler to find out, that a vector is read
 * before it is written. */
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)),
                                   aligned(sizeof(float)), may_alias));

int comm_tree_split(int n)
{
    int m = 1;

    while (m * 2 < n)
        m *= 2;
    return m;
}

SIMD_CLONES void comm_tree_add(float *out, const float *left,
                               const float *right, size_t count)
{
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        *(lanes *)(out + i) =
            *(const lanes *)(left + i) + *(const lanes *)(right + i);
    for (; i < count; i++)
        out[i] = left[i] + right[i];
}

SIMD_CLONES static void add_three(float *out, const float *const *rows,
                                  size_t first, size_t count)
{
    const float *a = rows[0] + first, *b = rows[1] + first;
    const float *c = rows[2] + first;
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        *(lanes *)(out + i) =
            (*(const lanes *)(a + i) + *(const lanes *)(b + i)) +
            *(const lanes *)(c + i);
    for (; i < count; i++)
        out[i] = (a[i] + b[i]) + c[i];
}

SIMD_CLONES static void add_four(float *out, const float *const *rows,
                                 size_t first, size_t count)
{
    const float *a = rows[0] + first, *b = rows[1] + first;
    const float *c = rows[2] + first, *d = rows[3] + first;
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        *(lanes *)(out + i) =
            (*(const lanes *)(a + i) + *(const lanes *)(b + i)) +
            (*(const lanes *)(c + i) + *(const lanes *)(d + i));
    for (; i < count; i++)
        out[i] = (a[i] + b[i]) + (c[i] + d[i]);
}

/* For a block: a level of the recursion keeps one on its stack. */
static void sum_block(float *out, const float *const *rows, int n, size_t first,
                      size_t count)
{
    float right[BLOCK], left[BLOCK];
    int m;

    if (n == 1) {
        memmove(out, rows[0] + first, count * sizeof(*out));
    } else if (n == 2) {
        comm_tree_add(out, rows[0] + first, rows[1] + first, count);
    } else if (n == 3) {
        add_three(out, rows, first, count);
    } else if (n == 4) {
        add_four(out, rows, first, count);
    } else {
        m = comm_tree_split(n);
        sum_block(left, rows, m, first, count);
        sum_block(right, rows + m, n - m, first, count);
        comm_tree_add(out, left, right, count);
    }
}

void comm_tree_sum(float *out, const float *const *rows, int n, size_t count)
{
    size_t block = n <= 4 ? count : BLOCK;

    for (size_t first = 0; first < count; first += block) {
        size_t length = count - first < block ? count - first : block;

        sum_block(out + first, rows, n, first, length);
    }
}
