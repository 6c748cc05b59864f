/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_OPS_CONV_CHUNK_H
#define SMTUNE_TRAINING_OPS_CONV_CHUNK_H

#include <stdbool.h>

#include "training/ops/ops.h"

/* Some lines of pixels that follow each other, counted over all images, and
 * the patches under the window. Begin with all zeroes. */
struct conv_chunk {
    struct grid grid;
    size_t line, lines;
    struct matrix patches; /* [lines x width][9 x channels] */
};

/* The chunk after this one of such images; false: there is none. */
static inline bool conv_chunk_next(struct conv_chunk *chunk,
                                   const struct conv_space *space,
                                   struct matrix x)
{
    size_t width = space->grid.width, most = space->patches.rows / width;
    size_t left;

    chunk->grid = space->grid;
    chunk->line += chunk->lines;
    left = x.rows / width - chunk->line;
    chunk->lines = left < most ? left : most;
    chunk->patches = matrix_rows(space->patches, chunk->lines * width);
    return left > 0;
}

/* Its pixels, of an image of any number of channels. */
static inline struct matrix conv_chunk_pixels(const struct conv_chunk *chunk,
                                              struct matrix x)
{
    return matrix_slice(x, chunk->line * chunk->grid.width,
                        chunk->patches.rows);
}

#endif
