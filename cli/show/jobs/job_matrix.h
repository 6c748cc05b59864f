/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_JOB_MATRIX_H
#define SMTUNE_CLI_SHOW_JOBS_JOB_MATRIX_H

#include "base/json.h"
#include "cli/show/run/run_view.h"

/* The matrix of a step as its run has it: {"part": [0, 1], ...}. A new
 * reference; NULL: it has none. */
json_t *job_matrix_read(const struct run_view *view, int64_t step);

/* The values of one copy: {"part": 1, ...}. A new reference; NULL: none. */
json_t *job_matrix_values(const json_t *axes, int64_t copy);

#endif
