/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table of text whose rows come one by one. The widths of columns follow from
 * the first TABLE_HELD rows, which are held back. Memory is bounded, and a
 * table of a million rows begins at once. If the terminal is too narrow, text
 * columns shrink first, then lines are cut.
 */
#include "cli/term/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/term/cell.h"
#include "cli/term/term.h"

enum { GAP = 2, NARROWEST = 8 };

struct table {
    const struct table_column *columns;
    size_t count;
    struct table_style style;
    char **titles; /* [count] escaped */
    size_t *widths;
    char **held; /* [held_rows * count] */
    size_t held_rows;
    bool settled; /* the widths are fixed, the heading is printed */
};

/* The name of a metric is whatever a program printed. */
static char *copy_title(const struct table_column *column)
{
    const char *title = column->title != NULL ? column->title : column->key;
    struct buf text = BUF_INIT;

    term_shown(title, &text);
    return buf_take(&text);
}

struct table *table_create(const struct table_column *columns, size_t count,
                           struct table_style style)
{
    struct table *table = mem_zero(sizeof(*table));

    table->columns = columns;
    table->count = count;
    table->style = style;
    table->widths = mem_array(count, sizeof(*table->widths));
    table->held = mem_array(count * TABLE_HELD, sizeof(*table->held));
    table->titles = mem_array(count, sizeof(*table->titles));
    for (size_t i = 0; i < count; i++) {
        table->titles[i] = copy_title(&columns[i]);
        table->widths[i] = text_columns(table->titles[i]);
    }
    return table;
}

void table_destroy(struct table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->held_rows * table->count; i++)
        free(table->held[i]);
    for (size_t i = 0; i < table->count; i++)
        free(table->titles[i]);
    free(table->titles);
    free(table->held);
    free(table->widths);
    free(table);
}

static size_t total_width(const struct table *table)
{
    size_t total = 0;

    for (size_t i = 0; i < table->count; i++)
        total += table->widths[i] + (i > 0 ? GAP : 0);
    return total;
}

/* The widest text column gives way first, and down to NARROWEST. */
static void shrink_to_fit(struct table *table)
{
    while (total_width(table) > table->style.max_columns) {
        size_t widest = table->count;

        for (size_t i = 0; i < table->count; i++) {
            if (table->columns[i].type == COLUMN_TEXT &&
                table->widths[i] > NARROWEST &&
                (widest == table->count ||
                 table->widths[i] > table->widths[widest]))
                widest = i;
        }
        if (widest == table->count)
            return;
        table->widths[widest]--;
    }
}

/* Appends as much of text as takes `columns`, the last one being a mark. */
static void add_cut(const char *text, size_t columns, bool utf8,
                    struct buf *out)
{
    size_t length = strlen(text);
    size_t used = 0;

    while (length > 0) {
        size_t bytes = text_next_rune(text, length, NULL);
        char rune[8] = {0};

        bytes = bytes > 0 ? bytes : 1;
        memcpy(rune, text, bytes);
        used += text_columns(rune);
        if (used >= columns)
            break;
        buf_add(out, text, bytes);
        text += bytes;
        length -= bytes;
    }
    buf_add_string(out, utf8 ? "\u2026" : "~");
}

static void add_spaces(struct buf *out, size_t count)
{
    while (count-- > 0)
        buf_add_char(out, ' ');
}

struct cell_place {
    size_t index; /* of the column */
    size_t used;  /* columns of the line so far */
    enum style style;
};

/* Appends one cell; the columns used by then. */
static size_t add_cell(const struct table *table, struct cell_place place,
                       const char *text, struct buf *out)
{
    const struct table_column *column = &table->columns[place.index];
    size_t limit = table->style.max_columns;
    size_t width = text_columns(text);
    size_t room = table->widths[place.index];
    bool colour = table->style.colour && place.style != STYLE_PLAIN;
    bool cut;

    if (limit > 0 && place.used >= limit)
        return place.used;
    if (limit > 0 && room > limit - place.used)
        room = limit - place.used;
    cut = limit > 0 && width > room;
    if (column_is_right_aligned(column) && width < room)
        add_spaces(out, room - width);
    buf_add_string(out, term_style(place.style, colour));
    if (cut)
        add_cut(text, room, table->style.utf8, out);
    else
        buf_add_string(out, text);
    buf_add_string(out, term_style(STYLE_PLAIN, colour));
    if (!column_is_right_aligned(column) && width < room &&
        place.index + 1 < table->count)
        add_spaces(out, room - width);
    return place.used + (width > room && !cut ? width : room);
}

static void add_line(const struct table *table, const char *const *texts,
                     bool heading, struct buf *out)
{
    size_t limit = table->style.max_columns;
    size_t used = 0;

    for (size_t i = 0; i < table->count; i++) {
        enum style style = heading ? STYLE_BOLD : STYLE_PLAIN;

        if (!heading && table->columns[i].type == COLUMN_STATE)
            style = term_state_style(texts[i]);
        if (i > 0 && limit > 0 && used + GAP >= limit)
            break;
        if (i > 0) {
            add_spaces(out, GAP);
            used += GAP;
        }
        used =
            add_cell(table, (struct cell_place){i, used, style}, texts[i], out);
    }
    buf_add_char(out, '\n');
}

static void print_cells(const struct table *table, const struct value *cells,
                        char **texts)
{
    for (size_t i = 0; i < table->count; i++) {
        struct buf text = BUF_INIT;

        cell_print_table(&table->columns[i], &cells[i], &text);
        texts[i] = buf_take(&text);
    }
}

void table_add(struct table *table, const struct value *cells, struct buf *out)
{
    char **texts = table->held;

    if (table->settled) {
        print_cells(table, cells, texts);
        add_line(table, (const char *const *)texts, false, out);
        for (size_t i = 0; i < table->count; i++)
            free(texts[i]);
        return;
    }
    texts += table->held_rows * table->count;
    print_cells(table, cells, texts);
    table->held_rows++;
    for (size_t i = 0; i < table->count; i++) {
        size_t width = text_columns(texts[i]);

        if (width > table->widths[i])
            table->widths[i] = width;
    }
    if (table->held_rows == TABLE_HELD)
        table_flush(table, out);
}

void table_flush(struct table *table, struct buf *out)
{
    if (table->settled)
        return;
    table->settled = true;
    if (table->style.max_columns > 0)
        shrink_to_fit(table);
    add_line(table, (const char *const *)table->titles, true, out);
    for (size_t row = 0; row < table->held_rows; row++) {
        char **texts = table->held + row * table->count;

        add_line(table, (const char *const *)texts, false, out);
        for (size_t i = 0; i < table->count; i++)
            free(texts[i]);
    }
    table->held_rows = 0;
}
