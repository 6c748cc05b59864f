/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_OUTPUT_H
#define SMTUNE_CLI_EACH_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct engine_trial;
struct store;

/*
 * What the commands wrote, in this call: to standard output, one command after
 * the other, and into files. The output of a command is that of its last
 * attempt, standard error with it.
 */
struct each_output;

struct each_output_order {
    struct store *store; /* the run's, borrowed */
    int64_t run;
    const char *results; /* folder of a file NUMBER.out for each; NULL: none */
    bool prints;         /* to standard output */
    bool keeps_order;    /* that of the lines; else as they end */
};

/* Makes the folder. What has ended already gets its file now, and is not
 * printed. NULL on error. */
struct each_output *each_output_create(const struct each_output_order *order,
                                       struct err *err);
/* A job of the run, as the engine reports it. Never waits. */
void each_output_ended(struct each_output *output,
                       const struct engine_trial *job);
/* Waits until all is written. -1: what could not be; without a text where
 * nobody reads standard output any more. Destroys in every case; NULL is
 * allowed. */
int each_output_finish(struct each_output *output, struct err *err);

#endif
