/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_RUN_VERSION_H
#define SMTUNE_ORCHESTRATOR_RUN_RUN_VERSION_H

#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"

/*
 * The versions of a run's file: the one that it began with, and one for each
 * `smtune edit`. The row of the run has the first and the last, the events have
 * all of them.
 */

/* Of an experiment's run: the version by which the last attempt of a job began;
 * the last version where it had no attempt. The caller's to destroy. NULL with
 * an error, also where that version does not pass the checks any more. */
struct experiment *run_read_version(struct store *store, int64_t run,
                                    int64_t job, struct err *err);

#endif
