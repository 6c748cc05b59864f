/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_RUN_END_H
#define SMTUNE_CLI_DRIVE_RUN_END_H

#include <stdint.h>

#include "base/err.h"

struct cli;
struct engine_result;
struct spec;
struct store;

/* A run that has come to its end just now. All is borrowed. */
struct run_end {
    struct store *store;
    int64_t run;
    const char *name;
    const struct spec *spec;
    const struct engine_result *result;
};

/*
 * What came of it: the summary, or with -o json one object, to stdout; why it
 * ended, where it did not reach what was asked, to stderr. The exit status: 0
 * done, 1 the run failed, 6 ended without reaching what was asked (its target,
 * or any result at all), 130 or 143 stopped by a signal; -1 with err.
 */
int run_end_print(const struct cli *cli, const struct run_end *end,
                  struct err *err);

/* That status alone. */
int run_end_status(const struct run_end *end);

/* The same to stdout of a run of the record that has no engine. 0, or -1. */
int run_end_print_recorded(const struct cli *cli, struct store *store,
                           int64_t run, struct err *err);

/* For a command that finds nothing left to run: with -o json that object, for
 * people nothing. No store may be open. 0, or -1. */
int run_end_print_over(const struct cli *cli, int64_t run, struct err *err);

#endif
