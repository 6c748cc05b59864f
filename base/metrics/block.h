/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_BLOCK_H
#define SMTUNE_BASE_METRICS_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/metrics/step.h"

/*
 * A block of rows "| name | number |" between lines of dashes, as Stable
 * Baselines3 prints one for each step. Any of its rows may name the step of all
 * of them, and a row "| rollout/ | |" begins a section, whose name precedes
 * those below it. Embedded in a reader; zeroed at first.
 */

enum { METRIC_SECTION_MAX = 64 };

struct metric_block {
    bool is_open;
    bool has_step;
    double step;
    char section[METRIC_SECTION_MAX]; /* "rollout/", or "" */
    size_t section_length;
};

/* What a line is to the block. */
enum metric_block_line {
    BLOCK_FENCE, /* ends a block, and may begin one */
    BLOCK_ROW,
    BLOCK_OTHER /* ends it */
};

/* Follows the block by a line. */
enum metric_block_line metric_block_follow(
    struct metric_block *block, const struct metric_resource *resource,
    const char *line, size_t length);

/* Whether the row has that name behind its section's, and a number; where the
 * name is in the line, or NULL. */
const char *metric_block_find(const struct metric_block *block,
                              const char *line, size_t length, const char *name,
                              double *value);

#endif
