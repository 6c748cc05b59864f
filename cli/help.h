/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_HELP_H
#define SMTUNE_CLI_HELP_H

#include <stdbool.h>

#include "cli/cmd.h"

struct buf;

/* What --help and `smtune help` say, all of it from the commands' tables.
 * Each appends to *out. */

/* The list of commands, one line each, and the common options. */
void help_overview(bool colour, struct buf *out);

void help_command(const struct cmd *cmd, bool colour, struct buf *out);

/* "smtune wait [OPTION...] RUN" */
void help_usage(const struct cmd *cmd, struct buf *out);

/* The sections COMMANDS and COMMON OPTIONS of smtune(1), as roff. */
void help_man(struct buf *out);

#endif
