/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_NODE_H
#define SMTUNE_EXECUTORS_SHIM_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "executors/executor.h"
#include "executors/shim/options.h"

/* The node of a cluster that the shim is on, and whether it is fit for work. */

/* Its name for Slurm, else that of the host. */
void node_name(char name[EXECUTOR_NODE_MAX]);
/* Slurm's job that we are in, or 0. */
int64_t node_job(void);

/*
 * Whether the node passes its checks (health.h), or has a memo in the
 * folder options->healthy that it did. Where it does not, `unhealthy` in the
 * directory says why, as does *err.
 */
bool node_is_healthy(const struct shim_options *options,
                     const struct attempt_spec *needs, struct err *err);

#endif
