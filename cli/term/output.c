/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/term/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/term/cell.h"
#include "cli/term/table.h"
#include "cli/term/term.h"

struct output {
    const struct format *format;
    struct cli cli;
    const struct table_column *columns;
    size_t count;
    size_t rows;
    const char *when_empty; /* NULL: the headings */
    bool flushed;           /* the first rows have gone out */
    struct table *table;
    struct buf text; /* not yet written */
};

/* Each appends to output->text. */
struct format {
    void (*begin)(struct output *output);
    void (*row)(struct output *output, const struct value *cells);
    void (*end)(struct output *output);
};

/* ---- table ---- */

static void table_begin(struct output *output)
{
    int columns = output->cli.out_is_terminal ? term_columns(STDOUT_FILENO) : 0;
    struct table_style style = {columns > 0 ? (size_t)columns : 0,
                                output->cli.colour_out, term_is_utf8()};

    output->table = table_create(output->columns, output->count, style);
}

static void table_row(struct output *output, const struct value *cells)
{
    table_add(output->table, cells, &output->text);
}

static void table_end(struct output *output)
{
    if (output->rows == 0 && output->when_empty != NULL)
        buf_printf(&output->text, "%s\n", output->when_empty);
    else
        table_flush(output->table, &output->text);
}

/* ---- JSON ---- */

/* Where a column's cell goes; a group is made when it is first met. */
static void add_cell(json_t *row, const struct table_column *column,
                     json_t *cell)
{
    const char *list =
        column->group != NULL ? strstr(column->group, "[]") : NULL;
    struct buf name = BUF_INIT;
    json_t *group;

    if (column->group == NULL) {
        json_object_set_new(row, column->key, cell);
        return;
    }
    buf_add(&name, column->group,
            list != NULL ? (size_t)(list - column->group)
                         : strlen(column->group));
    group = json_object_get(row, buf_text(&name));
    if (group == NULL) {
        group = list != NULL ? json_array() : json_object();
        json_object_set_new(row, buf_text(&name), group);
    }
    if (list != NULL)
        json_array_append_new(group, cell);
    else
        json_object_set_new(group, column->key, cell);
    buf_clear(&name);
}

json_t *output_to_json(const struct table_column *columns,
                       const struct value *cells, size_t count)
{
    json_t *row = json_object();

    for (size_t i = 0; i < count; i++)
        add_cell(row, &columns[i], cell_to_json(&columns[i], &cells[i]));
    return row;
}

static void json_row(struct output *output, const struct value *cells)
{
    json_t *row = output_to_json(output->columns, cells, output->count);

    buf_add_string(&output->text, output->rows > 0 ? ",\n" : "[\n");
    json_show(row, &output->text);
    json_decref(row);
}

static void json_end(struct output *output)
{
    buf_add_string(&output->text, output->rows > 0 ? "\n]\n" : "[]\n");
}

static void jsonl_row(struct output *output, const struct value *cells)
{
    json_t *row = output_to_json(output->columns, cells, output->count);

    json_show(row, &output->text);
    buf_add_char(&output->text, '\n');
    json_decref(row);
}

/* ---- CSV ---- */

static bool is_metric(const struct table_column *column)
{
    return column->group != NULL && strcmp(column->group, "metrics") == 0;
}

/* What a program happens to print renames no other column. */
static bool key_is_shared(const struct table_column *columns, size_t count,
                          size_t index)
{
    for (size_t i = 0; i < count; i++) {
        if (i != index && strcmp(columns[i].key, columns[index].key) == 0 &&
            (is_metric(&columns[index]) || !is_metric(&columns[i])))
            return true;
    }
    return false;
}

static void csv_begin(struct output *output)
{
    const struct table_column *columns = output->columns;

    for (size_t i = 0; i < output->count; i++) {
        struct buf key = BUF_INIT;

        if (columns[i].group != NULL &&
            key_is_shared(columns, output->count, i))
            buf_printf(&key, "%.*s.", (int)strcspn(columns[i].group, "["),
                       columns[i].group);
        buf_add_string(&key, columns[i].key);
        if (i > 0)
            buf_add_char(&output->text, ',');
        csv_print_text(buf_text(&key), &output->text);
        buf_clear(&key);
    }
    buf_add_char(&output->text, '\n');
}

static void csv_row(struct output *output, const struct value *cells)
{
    for (size_t i = 0; i < output->count; i++) {
        if (i > 0)
            buf_add_char(&output->text, ',');
        cell_print_csv(&output->columns[i], &cells[i], &output->text);
    }
    buf_add_char(&output->text, '\n');
}

/* ---- all ---- */

static void nothing(struct output *output)
{
    (void)output;
}

