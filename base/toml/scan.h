/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_TOML_SCAN_H
#define SMTUNE_BASE_TOML_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/err.h"

struct buf;

/* What a TOML text is made of, for base/toml/ alone: each function moves `at`
 * behind what it has read, or returns -1 with ERR_FILE at its place. */

struct toml_scan {
    const char *text;
    size_t length;
    size_t at;
    struct err *err;
};

/* ERR_FILE with the line and the column, in characters, of a place. -1. */
int toml_refuse(const struct toml_scan *scan, size_t at, const char *format,
                ...) PRINTF_LIKE(3, 4);

/* The line of a place, from 1. */
int toml_line(const struct toml_scan *scan, size_t at);

/* That the text is UTF-8 and has no control character but tabs and line ends;
 * moves behind a byte order mark. To be called first. */
int toml_check_text(struct toml_scan *scan);

/* Whether these bytes are next. */
bool toml_is_next(const struct toml_scan *scan, const char *bytes);
/* The same, and moves behind them. */
bool toml_take(struct toml_scan *scan, const char *bytes);

/* Whether a bare key may have it. */
bool toml_is_bare_char(char c);

void toml_skip_blanks(struct toml_scan *scan);
/* Blanks, comments and line ends. */
void toml_skip_lines(struct toml_scan *scan);
/* Blanks, a comment, and the end of the line or of the text. */
int toml_end_line(struct toml_scan *scan);

/* One part of a key, bare or quoted, whose text is appended. */
int toml_scan_part(struct toml_scan *scan, struct buf *part);

/* A value that is neither an array nor an inline table. */
int toml_scan_scalar(struct toml_scan *scan);

#endif
