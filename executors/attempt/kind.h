/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_KIND_H
#define SMTUNE_EXECUTORS_ATTEMPT_KIND_H

#include "executors/executor.h"

/* What kinds of executors have in common; the table of kinds is
 * executors/executor.c. */

/* Thousandths of GPUs that it holds. */
int64_t executor_gpu_permille(const struct attempt_spec *spec);

/* -1 with an error (ERR_FAILED) where a pool can never have so many slots. */
int executor_check_pools(const struct attempt_spec *spec, struct err *err);

/* For the slot `avoid` of those that have no nodes. */
void executor_avoid_none(struct executor *executor, const char *const *nodes);

#endif
