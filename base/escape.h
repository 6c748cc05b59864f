/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_ESCAPE_H
#define SMTUNE_BASE_ESCAPE_H

#include <stddef.h>

/* Escape sequences of terminals (ECMA-48): colours and cursor movements, titles
 * and links, character sets. */

struct buf;

/* The length of the sequence that begins with the ESC at `text`. */
size_t escape_length(const char *text, size_t length);
/* Appends the line without its sequences. */
void escape_strip(const char *line, size_t length, struct buf *out);

#endif
