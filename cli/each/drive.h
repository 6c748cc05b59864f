/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_DRIVE_H
#define SMTUNE_CLI_EACH_DRIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct cli;
struct each_lines;
struct run;

struct each_driving {
    const struct cli *cli;
    const struct each_lines *lines;
    const char *results; /* folder for the outputs; NULL: none */
    bool keeps_order;    /* of the lines, in standard output */
    bool is_detached;    /* standard output is a log, and gets none */
};

/* Drives the run to its end in this process, with the outputs of its commands,
 * and reports what came of it. The exit status, or -1. */
int each_drive(const struct each_driving *driving, struct run *run,
               struct err *err);

/* The outputs of a run that is over, of the store in that folder. */
int each_write_results(const char *store, int64_t run, const char *results,
                       struct err *err);

#endif
