/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Help and the manual's list of commands, made from the tables of commands. No
 * text exists twice, so help, manual and completions cannot differ. A line of
 * details that begins with a space is kept as it is; others are filled to the
 * width.
 */
#include "cli/help.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/common.h"
#include "cli/term/term.h"

enum { WIDTH = 79, OPTION_COLUMN = 26, COMMAND_COLUMN = 14, LEFT_MAX = 64 };

static void add_spaces(struct buf *out, size_t count)
{
    while (count-- > 0)
        buf_add_char(out, ' ');
}

static void add_heading(const char *title, bool colour, struct buf *out)
{
    buf_printf(out, "\n%s%s%s\n", term_style(STYLE_BOLD, colour), title,
               term_style(STYLE_PLAIN, colour));
}

/* Fills lines with the words of text[0..length), all from column `indent`;
 * the first line has reached that column already. */
static void add_filled(const char *text, size_t length, size_t indent,
                       struct buf *out)
{
    const char *end = text + length;
    size_t column = indent;

    while (text < end) {
        size_t blank = strspn(text, " \n");
        size_t word = strcspn(text + blank, " \n");

        text += blank;
        if (text >= end)
            break;
        if (text + word > end)
            word = (size_t)(end - text);
        if (column > indent && column + 1 + word > WIDTH) {
            buf_add_char(out, '\n');
            add_spaces(out, indent);
            column = indent;
        } else if (column > indent) {
            buf_add_char(out, ' ');
            column++;
        }
        buf_add(out, text, word);
        column += word;
        text += word;
    }
    buf_add_char(out, '\n');
}

/* The length of the next piece of details: a line that begins with a space, an
 * empty line, or a paragraph up to either. */
static size_t piece_length(const char *text)
{
    size_t length = strcspn(text, "\n");

    if (text[0] == ' ' || text[0] == '\n')
        return length;
    while (text[length] == '\n' && strchr("\n ", text[length + 1]) == NULL)
        length += 1 + strcspn(text + length + 1, "\n");
    return length;
}

static void add_details(const char *details, struct buf *out)
{
    while (*details != '\0') {
        size_t length = piece_length(details);

        if (length == 0) {
            buf_add_char(out, '\n');
        } else if (details[0] == ' ') {
            buf_add(out, details, length);
            buf_add_char(out, '\n');
        } else {
            add_filled(details, length, 0, out);
        }
        details += length;
        details += *details == '\n';
    }
}

static void add_row(const char *left, const char *right, size_t column,
                    struct buf *out)
{
    size_t width = text_columns(left) + 2;

    buf_printf(out, "  %s", left);
    if (width + 2 > column) {
        buf_add_char(out, '\n');
        width = 0;
    }
    add_spaces(out, column - width);
    add_filled(right, strlen(right), column, out);
}

static bool table_has(const struct opt *table, const char *name)
{
    for (; table != NULL && table->name != NULL; table++) {
        if (strcmp(table->name, name) == 0)
            return true;
    }
    return false;
}

static void add_options(const struct opt *table, const struct opt *hidden_by,
                        struct buf *out)
{
    for (; table != NULL && table->name != NULL; table++) {
        struct buf left = BUF_INIT;

        if (table->doc == NULL || table_has(hidden_by, table->name))
            continue;
        if (table->letter != 0)
            buf_printf(&left, "-%c, ", table->letter);
        else
            buf_add_string(&left, "    ");
        buf_printf(&left, "--%s", table->name);
        if (table->argument != NULL)
            buf_printf(&left, " %s", table->argument);
        add_row(buf_text(&left), table->doc, OPTION_COLUMN, out);
        buf_clear(&left);
    }
}

static void add_examples(const char *examples, struct buf *out)
{
    while (*examples != '\0') {
        size_t length = strcspn(examples, "\n");

        buf_add_string(out, "  ");
        buf_add(out, examples, length);
        buf_add_char(out, '\n');
        examples += length;
        examples += *examples == '\n';
    }
}

void help_usage(const struct cmd *cmd, struct buf *out)
{
    buf_printf(out, "smtune %s [OPTION...]%s%s", cmd->name,
               cmd->operands != NULL ? " " : "",
               cmd->operands != NULL ? cmd->operands : "");
}

void help_command(const struct cmd *cmd, bool colour, struct buf *out)
{
    buf_printf(out, "%susage:%s ", term_style(STYLE_BOLD, colour),
               term_style(STYLE_PLAIN, colour));
    help_usage(cmd, out);
    buf_printf(out, "\n\nsmtune %s: %s.\n", cmd->name, cmd->summary);
    if (cmd->details != NULL) {
        buf_add_char(out, '\n');
        add_details(cmd->details, out);
    }
    if (cmd->opts != NULL && cmd->opts->name != NULL) {
        add_heading("Options", colour, out);
        add_options(cmd->opts, NULL, out);
    }
    add_heading("Common options", colour, out);
    add_options(common_opts, cmd->opts, out);
    if (cmd->examples != NULL) {
        add_heading("Examples", colour, out);
        add_examples(cmd->examples, out);
    }
}

void help_overview(bool colour, struct buf *out)
{
    const char *group = "";

    buf_printf(out, "%susage:%s smtune [OPTION...] COMMAND [OPTION...]\n\n",
               term_style(STYLE_BOLD, colour), term_style(STYLE_PLAIN, colour));
    buf_add_string(out, "smtune evaluates settings of a training command's "
                        "hyperparameters, several at\n"
                        "once, and keeps all results in one file.\n");
    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++) {
        if ((*cmd)->hidden)
            continue;
        if (strcmp(cmd_group(*cmd), group) != 0)
            add_heading(group = cmd_group(*cmd), colour, out);
        add_row((*cmd)->name, (*cmd)->summary, COMMAND_COLUMN, out);
    }
    add_heading("Options of every command", colour, out);
    add_options(common_opts, NULL, out);
    buf_add_string(out,
                   "\n"
                   "'smtune help COMMAND' shows the help of a command, 'man "
                   "smtune' the manual.\n");
}