static const struct format formats[] = {
    [OUTPUT_TABLE] = {table_begin, table_row, table_end},
    [OUTPUT_JSON] = {nothing, json_row, json_end},
    [OUTPUT_JSONL] = {nothing, jsonl_row, nothing},
    [OUTPUT_CSV] = {csv_begin, csv_row, nothing},
};

struct output *output_create(const struct cli *cli,
                             const struct table_column *columns, size_t count)
{
    struct output *output = mem_zero(sizeof(*output));

    output->format = &formats[cli->output];
    output->cli = *cli;
    output->columns = columns;
    output->count = count;
    output->format->begin(output);
    return output;
}

void output_when_empty(struct output *output, const char *text)
{
    output->when_empty = text;
}

void output_destroy(struct output *output)
{
    if (output == NULL)
        return;
    table_destroy(output->table);
    buf_clear(&output->text);
    free(output);
}

static int write_text(struct buf *text, bool flush, struct err *err)
{
    size_t length = text->length;

    errno = 0;
    if (fwrite(buf_text(text), 1, length, stdout) != length ||
        (flush && fflush(stdout) != 0)) {
        if (errno == EPIPE)
            return err_set(err, ERR_FAILED, "%s", "");
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot write to standard output");
    }
    buf_truncate(text, 0);
    return 0;
}

int output_row(struct output *output, const struct value *cells,
               struct err *err)
{
    bool flush;

    output->format->row(output, cells);
    output->rows++;
    /* Whoever waits for the first rows sees them at once. */
    flush = !output->flushed && output->rows >= TABLE_HELD;
    output->flushed = output->flushed || flush;
    return write_text(&output->text, flush, err);
}

int output_finish(struct output *output, struct err *err)
{
    int result;

    output->format->end(output);
    result = write_text(&output->text, true, err);
    output_destroy(output);
    return result;
}

/* ---- one object ---- */

static const char *label(const struct table_column *column, struct buf *shown)
{
    return term_shown(column->title != NULL ? column->title : column->key,
                      shown);
}

static size_t label_width(const struct table_column *column, struct buf *shown)
{
    return text_columns(label(column, shown)) + (column->group != NULL ? 2 : 0);
}

static void print_object(const struct cli *cli,
                         const struct table_column *columns,
                         const struct value *cells, size_t count,
                         struct buf *out)
{
    const char *group = NULL;
    struct buf shown = BUF_INIT;
    size_t widest = 0;

    for (size_t i = 0; i < count; i++) {
        size_t width = label_width(&columns[i], &shown);

        if (width > widest)
            widest = width;
    }
    for (size_t i = 0; i < count; i++) {
        struct buf text = BUF_INIT;
        enum style style = STYLE_PLAIN;
        int pad = (int)(widest - label_width(&columns[i], &shown)) + 2;

        if (columns[i].group != NULL &&
            (group == NULL || strcmp(group, columns[i].group) != 0))
            buf_printf(out, "%.*s:\n", (int)strcspn(columns[i].group, "["),
                       columns[i].group);
        group = columns[i].group;
        cell_print_table(&columns[i], &cells[i], &text);
        if (columns[i].type == COLUMN_STATE)
            style = term_state_style(buf_text(&text));
        buf_printf(out, "%s%s:%*s%s%s%s\n", group != NULL ? "  " : "",
                   label(&columns[i], &shown), pad, "",
                   term_style(style, cli->colour_out), buf_text(&text),
                   style != STYLE_PLAIN
                       ? term_style(STYLE_PLAIN, cli->colour_out)
                       : "");
        buf_clear(&text);
    }
    buf_clear(&shown);
}

void output_json(json_t *json)
{
    struct buf text = BUF_INIT;

    json_show_pretty(json, &text);
    fputs(buf_text(&text), stdout);
    buf_clear(&text);
    json_decref(json);
}

int output_object(const struct cli *cli, const struct table_column *columns,
                  const struct value *cells, size_t count, struct err *err)
{
    struct buf text = BUF_INIT;
    struct output *output;
    json_t *object;
    int result;

    if (cli->output == OUTPUT_CSV || cli->output == OUTPUT_JSONL) {
        output = output_create(cli, columns, count);
        if (output_row(output, cells, err) == 0)
            return output_finish(output, err);
        output_destroy(output);
        return -1;
    }
    if (cli->output == OUTPUT_JSON) {
        object = output_to_json(columns, cells, count);
        json_show_pretty(object, &text);
        json_decref(object);
    } else {
        print_object(cli, columns, cells, count, &text);
    }
    result = write_text(&text, true, err);
    buf_clear(&text);
    return result;
}
