/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_LINES_H
#define SMTUNE_CLI_EACH_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"

struct each_command;
struct each_input;

/*
 * The lines of `smtune each` as the run keeps them, in JSON Lines: a text, or
 * of a table an object of the columns that the command reads, all as texts.
 * Blank lines are left out.
 */
struct each_lines {
    struct buf json;
    int64_t count;
    int64_t blank;    /* lines that are left out */
    int64_t repeated; /* that are the same as an earlier one */
    char digest[DIGEST_HEX_SIZE];
};

/* ERR_FILE: a line is no text, is too long for an argument, or lacks a column;
 * or there are too many. The caller clears *lines in every case. */
int each_lines_build(struct each_lines *lines, const struct each_input *input,
                     const struct each_command *command, struct err *err);
void each_lines_clear(struct each_lines *lines);

/* Appends the n-th, from 1, for people: in one line, cut off where it is long.
 */
void each_lines_show(const struct each_lines *lines, int64_t n,
                     struct buf *out);

#endif
