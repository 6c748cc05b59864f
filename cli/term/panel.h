/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_PANEL_H
#define SMTUNE_CLI_TERM_PANEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct buf;

/*
 * A few lines at the bottom of a terminal, drawn over each time. Every line is
 * cut to the terminal's width, so that none wraps; when the terminal was made
 * narrower since, the lines that it wrapped are taken into account. A frame is
 * one write, the cursor is hidden only within it, and nothing else of the
 * terminal's state is changed: a program that is killed leaves it usable. A
 * frame that could not be written at once is left out.
 */
struct panel;

enum { BAR_COLUMNS = 24 };

/* fd: the terminal that the file stands for. columns: 0 asks it each time. It
 * has at most lines_max lines, and one less than the terminal. */
struct panel *panel_create(FILE *file, int fd, int columns, size_t lines_max);
/* How many lines it has room for now. */
size_t panel_lines(const struct panel *panel);
/* Shows these lines (each with a newline; escape codes for style are allowed)
 * in place of those before. */
void panel_show(struct panel *panel, const char *lines);
/* Takes the lines away; what is printed next stands in their place. */
void panel_hide(struct panel *panel);
/* Hides and frees; NULL is allowed. */
void panel_destroy(struct panel *panel);

/* Appends a bar of BAR_COLUMNS for a share in 0..1. */
void panel_add_bar(double share, bool utf8, struct buf *out);

#endif
