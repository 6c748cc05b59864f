/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/each/input.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/each/csv.h"
#include "workflows/matrix.h"

enum { INPUT_MAX_BYTES = 1 << 30, COLUMNS_MAX = 10000 };

const char *const each_format_names[] = {
    [EACH_LINES] = "lines",
    [EACH_CSV] = "csv",
    [EACH_TSV] = "tsv",
    [EACH_JSONL] = "jsonl",
    NULL,
};

bool each_input_is_table(const struct each_input *input)
{
    return input->format != EACH_LINES;
}

bool each_input_is_empty(const struct each_input *input)
{
    for (size_t i = 0; i < input->text.length; i++)
        if (memchr(" \t\r\n", input->text.data[i], 5) == NULL)
            return false;
    return true;
}

int each_input_refuse(const struct each_input *input, size_t line,
                      struct err *err, const char *format, ...)
{
    va_list args;
    char *why;

    va_start(args, format);
    why = mem_vprintf(format, args);
    va_end(args);
    err_set(err, ERR_FILE, "line %zu: %s", line, why);
    free(why);
    return err_prefix(err, "'%s'", input->path);
}

/* ---- the text ---- */

static enum each_format find_format(const struct each_source *source)
{
    static const struct {
        const char *ending;
        enum each_format format;
    } endings[] = {
        {".csv", EACH_CSV},
        {".tsv", EACH_TSV},
        {".jsonl", EACH_JSONL},
        {".ndjson", EACH_JSONL},
    };

    for (int i = 0; source->format != NULL && each_format_names[i] != NULL; i++)
        if (strcmp(source->format, each_format_names[i]) == 0)
            return (enum each_format)i;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (!source->has_nuls &&
            text_ends_with(source->path, endings[i].ending))
            return endings[i].format;
    return EACH_LINES;
}

/* The paths, with a NUL behind each: one may hold a line feed. */
static int read_paths(struct each_input *input, struct err *err)
{
    json_t *paths = matrix_axis_from_glob(input->path, err);
    size_t count = json_array_size(paths);

    for (size_t i = 0; i < count; i++) {
        buf_add_string(&input->text,
                       json_string_value(json_array_get(paths, i)));
        buf_add_char(&input->text, '\0');
    }
    input->has_nuls = true;
    if (paths == NULL)
        return -1;
    json_decref(paths);
    return count > 0 ? 0
                     : err_set(err, ERR_NOT_FOUND, "no path matches '%s'",
                               input->path);
}

static void skip_mark(struct buf *text)
{
    const char *at = buf_text(text);
    size_t length = text->length;

    text_skip_mark(&at, &length);
    buf_consume(text, text->length - length);
}

static int read_text(struct each_input *input, const struct each_source *source,
                     struct err *err)
{
    bool is_input = strcmp(input->path, "-") == 0;

    if (input->has_nuls && each_input_is_table(input))
        return err_set(err, ERR_USAGE,
                       "-0 is for lines, and '%s' is read as %s (use --as "
                       "lines)",
                       input->path, each_format_names[input->format]);
    if (!is_input && matrix_is_pattern(input->path, input->path)) {
        if (source->format != NULL && each_input_is_table(input))
            return err_set(err, ERR_USAGE,
                           "--as %s is for a file, and '%s' is a pattern of "
                           "files",
                           source->format, input->path);
        input->format = EACH_LINES;
        return read_paths(input, err);
    }
    if (fs_read(input->path, INPUT_MAX_BYTES, &input->text, err) != 0)
        return -1;
    if (!input->has_nuls)
        skip_mark(&input->text);
    return 0;
}

/* ---- the columns of a table ---- */

static void add_column(struct each_input *input, const char *name)
{
    input->columns = mem_resize(input->columns, input->column_count + 1,
                                sizeof(*input->columns));
    input->columns[input->column_count++] = mem_copy_string(name);
}

/* Columns without a name, as of commas at the end, cannot be meant by one. */
static int check_columns(const struct each_input *input, size_t line,
                         struct err *err)
{
    for (size_t i = 0; i < input->column_count; i++)
        for (size_t j = 0; j < i && input->columns[i][0] != '\0'; j++)
            if (strcmp(input->columns[i], input->columns[j]) == 0)
                return each_input_refuse(input, line, err,
                                         "duplicate column '%s'",
                                         input->columns[i]);
    return 0;
}

static int check_count(const struct each_input *input, size_t line,
                       size_t count, struct err *err)
{
    if (count <= COLUMNS_MAX)
        return 0;
    return each_input_refuse(input, line, err,
                             "out of range: %zu columns, more than %d", count,
                             COLUMNS_MAX);
}

