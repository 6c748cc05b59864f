/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands to copy, in messages. They must work in the user's shell as they are
 * printed, so they carry --store if the default would find another store. */
#include "cli/drive/hint.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/expr/template_shell.h"
#include "cli/cmd.h"
#include "cli/term/output.h"

enum { WHAT_COLUMN = 40 };

void hint_add_command(const struct cli *cli, const char *verb, struct buf *out)
{
    buf_add_string(out, "smtune ");
    if (strcmp(cli->store, cli->default_store) != 0) {
        buf_add_string(out, "--store ");
        shell_add_word(cli->store, out);
        buf_add_char(out, ' ');
    }
    buf_add_string(out, verb);
}

void hint_print(const struct cli *cli, const char *verb, const char *run,
                const char *operands, const char *what)
{
    struct buf command = BUF_INIT;

    hint_add_command(cli, verb, &command);
    buf_printf(&command, " %s%s", run, operands);
    fprintf(stderr, "  %-*s  # %s\n", WHAT_COLUMN, buf_text(&command), what);
    buf_clear(&command);
}
