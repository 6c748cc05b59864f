/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_CANCEL_JOBS_H
#define SMTUNE_ORCHESTRATOR_RUN_CANCEL_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct store;

/*
 * Records, in a transaction of its own or the open one, that these jobs of a
 * run are to end alone: cancelled, while the run goes on. ERR_USAGE, and
 * nothing is recorded, where one is over, paused by its schedule, or not there.
 * The caller is the run's engine or holds its lock.
 */
int cancel_jobs(struct store *store, int64_t run, const int64_t *numbers,
                size_t count, struct err *err);

#endif
