/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_RUN_OUTCOME_H
#define SMTUNE_CLI_SHOW_RUN_RUN_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct store;

/* How a run stands by its record alone. */
struct run_outcome {
    char *name, *state, *reason;
    bool is_workflow;
    bool is_asked; /* other programs run its trials */
    bool has_best;
    bool has_target; /* asked for by its file, or --set */
};

/* Replaces what is there; to be started from zeroes. 0, or -1. */
int run_outcome_read(struct run_outcome *outcome, struct store *store,
                     int64_t run, struct err *err);
void run_outcome_clear(struct run_outcome *outcome);

/* The exit status for a run that is over: 0 done; 1 it failed or was stopped; 6
 * it ended without what was asked (its target, or any result at all). */
int run_outcome_status(const struct run_outcome *outcome);

#endif