static int read_header(struct each_input *input, struct err *err)
{
    struct csv csv;
    int found;

    csv_begin(&csv, buf_text(&input->text), input->text.length,
              input->format == EACH_TSV);
    do {
        found = csv_next(&csv, err);
    } while (found > 0 && text_is_blank(csv.start, csv.length));
    if (found < 0)
        err_prefix(err, "'%s'", input->path);
    else
        found = check_count(input, csv.first_line, csv.count, err);
    for (size_t i = 0; found == 0 && i < csv.count; i++)
        add_column(input, csv_cell(&csv, i));
    if (found == 0)
        found = check_columns(input, csv.first_line, err);
    csv_clear(&csv);
    return found;
}

json_t *each_input_object(const struct each_input *input, size_t line,
                          const char *text, size_t length, struct err *err)
{
    struct err why = {0};
    json_t *object = json_parse_up_to(text, length, MATRIX_BYTES_MAX, &why);

    if (json_is_object(object))
        return object;
    each_input_refuse(input, line, err, "%s",
                      object == NULL ? why.text : "it is not a JSON object");
    json_decref(object);
    return NULL;
}

/* Those of the first object. */
static int read_keys(struct each_input *input, struct err *err)
{
    const char *text = buf_text(&input->text);
    size_t length = strcspn(text, "\n"), line = 1;
    const char *key;
    json_t *object, *item;
    int result;

    for (; text_is_blank(text, length) && text[length] != '\0'; line++) {
        text += length + 1;
        length = strcspn(text, "\n");
    }
    if (text_is_blank(text, length))
        return 0;
    object = each_input_object(input, line, text, length, err);
    if (object == NULL)
        return -1;
    result = check_count(input, line, json_object_size(object), err);
    json_object_foreach(object, key, item)
    {
        (void)item;
        if (result == 0)
            add_column(input, key);
    }
    json_decref(object);
    return result;
}

/* ---- the lines ---- */

static int check_cells(const struct each_input *input, const struct csv *csv,
                       struct err *err)
{
    if (csv->count == input->column_count)
        return 0;
    return each_input_refuse(
        input, csv->first_line, err, "%zu cell%s, and the header has %zu",
        csv->count, units_plural((int64_t)csv->count), input->column_count);
}

static int visit_records(const struct each_input *input,
                         int (*visit)(void *user, const struct each_row *row),
                         void *user, int64_t *blank, struct err *err)
{
    bool has_header = false;
    int found, result = 0;
    struct csv csv;

    csv_begin(&csv, buf_text(&input->text), input->text.length,
              input->format == EACH_TSV);
    while (result == 0 && (found = csv_next(&csv, err)) != 0) {
        if (found < 0) {
            result = err_prefix(err, "'%s'", input->path);
        } else if (text_is_blank(csv.start, csv.length)) {
            ++*blank;
        } else if (!has_header) {
            has_header = true;
        } else if ((result = check_cells(input, &csv, err)) == 0) {
            const struct each_row row = {csv.first_line, csv.start, csv.length,
                                         &csv};
            result = visit(user, &row);
        }
    }
    csv_clear(&csv);
    return result;
}

static int visit_lines(const struct each_input *input,
                       int (*visit)(void *user, const struct each_row *row),
                       void *user, int64_t *blank)
{
    const char *at = buf_text(&input->text);
    const char *end = at + input->text.length;
    const char mark = input->has_nuls ? '\0' : '\n';
    int result = 0;

    for (size_t line = 1; at < end && result == 0; line++) {
        const char *stop = memchr(at, mark, (size_t)(end - at));
        size_t length = (size_t)((stop != NULL ? stop : end) - at);
        const struct each_row row = {line, at, length, NULL};

        if (text_is_blank(at, length))
            ++*blank;
        else
            result = visit(user, &row);
        at += length + (stop != NULL);
    }
    return result;
}

int each_input_visit(const struct each_input *input,
                     int (*visit)(void *user, const struct each_row *row),
                     void *user, int64_t *blank, struct err *err)
{
    *blank = 0;
    return input->format == EACH_CSV || input->format == EACH_TSV
               ? visit_records(input, visit, user, blank, err)
               : visit_lines(input, visit, user, blank);
}

/* ---- all ---- */

int each_input_read(struct each_input *input, const struct each_source *source,
                    struct err *err)
{
    *input = (struct each_input){
        .path = source->path,
        .format = find_format(source),
        .has_nuls = source->has_nuls,
    };
    if (read_text(input, source, err) != 0)
        return -1;
    if (input->format == EACH_CSV || input->format == EACH_TSV)
        return read_header(input, err);
    return input->format == EACH_JSONL ? read_keys(input, err) : 0;
}

void each_input_clear(struct each_input *input)
{
    for (size_t i = 0; i < input->column_count; i++)
        free(input->columns[i]);
    free(input->columns);
    buf_clear(&input->text);
    *input = (struct each_input){.path = NULL};
}
