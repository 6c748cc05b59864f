/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/screen.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/text.h"

/*
 * A row of cells with one character each. Characters go where the cursor is; of
 * the sequences only those count that erase the line or its rest. The rest of a
 * longer line that a shorter one wrote over would make no sense, so it goes.
 */

enum { TAB_COLUMNS = 8 };

struct cell {
    const char *text;
    size_t length;
};

struct row {
    struct cell *cells;
    size_t count, capacity, cursor;
    bool is_rewritten; /* the next character begins the line anew */
};

static void put(struct row *row, const char *text, size_t length)
{
    if (row->is_rewritten)
        row->count = row->cursor = 0;
    row->is_rewritten = false;
    if (row->cursor == row->count) {
        row->cells = mem_grow(row->cells, row->count, &row->capacity,
                              sizeof(*row->cells));
        row->count++;
    }
    row->cells[row->cursor++] = (struct cell){text, length};
}

/* ESC [ K erases what is behind the cursor, ESC [ 2 K the line. */
static void erase(struct row *row, const char *sequence, size_t length)
{
    if (length == 4 && memcmp(sequence, "\033[2K", 4) == 0) {
        row->count = row->cursor = 0;
        return;
    }
    if ((length == 3 && memcmp(sequence, "\033[K", 3) == 0) ||
        (length == 4 && memcmp(sequence, "\033[0K", 4) == 0))
        row->count = row->cursor;
}

/* The length of what is at `text`. */
static size_t take(struct row *row, const char *text, size_t length)
{
    size_t taken = escape_length(text, length);

    if (taken > 0) {
        erase(row, text, taken);
        return taken;
    }
    taken = 1;
    switch (*text) {
    case '\r':
        row->is_rewritten = true;
        break;
    case '\b':
        row->cursor -= row->cursor > 0;
        break;
    case '\t':
        do
            put(row, " ", 1);
        while (row->cursor % TAB_COLUMNS != 0);
        break;
    default:
        taken = text_next_rune(text, length, NULL);
        taken += taken == 0;
        put(row, text, taken);
        break;
    }
    return taken;
}

void screen_line(const char *line, size_t length, struct buf *out)
{
    struct row row = {NULL, 0, 0, 0, false};

    for (size_t at = 0; at < length;)
        at += take(&row, line + at, length - at);
    while (row.count > 0 && *row.cells[row.count - 1].text == ' ')
        row.count--;
    for (size_t i = 0; i < row.count; i++)
        text_escape(row.cells[i].text, row.cells[i].length, out);
    free(row.cells);
}
