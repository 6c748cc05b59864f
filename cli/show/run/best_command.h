/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_BEST_COMMAND_H
#define SMTUNE_CLI_SHOW_RUN_BEST_COMMAND_H

#include "cli/show/run/run_view.h"

struct cli;

/* Prints the command of the run's best trial, which it has, to be run again by
 * hand: as it is with all of the resource, where there is a schedule. Without
 * cli->with_secrets they are masked, with a note to stderr. 0, or -1. */
int best_command_print(const struct cli *cli, const struct run_view *view,
                       struct err *err);

#endif
