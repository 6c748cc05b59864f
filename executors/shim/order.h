/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_ORDER_H
#define SMTUNE_EXECUTORS_SHIM_ORDER_H

#include "executors/executor.h"
#include "executors/shim/options.h"

/* One attempt in the foreground: this process ends when it does. SIGTERM to it
 * ends the attempt, with its grace period. */

/* Returns the status to exit with; err says why where it could not be started.
 */
int order_run_command(const struct attempt_spec *spec, bool without_cgroups,
                      struct err *err);

/*
 * The same for the order in a directory (order_file.h), which options->order or
 * ->orders says, on a node of a cluster: waits for its turn if it is a reserve
 * (reserve.h), checks the node's health, shows its pulse. Where the
 * directory is claimed already, by another copy of the job, or void, it does
 * nothing and returns 0.
 */
int order_run(const struct shim_options *options, struct err *err);

#endif
