/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_TTY_H
#define SMTUNE_EXECUTORS_SHIM_TTY_H

#include "base/err.h"

/*
 * Runs the command with a pseudo-terminal of 80 columns for its output, and
 * copies that to standard output. Ends as the command does: with its status, or
 * by its signal. Returns SHIM_NOT_STARTED with err where it could not begin.
 */
int tty_run(char *const *argv, struct err *err);

#endif
