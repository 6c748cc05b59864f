/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SCREEN_H
#define SMTUNE_BASE_SCREEN_H

#include <stddef.h>

struct buf;

/*
 * Appends the line of a log as a terminal would show it at its end: what a
 * carriage return or a backspace wrote over is gone, and so are escape
 * sequences and blanks at the end. A tab is blanks up to the next eighth
 * column. Other control bytes and invalid UTF-8 become \xHH.
 */
void screen_line(const char *line, size_t length, struct buf *out);

#endif
