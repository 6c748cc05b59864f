/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_HINT_H
#define SMTUNE_CLI_DRIVE_HINT_H

struct buf;
struct cli;

/* Commands that are proposed to the user, so that they can be pasted. */

/* Appends "smtune VERB", with the --store that this command has found its
 * store by where neither the default nor SMTUNE_STORE would do. */
void hint_add_command(const struct cli *cli, const char *verb, struct buf *out);

/* A line of what to do next, to stderr: "  smtune VERB RUNOPERANDS  # WHAT",
 * where the operands begin with a blank, or are "". */
void hint_print(const struct cli *cli, const char *verb, const char *run,
                const char *operands, const char *what);

#endif
