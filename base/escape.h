/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_ESCAPE_H
#define SMTUNE_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Escape sequences of terminals (ECMA-48): colours and cursor movements, titles
 * and links, character sets. They begin with ESC, or with a control of U+0080
 * to U+009F in UTF-8. */

struct buf;

/* The length of the sequence that begins at `text`; 0: none does. */
size_t escape_length(const char *text, size_t length);
bool escape_is_in(const char *line, size_t length);
/* Appends the line without its sequences. */
void escape_strip(const char *line, size_t length, struct buf *out);

/* The length of the colour or style, ESC [ numbers m, that begins at `text`; 0:
 * none does. */
size_t escape_colour_length(const char *text, size_t length);

/*
 * Appends text from outside for a terminal: line feeds, carriage returns, tabs
 * and colours (ESC [ numbers m) as they are, everything else as text_escape()
 * does. The bytes that were taken: not those of a colour or a character that
 * may go on behind the end, unless is_end.
 */
size_t escape_show(const char *text, size_t length, bool is_end,
                   struct buf *out);

#endif
