/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_CSV_H
#define SMTUNE_CLI_EACH_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * The records of a CSV text, one after another, as RFC 4180 has them: a cell
 * may be in double quotes, in which a quote is doubled, and commas and ends of
 * lines are part of it. Cells of tab-separated values have no quotes. Lines end
 * with LF or CR LF. Embedded; the text is borrowed.
 */
struct csv {
    const char *at, *end;
    char separator;
    bool has_quotes;
    size_t line; /* 1-based, where `at` is */
    /* Of the record. */
    size_t first_line;
    const char *start; /* as it is written, [length], without its end of line */
    size_t length;
    struct buf text; /* of its cells, with a NUL behind each */
    size_t *offsets; /* [count] of the cells in it */
    size_t count, capacity;
};

void csv_begin(struct csv *csv, const char *text, size_t length, bool is_tsv);
void csv_clear(struct csv *csv);

/* 1: there is one more; 0: there is none; -1 with ERR_FILE and the number of
 * the line in the text. */
int csv_next(struct csv *csv, struct err *err);
/* i < count; lives until the next one. */
const char *csv_cell(const struct csv *csv, size_t i);

#endif
