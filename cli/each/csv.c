/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/each/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void csv_begin(struct csv *csv, const char *text, size_t length, bool is_tsv)
{
    *csv = (struct csv){
        .at = text,
        .end = text + length,
        .separator = is_tsv ? '\t' : ',',
        .has_quotes = !is_tsv,
        .line = 1,
    };
}

void csv_clear(struct csv *csv)
{
    buf_clear(&csv->text);
    free(csv->offsets);
    *csv = (struct csv){.at = NULL};
}

const char *csv_cell(const struct csv *csv, size_t i)
{
    return buf_text(&csv->text) + csv->offsets[i];
}

static int refuse(size_t line, const char *why, struct err *err)
{
    return err_set(err, ERR_FILE, "line %zu: %s", line, why);
}

/* How long the end of a line is that begins here; 0: none does. The end of the
 * text is one without a byte: is_end. */
static size_t line_end(const struct csv *csv, bool *is_end)
{
    size_t left = (size_t)(csv->end - csv->at);
    size_t length = left > 0 && *csv->at == '\r';

    *is_end = left == length;
    if (left > length && csv->at[length] == '\n')
        return length + 1;
    return *is_end ? length : 0;
}

static bool is_cell_end(const struct csv *csv)
{
    bool is_end;

    return line_end(csv, &is_end) > 0 || is_end || *csv->at == csv->separator;
}

/* From behind the opening quote to behind the closing one. */
static int take_quoted(struct csv *csv, struct err *err)
{
    size_t line = csv->line;

    for (; csv->at < csv->end; csv->at++) {
        bool is_quote = *csv->at == '"';

        if (is_quote && (csv->at + 1 == csv->end || csv->at[1] != '"'))
            break;
        csv->at += is_quote;
        csv->line += *csv->at == '\n';
        buf_add_char(&csv->text, *csv->at);
    }
    if (csv->at == csv->end)
        return refuse(line, "a double quote that is not closed", err);
    csv->at++;
    if (is_cell_end(csv))
        return 0;
    return refuse(csv->line,
                  "text behind the closing quote of a cell (a quote in a cell "
                  "is doubled)",
                  err);
}

static int take_cell(struct csv *csv, struct err *err)
{
    int result = 0;

    csv->offsets = mem_grow(csv->offsets, csv->count, &csv->capacity,
                            sizeof(*csv->offsets));
    csv->offsets[csv->count++] = csv->text.length;
    if (csv->has_quotes && csv->at < csv->end && *csv->at == '"') {
        csv->at++;
        result = take_quoted(csv, err);
    } else {
        while (!is_cell_end(csv))
            buf_add_char(&csv->text, *csv->at++);
    }
    buf_add_char(&csv->text, '\0');
    return result;
}

int csv_next(struct csv *csv, struct err *err)
{
    bool is_end;

    if (csv->at == csv->end)
        return 0;
    buf_truncate(&csv->text, 0);
    csv->count = 0;
    csv->start = csv->at;
    csv->first_line = csv->line;
    if (take_cell(csv, err) != 0)
        return -1;
    while (csv->at < csv->end && *csv->at == csv->separator) {
        csv->at++;
        if (take_cell(csv, err) != 0)
            return -1;
    }
    csv->length = (size_t)(csv->at - csv->start);
    csv->at += line_end(csv, &is_end);
    csv->line++;
    if (memchr(csv->start, '\0', csv->length) != NULL)
        return refuse(csv->first_line, "it contains a NUL byte", err);
    return 1;
}
