/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_TERM_H
#define SMTUNE_CLI_TERM_TERM_H

#include <stdbool.h>

/* What the terminal can show. */

struct buf;

enum { TERM_DEFAULT_COLUMNS = 72 };

/* Whether TERM says that nothing can be drawn over. */
bool term_is_dumb(void);

/* Columns of the terminal behind fd, or COLUMNS; 0 when neither says. */
int term_columns(int fd);

/* Its lines; 0 when it is none. */
int term_lines(int fd);

/* Whether a few lines can be written without waiting: not where the user has
 * stopped the terminal (Ctrl-S), or a pipe's reader does not read. True for -1.
 */
bool term_is_writable(int fd);

/* Whether the user's locale is UTF-8 and the terminal is not a dumb one. */
bool term_is_utf8(void);

/*
 * Whether escape codes may go to a file: `choice` (auto, always, never; NULL
 * is auto) decides; on auto NO_COLOR, CLICOLOR_FORCE, and whether it is a
 * terminal that is not dumb.
 */
bool term_has_colour(const char *choice, bool is_terminal);

enum style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_GOOD,
    STYLE_BAD,
    STYLE_BUSY,
    STYLE_NOTE
};

/* Text from outside as it may be printed, on one line and escaped; in *shown,
 * which is emptied first. */
const char *term_shown(const char *text, struct buf *shown);

/* The escape code that starts a style (STYLE_PLAIN: ends all); "" without
 * colour. */
const char *term_style(enum style style, bool colour);

/* How a state's word is shown: succeeded is good, failed bad, and so on. */
enum style term_state_style(const char *state);

#endif
