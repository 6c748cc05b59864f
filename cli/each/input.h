/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_INPUT_H
#define SMTUNE_CLI_EACH_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/json.h"

/* What LINES of `smtune each` has, and the table of `smtune import`. */

struct csv;

enum each_format { EACH_LINES, EACH_CSV, EACH_TSV, EACH_JSONL };

extern const char *const each_format_names[]; /* NULL-ended */

struct each_source {
    const char *path;   /* a file, a pattern of files, or "-" */
    const char *format; /* of each_format_names; NULL: by the file's name */
    bool has_nuls;      /* a NUL ends a line, not a line feed */
};

struct each_input {
    const char *path; /* the source's */
    enum each_format format;
    bool has_nuls;
    struct buf text;
    char **columns; /* [column_count] the names of a table's */
    size_t column_count;
};

/*
 * Reads all of it. A pattern has the paths that match as its lines, in the
 * order of their bytes. ERR_NOT_FOUND: there is no such file, or none that
 * matches; ERR_FILE: it has no sound header. The caller clears *input in every
 * case.
 */
int each_input_read(struct each_input *input, const struct each_source *source,
                    struct err *err);
void each_input_clear(struct each_input *input);

/* Whether there is nothing but blanks and ends of lines. */
bool each_input_is_empty(const struct each_input *input);
/* Whether its lines have columns. */
bool each_input_is_table(const struct each_input *input);
/* ERR_FILE with the number of the line, and why it is none. Always -1. */
int each_input_refuse(const struct each_input *input, size_t line,
                      struct err *err, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* One that is not blank, while it is visited; all borrowed. */
struct each_row {
    size_t line;      /* 1-based, where it begins */
    const char *text; /* [length] as it is written, without its end of line */
    size_t length;
    const struct csv *csv; /* its cells, one for each column; NULL: no table of
                              cells */
};
/* Visits its lines in their order, without the header. *blank: those that were
 * left out. 0, -1 with an error, or what visit() returned in place of 0. */
int each_input_visit(const struct each_input *input,
                     int (*visit)(void *user, const struct each_row *row),
                     void *user, int64_t *blank, struct err *err);

/* The JSON object of a line, a new reference; NULL: it is none. */
json_t *each_input_object(const struct each_input *input, size_t line,
                          const char *text, size_t length, struct err *err);

#endif
