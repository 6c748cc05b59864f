/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_TRIAL_RUN_H
#define SMTUNE_CLI_DRIVE_TRIAL_RUN_H

#include <stddef.h>

#include "base/err.h"
#include "cli/cmd.h"

/*
 * One trial of an experiment, in a store of its own that exists only for it.
 * `smtune run` in another process runs it, so it gets all that a trial of a run
 * gets.
 */
struct trial_run {
    char *store; /* its folder */
};

/* Receives the output of the trial as it is made; the metrics that it wrote to
 * $SMTUNE_METRICS are read from the folder of the attempt. */
typedef void (*trial_output_fn)(void *user, const char *bytes, size_t length);

/*
 * Runs it and waits; `set` are the assignments of the file. 0 where there was a
 * trial, whatever came of it; -1 with the reason where there was none. The
 * caller clears *run in any case, which removes the store.
 */
int trial_run_start(struct trial_run *run, const struct cli *cli,
                    const char *path, const struct opt_texts *set,
                    trial_output_fn output, void *user, struct err *err);
void trial_run_clear(struct trial_run *run);

/* The run's name in that store. */
extern const char trial_run_name[];

#endif
