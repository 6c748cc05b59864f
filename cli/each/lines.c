/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What no command could be started with is refused before anything starts, with
 * the number of its line in the file.
 *
 * A line goes into the environment of its command as the others of its values
 * do (SM_HPS, SM_USER_ARGS), in JSON. Linux takes no string over 128 KiB there
 * or among the arguments, so its JSON must fit. An expression takes 16 KiB.
 */
#include "cli/each/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/each/command.h"
#include "cli/each/csv.h"
#include "cli/each/input.h"
#include "workflows/matrix.h"

enum {
    ARGUMENT_BYTES = 128 << 10,  /* MAX_ARG_STRLEN of Linux */
    AROUND_BYTES = 128,          /* what stands around a value there */
    EXPRESSION_BYTES = 16 << 10, /* base/expr/expr.h */
    ROOM_BYTES = 64 << 10,       /* room for what is around the axis */
    SHOWN_BYTES = 60
};

struct building {
    struct each_lines *lines;
    const struct each_input *input;
    const struct each_command *command;
    struct buf value; /* of the line that is added, as JSON */
    size_t bytes;     /* of all of them, as the record has them */
    struct err *err;
};

/* ---- what fits ---- */

static int check_length(const struct building *b, size_t line, size_t length,
                        size_t recorded)
{
    if (recorded > ARGUMENT_BYTES - AROUND_BYTES)
        return each_input_refuse(
            b->input, line, b->err,
            "too long: %zu bytes in JSON, and an argument has at most %d on "
            "Linux",
            recorded, ARGUMENT_BYTES - AROUND_BYTES);
    if (b->command->computes && length > EXPRESSION_BYTES)
        return each_input_refuse(
            b->input, line, b->err,
            "too long: %zu bytes, and a column, {/}, {//}, {.} and {/.} take "
            "at most %d",
            length, EXPRESSION_BYTES);
    return 0;
}

/* Before anything is made of it: a line may be as long as the input. */
static int check_text(const struct building *b, size_t line, size_t length)
{
    if (length <= ARGUMENT_BYTES - AROUND_BYTES)
        return 0;
    return each_input_refuse(
        b->input, line, b->err,
        "too long: %zu bytes, and an argument has at most %d on Linux", length,
        ARGUMENT_BYTES - AROUND_BYTES);
}

static int check_amount(const struct building *b)
{
    if (b->lines->count > MATRIX_COPIES_MAX)
        return err_set(b->err, ERR_FILE,
                       "out of range: '%s' has more than %d lines",
                       b->input->path, MATRIX_COPIES_MAX);
    if (b->bytes > MATRIX_BYTES_MAX - ROOM_BYTES)
        return err_set(b->err, ERR_FILE,
                       "out of range: the lines of '%s' have more than %d MiB",
                       b->input->path, MATRIX_BYTES_MAX >> 20);
    return 0;
}

/* Adds one, which it takes: a text, or an object. */
static int add(struct building *b, size_t line, json_t *item)
{
    struct buf *json = &b->lines->json;
    size_t start = json->length, length, recorded;
    json_t *text;

    json_print(item, json);
    length =
        json_is_string(item) ? json_string_length(item) : json->length - start;
    recorded = json->length - start;
    if (!json_is_string(item)) {
        text = json_stringn(json->data + start, recorded);
        buf_truncate(&b->value, 0);
        json_print(text, &b->value);
        recorded = b->value.length;
        json_decref(text);
    }
    json_decref(item);
    buf_add_char(json, '\n');
    b->bytes += recorded + 1;
    b->lines->count++;
    return check_length(b, line, length, recorded) == 0 ? check_amount(b) : -1;
}

static int refuse_bytes(const struct building *b, size_t line)
{
    return each_input_refuse(b->input, line, b->err, "it is not UTF-8");
}

/* ---- lines ---- */

static int add_line(struct building *b, const struct each_row *row)
{
    size_t length = row->length;
    json_t *item;

    if (!b->input->has_nuls && row->text[length - 1] == '\r')
        length--;
    if (memchr(row->text, '\0', length) != NULL)
        return each_input_refuse(b->input, row->line, b->err,
                                 "it contains a NUL byte (use -0 if NULs end "
                                 "the lines)");
    if (check_text(b, row->line, length) != 0)
        return -1;
    item = json_stringn(row->text, length);
    return item != NULL ? add(b, row->line, item) : refuse_bytes(b, row->line);
}

/* ---- tables ---- */

static int add_column(const struct building *b, json_t *row, const char *name,
                      size_t line, const char *text)
{
    json_t *value;

    if (check_text(b, line, strlen(text)) != 0)
        return -1;
    value = json_string(text);
    if (value != NULL && json_object_set_new(row, name, value) == 0)
        return 0;
    return refuse_bytes(b, line);
}

