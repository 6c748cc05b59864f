/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_CHILD_RUNS_H
#define SMTUNE_CLI_DRIVE_CHILD_RUNS_H

#include <stdint.h>

#include "base/json.h"

struct store;

/* Sends a request, which it takes over, to the engines of all child runs of a
 * run. Those that have none, or do not answer, are passed over: what they are
 * told they learn from the run above when they start. */
void child_runs_tell(struct store *store, int64_t run, json_t *request);

#endif
