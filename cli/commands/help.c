/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune help`, and behind the hidden option --man the commands' part of the
 * manual page. All text is made from the tables of commands (cli/help.c). */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/help.h"

struct help_options {
    bool man;
};

static int exec_help(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    const struct help_options *chosen = options;
    const struct cmd *cmd = NULL;
    struct buf out = BUF_INIT;

    if (count > 0) {
        cmd = cmd_find(operands[0]);
        if (cmd == NULL)
            return cmd_unknown(operands[0], err);
    }
    if (chosen->man)
        help_man(&out);
    else if (cmd != NULL)
        help_command(cmd, cli->colour_out, &out);
    else
        help_overview(cli->colour_out, &out);
    fputs(buf_text(&out), stdout);
    buf_clear(&out);
    return 0;
}

static const struct opt help_opts[] = {
    {.name = "man",
     .type = OPT_FLAG,
     .offset = offsetof(struct help_options, man)},
    {.name = NULL},
};

const struct cmd cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "list all commands, or show the help of one",
    .examples = "smtune help        # all commands\n"
                "smtune help run    # one command\n",
    .completes = "command",
    .opts = help_opts,
    .options_size = sizeof(struct help_options),
    .max_operands = 1,
    .without_config = true,
    .exec = exec_help,
};
