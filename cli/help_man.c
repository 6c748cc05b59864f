/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/buf.h"
#include "base/conf/roff.h"
#include "cli/common.h"
#include "cli/help.h"

/* The manual's part that comes from tables: man(7) macros, lint-free. */

static void add_text(const char *text, struct buf *out)
{
    roff_add(text, strlen(text), out);
}

/* Lines as they stand. */
static void add_verbatim(const char *text, size_t length, struct buf *out)
{
    buf_add_string(out, ".PP\n.EX\n");
    roff_add(text, length, out);
    buf_add_string(out, "\n.EE\n");
}

/* A block ends at an empty line, or where lines start or cease to begin with a
 * space. */
static size_t block_length(const char *text)
{
    bool verbatim = text[0] == ' ';
    size_t length = strcspn(text, "\n");

    while (text[length] == '\n' && text[length + 1] != '\n' &&
           text[length + 1] != '\0' && (text[length + 1] == ' ') == verbatim)
        length += 1 + strcspn(text + length + 1, "\n");
    return length;
}

static void add_details(const char *details, struct buf *out)
{
    for (;;) {
        size_t length;

        details += strspn(details, "\n");
        if (*details == '\0')
            return;
        length = block_length(details);
        if (details[0] == ' ') {
            add_verbatim(details, length, out);
        } else {
            buf_add_string(out, ".PP\n");
            roff_add(details, length, out);
            buf_add_char(out, '\n');
        }
        details += length;
    }
}

static void add_examples(const char *examples, struct buf *out)
{
    size_t length = strlen(examples);

    while (length > 0 && examples[length - 1] == '\n')
        length--;
    add_verbatim(examples, length, out);
}

static void add_options(const struct opt *table, struct buf *out)
{
    for (; table != NULL && table->name != NULL; table++) {
        if (table->doc == NULL)
            continue;
        buf_add_string(out, ".TP\n");
        if (table->letter != 0)
            buf_printf(out, "\\fB\\-%c\\fR, ", table->letter);
        buf_add_string(out, "\\fB\\-\\-");
        add_text(table->name, out);
        buf_add_string(out, "\\fR");
        if (table->argument != NULL) {
            buf_add_string(out, " \\fI");
            add_text(table->argument, out);
            buf_add_string(out, "\\fR");
        }
        buf_add_char(out, '\n');
        add_text(table->doc, out);
        buf_add_string(out, ".\n");
    }
}

static void add_command(const struct cmd *cmd, struct buf *out)
{
    buf_add_string(out, ".SS \"smtune ");
    add_text(cmd->name, out);
    buf_add_string(out, "\"\n.B smtune ");
    add_text(cmd->name, out);
    buf_add_string(out, "\n[\\fIOPTION\\fR...]\n");
    if (cmd->operands != NULL) {
        add_text(cmd->operands, out);
        buf_add_char(out, '\n');
    }
    buf_add_string(out, ".PP\n");
    add_text(cmd->summary, out);
    buf_add_string(out, ".\n");
    if (cmd->details != NULL)
        add_details(cmd->details, out);
    add_options(cmd->opts, out);
    if (cmd->examples != NULL)
        add_examples(cmd->examples, out);
}

void help_man(struct buf *out)
{
    buf_add_string(out, ".SH OPTIONS OF EVERY COMMAND\n");
    add_options(common_opts, out);
    buf_add_string(out, ".SH COMMANDS\n");
    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++) {
        if (!(*cmd)->hidden)
            add_command(*cmd, out);
    }
}
