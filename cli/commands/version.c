/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune version`. */
#include <stdio.h>

#include "cli/cmd.h"

static int exec_version(const struct cli *cli, const void *options,
                        char **operands, int count, struct err *err)
{
    (void)options, (void)operands, (void)count, (void)err;
    if (cli->output == OUTPUT_TABLE)
        puts("smtune " SMTUNE_VERSION);
    else if (cli->output == OUTPUT_CSV)
        puts("version\r\n" SMTUNE_VERSION "\r");
    else
        puts("{\"version\": \"" SMTUNE_VERSION "\"}");
    return 0;
}

const struct cmd cmd_version = {
    .name = "version",
    .summary = "print the version",
    .examples = "smtune version            # for people\n"
                "smtune version -o json    # for programs\n",
    .without_config = true,
    .exec = exec_version,
};
