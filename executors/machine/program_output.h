/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_PROGRAM_OUTPUT_H
#define SMTUNE_EXECUTORS_MACHINE_PROGRAM_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

/* What a program of the system writes, to standard output and error. */

enum { PROGRAM_OUTPUT_MAX = 16384, PROGRAM_MISSING = 127 /* as of a shell */ };

struct program_output {
    char text[PROGRAM_OUTPUT_MAX]; /* its end, where there is more */
    size_t length;
};

/* Runs argv, found in PATH, and waits for its end: its wait status, that of an
 * exit with PROGRAM_MISSING where there is no such program, -1 where it took
 * longer and was killed, or could not be started. */
int program_run(char *const *argv, int64_t limit_ms,
                struct program_output *output);

#endif
