/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A column of a table in memory and on the wire.
 *
 * A cell is 1 to 8 bytes, because a table of a hundred thousand trials is sent
 * to a browser. Numbers that do not fit are clamped. "None" is a value of its
 * own in each type: NaN, the largest number of a word's type, 0 of a number's.
 * A column that stays empty is hidden and takes no memory. A column of numbers
 * turns into words once, when the first text arrives, and never back.
 *
 * On the wire each column begins at a multiple of 8 bytes, so that the page can
 * use it without a copy.
 */
#include "dashboard/columns/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "dashboard/columns/word_list.h"
#include "dashboard/http/blob.h"

static const struct column_kind {
    const char *name;
    size_t bytes;
    double max; /* 0: a real */
} kinds[] = {
#define X(symbol, name, bytes, max) [symbol] = {name, bytes, max},
    COLUMN_TYPES(X)
#undef X
};

const char *const column_causes[] = {
    "ok",        "exit",      "signal",       "timeout", "oom",
    "node_fail", "preempted", "launch_error", "lost",    "cancelled",
    "no_metric", "no_output", "setup_failed", NULL};
const char *const column_no_words[] = {NULL};

/* The last number is none, so there is one word less. */
static struct word_list *make_words(enum column_type type)
{
    return word_list_create((size_t)kinds[type].max);
}

void column_init(struct column *column, const char *name, enum column_type type,
                 const char *const *words)
{
    *column = (struct column){.name = mem_copy_string(name), .type = type};
    if (words == NULL)
        return;
    column->words = make_words(type);
    for (size_t i = 0; words[i] != NULL; i++)
        word_list_place(column->words, words[i]);
}

void column_clear(struct column *column)
{
    word_list_destroy(column->words);
    free(column->cells);
    free(column->name);
    *column = (struct column){0};
}

size_t column_bytes(const struct column *column)
{
    return column->cells == NULL ? 0
                                 : column->capacity * kinds[column->type].bytes;
}

/* ---- cells ---- */

static double none_of(const struct column *column)
{
    const struct column_kind *kind = &kinds[column->type];

    if (kind->max == 0)
        return (double)NAN;
    return column->words != NULL ? kind->max : 0;
}

static void write_cell(struct column *column, size_t row, double number)
{
    switch (column->type) {
    case COLUMN_U8:
        ((uint8_t *)column->cells)[row] = (uint8_t)number;
        break;
    case COLUMN_U16:
        ((uint16_t *)column->cells)[row] = (uint16_t)number;
        break;
    case COLUMN_U32:
        ((uint32_t *)column->cells)[row] = (uint32_t)number;
        break;
    case COLUMN_F64:
        ((double *)column->cells)[row] = number;
        break;
    }
}

static double read_cell(const struct column *column, size_t row)
{
    switch (column->type) {
    case COLUMN_U8:
        return ((const uint8_t *)column->cells)[row];
    case COLUMN_U16:
        return ((const uint16_t *)column->cells)[row];
    case COLUMN_U32:
        return ((const uint32_t *)column->cells)[row];
    case COLUMN_F64:
        break;
    }
    return ((const double *)column->cells)[row];
}

static int resize(struct column *column, size_t from, size_t rows)
{
    void *cells = reallocarray(column->cells, rows, kinds[column->type].bytes);

    if (cells == NULL && rows > 0)
        return -1;
    column->cells = cells;
    for (size_t row = from; row < rows; row++)
        write_cell(column, row, none_of(column));
    return 0;
}

int column_reserve(struct column *column, size_t rows, struct err *err)
{
    if (rows <= column->capacity)
        return 0;
    if (!column->is_hidden && resize(column, column->capacity, rows) < 0)
        return err_set(err, ERR_SHORTAGE, "out of memory for %zu rows of '%s'",
                       rows, column->name);
    column->capacity = rows;
    return 0;
}

static void show(struct column *column)
{
    column->is_hidden = false;
    column->cells = mem_array(column->capacity, kinds[column->type].bytes);
    for (size_t row = 0; row < column->capacity; row++)
        write_cell(column, row, none_of(column));
}

void column_put(struct column *column, size_t row, double number)
{
    double max = kinds[column->type].max;

    if (column->is_hidden && isnan(number))
        return;
    if (column->is_hidden)
        show(column);
    if (isnan(number))
        number = none_of(column);
    else if (max > 0)
        number = fmin(fmax(number, 0), max);
    write_cell(column, row, number);
}

double column_get(const struct column *column, size_t row)
{
    double number = column->is_hidden ? (double)NAN : read_cell(column, row);

    return kinds[column->type].max > 0 && number == none_of(column)
               ? (double)NAN
               : number;
}

void column_put_word(struct column *column, size_t row, const char *word)
{
    column_put(column, row,
               word == NULL ? (double)NAN
                            : (double)word_list_place(column->words, word));
}

/* ---- values ---- */

