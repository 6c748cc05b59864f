/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_OPS_ARENA_H
#define SMTUNE_TRAINING_OPS_ARENA_H

#include <stddef.h>

#include "base/err.h"
#include "training/ops/backend.h"
#include "training/ops/matrix.h"

/*
 * Memory for one purpose, in one piece. Who needs it is run twice: first only
 * the sizes are added up and the matrices have no data, then each gets its
 * place. So all that a run takes is known before its first step.
 */
struct arena {
    const char *purpose;
    real *base;                    /* NULL while it is planned */
    size_t count;                  /* numbers, padding included */
    const struct backend *backend; /* whose the memory is, once there is any */
};

/* The next rows x columns numbers; what they are at first is not defined. */
struct matrix arena_matrix(struct arena *arena, size_t rows, size_t columns);

/* Gets what was planned, zeroed, and begins anew; ERR_FAILED where there is not
 * so much. */
int arena_allocate(struct arena *arena, const struct backend *backend,
                   struct err *err);
void arena_clear(struct arena *arena);

#endif
