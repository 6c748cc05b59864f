/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_COMMAND_H
#define SMTUNE_CLI_EACH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

struct each_input;

/*
 * COMMAND of `smtune each` as a workflow has it: its placeholders become
 * templates.
 *
 *   {}                      the line
 *   {/} {//} {.} {/.}       its basename, folder, the line without its
 *                           extension, and the basename without it
 *   {#}                     its number, from 1
 *   {NAME} {NAME/} ...      a column of a table, and the same of it
 *   {2}                     its second column, where none is called so
 *
 * A backslash before a placeholder makes it plain text, and so does a $ in a
 * script (${NAME}). A command without any gets the line of plain text as its
 * last word. What else is in braces stays, but for a name in a table that is
 * none of its columns, which is an error.
 */
struct each_command {
    bool is_shell;
    json_t *words;  /* a list of texts with templates; of a script one text */
    bool *uses;     /* [column_count of the input] whether a column is read */
    bool uses_line; /* {}, and what is made of it */
    bool computes;  /* something of the line is computed in an expression */
};

/* What the templates call it: the axis of the matrix, and, in a table, the key
 * of the whole line among its columns. */
#define EACH_AXIS  "line"
#define EACH_WHOLE "{}"

/* words[count]; none, with is_shell: each line is a script itself. ERR_USAGE.
 * The caller clears *command in every case. */
int each_command_build(struct each_command *command,
                       const struct each_input *input, const char *const *words,
                       size_t count, bool is_shell, struct err *err);
void each_command_clear(struct each_command *command);

/* Appends text in which no ${{ is a template. */
void each_command_add_plain(const char *text, size_t length, struct buf *out);

#endif