static void put_number_as_word(struct column *column, size_t row, double number)
{
    char text[32];

    value_format_real(number, text, sizeof(text));
    column_put_word(column, row, isnan(number) ? NULL : text);
}

/* Cells of words are the smaller ones: all that there is room for turns. */
static void turn_into_words(struct column *column, size_t rows)
{
    struct column turned = {
        .type = COLUMN_U16,
        .words = make_words(COLUMN_U16),
        .cells = mem_array(column->capacity, kinds[COLUMN_U16].bytes)};

    for (size_t row = 0; row < column->capacity; row++)
        put_number_as_word(&turned, row,
                           row < rows ? column_get(column, row) : (double)NAN);
    free(column->cells);
    column->type = turned.type;
    column->words = turned.words;
    column->cells = turned.cells;
    column->is_hidden = false;
}

void column_put_value(struct column *column, size_t row,
                      const struct value *value)
{
    bool is_number = value->type == VALUE_INT || value->type == VALUE_REAL;

    if (column->words == NULL && !is_number && value->type != VALUE_NULL)
        turn_into_words(column, row);
    if (column->words == NULL)
        column_put(column, row, value_number(value));
    else if (is_number)
        put_number_as_word(column, row, value_number(value));
    else if (value->type == VALUE_BOOL)
        column_put_word(column, row, value->boolean ? "true" : "false");
    else
        column_put_word(column, row,
                        value->type == VALUE_TEXT ? value->text : NULL);
}

/* ---- a table ---- */

int column_table_add_row(struct column_table *table, struct err *err)
{
    enum { FIRST = 256 };

    for (size_t i = 0; i < table->count; i++) {
        struct column *column = &table->columns[i];

        if (table->rows == column->capacity &&
            column_reserve(column, 2 * column->capacity + FIRST, err) < 0)
            return -1;
    }
    table->rows++;
    return 0;
}

/* ---- the container ---- */

enum { MAGIC_BYTES = 12, ALIGNMENT = 8 };

static size_t padding(size_t length)
{
    return (ALIGNMENT - length % ALIGNMENT) % ALIGNMENT;
}

static json_t *describe(const struct column *column)
{
    json_t *description = json_pack("{s:s, s:s}", "name", column->name, "type",
                                    kinds[column->type].name);
    json_t *words;

    if (column->words == NULL)
        return description;
    words = json_array();
    for (size_t i = 0; i < word_list_count(column->words); i++)
        json_array_append_new(words,
                              json_from_text(word_list_get(column->words, i)));
    json_object_set_new(description, "words", words);
    return description;
}

static void add_u32(struct buf *out, uint32_t number)
{
    for (int shift = 0; shift < 32; shift += 8)
        buf_add_char(out, (char)(number >> shift & 0xff));
}

static void add_padding(struct buf *out, char filler)
{
    while (out->length % ALIGNMENT != 0)
        buf_add_char(out, filler);
}

static void add_cells(struct buf *out, const struct column *column,
                      const struct column_rows *rows)
{
    size_t bytes = kinds[column->type].bytes;
    const char *cells = column->cells;

    if (rows->which == NULL) {
        buf_add(out, cells, rows->count * bytes);
    } else {
        for (size_t i = 0; i < rows->count; i++)
            buf_add(out, cells + rows->which[i] * bytes, bytes);
    }
    add_padding(out, '\0');
}

/* So that a large table is not copied while the buffer grows. */
static size_t block_bytes(size_t header, const struct column *columns,
                          size_t count, size_t rows)
{
    size_t total = MAGIC_BYTES + header + ALIGNMENT;

    for (size_t i = 0; i < count; i++) {
        size_t bytes = rows * kinds[columns[i].type].bytes;

        if (!columns[i].is_hidden)
            total += bytes + padding(bytes);
    }
    return total;
}

struct blob *column_encode(json_t *header, const struct column *columns,
                           size_t count, const struct column_rows *rows)
{
    json_t *descriptions = json_array();
    struct buf text = BUF_INIT, block = BUF_INIT;

    for (size_t i = 0; i < count; i++) {
        if (!columns[i].is_hidden)
            json_array_append_new(descriptions, describe(&columns[i]));
    }
    json_object_set_new(header, "rows", json_integer((json_int_t)rows->count));
    json_object_set_new(header, "columns", descriptions);
    json_print(header, &text);
    json_decref(header);
    while ((MAGIC_BYTES + text.length) % ALIGNMENT != 0)
        buf_add_char(&text, ' ');
    buf_reserve(&block, block_bytes(text.length, columns, count, rows->count));
    buf_add_string(&block, "SMTC");
    add_u32(&block, 1);
    add_u32(&block, (uint32_t)text.length);
    buf_add(&block, text.data, text.length);
    buf_clear(&text);
    for (size_t i = 0; i < count; i++) {
        if (!columns[i].is_hidden)
            add_cells(&block, &columns[i], rows);
    }
    return blob_create(&block);
}
