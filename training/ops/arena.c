/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/ops/arena.h"

#include <stdint.h>
#include <string.h>

enum { ALIGN_NUMBERS = REAL_ALIGN_BYTES / sizeof(real) };

/* Sizes that do not fit come to one that nobody has. */
struct matrix arena_matrix(struct arena *arena, size_t rows, size_t columns)
{
    struct matrix matrix = {NULL, rows, columns};
    size_t count;

    if (arena->base != NULL)
        matrix.data = arena->base + arena->count;
    if (__builtin_mul_overflow(rows, columns, &count) ||
        count > SIZE_MAX / 2 - arena->count)
        arena->count = SIZE_MAX / 2;
    else
        arena->count +=
            (count + ALIGN_NUMBERS - 1) / ALIGN_NUMBERS * ALIGN_NUMBERS;
    return matrix;
}

int arena_allocate(struct arena *arena, const struct backend *backend,
                   struct err *err)
{
    arena->backend = backend;
    arena->base = backend_array(backend, arena->count, err);
    if (arena->base == NULL)
        return err_prefix(err, "%s", arena->purpose);
    arena->count = 0;
    return 0;
}

void arena_clear(struct arena *arena)
{
    if (arena->base != NULL)
        arena->backend->release(arena->base);
    memset(arena, 0, sizeof(*arena));
}
