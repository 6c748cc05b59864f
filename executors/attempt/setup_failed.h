/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_SETUP_FAILED_H
#define SMTUNE_EXECUTORS_ATTEMPT_SETUP_FAILED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What a line of `setup` that fails leaves in the attempt's directory
 * (orchestrator/wrap/setup.h): a file with one line of text. Needs no library
 * but libc, for the shim's sake.
 */

#define SETUP_FAILED_FILE "setup_failed"

/* The text of that file and the last line of the log, cut to size. False: no
 * line of setup has failed. */
bool setup_failed_read(const char *directory, char *text, size_t size);

#endif