static int add_whole(const struct building *b, json_t *row, const char *text,
                     size_t length, size_t line)
{
    char *whole;
    int result;

    if (!b->command->uses_line)
        return 0;
    whole = mem_copy_bytes(text, length);
    result = add_column(b, row, EACH_WHOLE, line, whole);
    free(whole);
    return result;
}

static int add_record(struct building *b, const struct each_row *record)
{
    size_t line = record->line;
    json_t *row = json_object();
    int result = add_whole(b, row, record->text, record->length, line);

    for (size_t i = 0; i < b->input->column_count && result == 0; i++)
        if (b->command->uses[i])
            result = add_column(b, row, b->input->columns[i], line,
                                csv_cell(record->csv, i));
    if (result == 0)
        return add(b, line, row);
    json_decref(row);
    return -1;
}

/* A text as it is, null as no letters, all else as JSON. */
static int add_key(const struct building *b, json_t *row, const json_t *object,
                   const char *name, size_t line)
{
    const json_t *item = json_object_get(object, name);
    struct buf text = BUF_INIT;
    int result;

    if (item == NULL)
        return each_input_refuse(b->input, line, b->err, "no column '%s'",
                                 name);
    if (json_is_string(item))
        buf_add_string(&text, json_string_value(item));
    else if (!json_is_null(item))
        json_print(item, &text);
    result = add_column(b, row, name, line, buf_text(&text));
    buf_clear(&text);
    return result;
}

static int add_object(struct building *b, const struct each_row *written)
{
    size_t length = written->length, line = written->line;
    json_t *object, *row;
    int result;

    object = each_input_object(b->input, line, written->text, length, b->err);
    if (object == NULL)
        return -1;
    row = json_object();
    length -= written->text[length - 1] == '\r';
    result = add_whole(b, row, written->text, length, line);
    for (size_t i = 0; i < b->input->column_count && result == 0; i++)
        if (b->command->uses[i])
            result = add_key(b, row, object, b->input->columns[i], line);
    json_decref(object);
    if (result == 0)
        return add(b, line, row);
    json_decref(row);
    return -1;
}

/* ---- all ---- */

static int add_any(void *user, const struct each_row *row)
{
    struct building *b = user;

    if (row->csv != NULL)
        return add_record(b, row);
    return b->input->format == EACH_JSONL ? add_object(b, row)
                                          : add_line(b, row);
}

/* A line as the run keeps it. */
struct span {
    const char *start;
    size_t length;
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a, *right = b;
    size_t shorter =
        left->length < right->length ? left->length : right->length;
    int order = memcmp(left->start, right->start, shorter);

    return order != 0 ? order
                      : (left->length > right->length) -
                            (left->length < right->length);
}

static void count_repeated(struct each_lines *lines)
{
    size_t count = (size_t)lines->count;
    struct span *spans = mem_array(count + 1, sizeof(*spans));
    const char *at = buf_text(&lines->json);

    for (size_t i = 0; i < count; i++) {
        spans[i] = (struct span){at, strcspn(at, "\n")};
        at += spans[i].length + 1;
    }
    qsort(spans, count, sizeof(*spans), compare_spans);
    for (size_t i = 1; i < count; i++)
        lines->repeated += compare_spans(&spans[i - 1], &spans[i]) == 0;
    free(spans);
}

int each_lines_build(struct each_lines *lines, const struct each_input *input,
                     const struct each_command *command, struct err *err)
{
    struct building b = {
        .lines = lines, .input = input, .command = command, .err = err};
    int result;

    *lines = (struct each_lines){.count = 0};
    result = each_input_visit(input, add_any, &b, &lines->blank, err);
    buf_clear(&b.value);
    if (result != 0)
        return -1;
    count_repeated(lines);
    digest_of(buf_text(&lines->json), lines->json.length, lines->digest);
    return 0;
}

void each_lines_clear(struct each_lines *lines)
{
    buf_clear(&lines->json);
    *lines = (struct each_lines){.count = 0};
}

void each_lines_show(const struct each_lines *lines, int64_t n, struct buf *out)
{
    const char *at = buf_text(&lines->json);
    struct buf shown = BUF_INIT;
    const char *text;
    size_t length;
    json_t *item;

    for (int64_t i = 1; i < n && *at != '\0'; i++)
        at += strcspn(at, "\n") + 1;
    length = strcspn(at, "\n");
    item = json_parse_up_to(at, length, MATRIX_BYTES_MAX, NULL);
    text = json_is_string(item) ? json_string_value(item) : at;
    if (json_is_string(item))
        length = json_string_length(item);
    text_escape(text, length, &shown);
    text = buf_text(&shown);
    buf_add(out, text, (size_t)(text_skip_runes(text, SHOWN_BYTES) - text));
    if (*text_skip_runes(text, SHOWN_BYTES) != '\0')
        buf_add_string(out, "...");
    buf_clear(&shown);
    json_decref(item);
}
