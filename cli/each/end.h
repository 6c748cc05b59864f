/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_END_H
#define SMTUNE_CLI_EACH_END_H

#include <stdbool.h>

#include "base/err.h"

struct cli;
struct each_lines;
struct run_end;

/*
 * What came of the lines, to stderr, because stdout has the output of their
 * commands: how many succeeded, the first that failed, what to do. With -o json
 * one object to stdout, as run_end_print() has it. The exit status of the run,
 * or -1 with err.
 */
int each_end_print(const struct cli *cli, const struct run_end *end,
                   const struct each_lines *lines, struct err *err);

/* The same of LINES that have none, for which there is no run; and of a dry run
 * of them. */
void each_end_print_empty(const struct cli *cli, const char *path,
                          bool is_dry_run);

#endif
