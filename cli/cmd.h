/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_CMD_H
#define SMTUNE_CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/opts.h"
#include "cli/term/output.h"

/*
 * One command, one file: cli/commands/NAME.c, with a `const struct cmd
 * cmd_NAME` and the function behind it. A new command is that file and one line
 * in cli/cmd.c.
 */

struct cmd {
    const char *name;
    const char *operands;   /* "RUN [TRIAL]", for usage */
    const char *summary;    /* one line, for the list of commands */
    const char *details;    /* paragraphs, with an empty line between them, for
                               --help and the manual, which fill the lines (but
                               not those that begin with a space); or NULL */
    const char *examples;   /* lines of `command   # what it does` */
    const char *completes;  /* operands: "run", "file", "command", the words
                               themselves ("bash zsh fish"), or NULL */
    const struct opt *opts; /* NULL: none of its own */
    size_t options_size;    /* of the struct that opts fill */
    int min_operands, max_operands; /* -1: any number */
    bool hidden;                    /* not in the list of commands */
    bool keeps_dashes; /* operands end at "--", which is one of them, as are the
                          words behind it */
    bool without_config; /* it begins with wrong configuration files, too */
    bool has_loop;       /* it does not begin without descriptors to be had */

    /*
     * Does it. Data goes to stdout, messages to stderr. Returns the exit
     * status (0 done), or -1 with err set, which main prints and turns into
     * its exit status. An error without text is not printed: stdout is a pipe
     * that nobody reads any more. When diagnostics of a file have been printed
     * already, returns 3 itself.
     */
    int (*exec)(const struct cli *cli, const void *options, char **operands,
                int count, struct err *err);
};

extern const struct cmd *const commands[]; /* NULL-ended, in help's order */
const struct cmd *cmd_find(const char *name);
/* ERR_USAGE with the nearest command's name. Always -1. */
int cmd_unknown(const char *name, struct err *err);
/* The heading it stands under in the list of commands. */
const char *cmd_group(const struct cmd *cmd);

#endif
