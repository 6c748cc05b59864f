/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One value in each format. For people it is rounded, local and escaped,
 * because text of a user must not control the terminal. For programs it is
 * exact, in UTC, and null where there is none. A value that is not a number or
 * infinite is a value: nan, inf and -inf, in JSON as a text.
 */
#include "cli/term/cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"

enum { SHORT_TEXT = 64 };

/* A time of 0 has not come yet. */
static bool is_null(const struct table_column *column, const struct value *cell)
{
    return cell->type == VALUE_NULL ||
           (column->type == COLUMN_TIME && value_number(cell) == 0.0);
}

static void format_local_time(int64_t wall_ms, char *text, size_t size)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;

    if (localtime_r(&seconds, &parts) == NULL ||
        strftime(text, size, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        snprintf(text, size, "?");
}

static void format_for_people(enum column_type type, int64_t number, char *text,
                              size_t size)
{
    if (type == COLUMN_TIME)
        format_local_time(number, text, size);
    else if (type == COLUMN_DURATION)
        units_format_duration(number, text, size);
    else
        units_format_bytes(number, text, size);
}

static void format_real(double real, int digits, char *text, size_t size)
{
    if (isnan(real))
        snprintf(text, size, "nan");
    else if (digits > 0)
        snprintf(text, size, "%.*g", digits, real);
    else
        value_format_real(real, text, size);
}

void cell_print_table(const struct table_column *column,
                      const struct value *cell, struct buf *out)
{
    struct buf text = BUF_INIT;
    char number[SHORT_TEXT];

    if (is_null(column, cell)) {
        buf_add_char(out, '-');
    } else if (cell->type == VALUE_INT && (column->type == COLUMN_TIME ||
                                           column->type == COLUMN_DURATION ||
                                           column->type == COLUMN_BYTES)) {
        format_for_people(column->type, cell->integer, number, sizeof(number));
        buf_add_string(out, number);
    } else if (cell->type == VALUE_REAL) {
        format_real(cell->real, 6, number, sizeof(number));
        buf_add_string(out, number);
    } else {
        value_print(cell, &text);
        text_escape(buf_text(&text), text.length, out);
        buf_clear(&text);
    }
}

static bool is_decimal(const char *text)
{
    char *end;

    if (text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    strtod(text, &end);
    return end != text && *end == '\0';
}

/* Whether a spreadsheet would run the cell. With apostrophes in front it would
 * not, but then one that is put there could not be told from them. */
static bool is_formula(const char *text)
{
    static const char first[] = "=+-@\t\r";
    const char *at = text + strspn(text, "'");

    return *at != '\0' && strchr(first, *at) != NULL && !is_decimal(text);
}

void csv_print_text(const char *text, struct buf *out)
{
    const char *mark = is_formula(text) ? "'" : "";

    if (text[0] != '\0' && strpbrk(text, ",\"\r\n") == NULL) {
        buf_printf(out, "%s%s", mark, text);
        return;
    }
    buf_printf(out, "\"%s", mark);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            buf_add_char(out, '"');
        buf_add_char(out, *text);
    }
    buf_add_char(out, '"');
}

void cell_print_csv(const struct table_column *column, const struct value *cell,
                    struct buf *out)
{
    char text[SHORT_TEXT];

    if (is_null(column, cell))
        return;
    if (column->type == COLUMN_TIME && cell->type == VALUE_INT) {
        clock_format_iso(cell->integer, text, sizeof(text));
        buf_add_string(out, text);
    } else if (cell->type == VALUE_REAL) {
        format_real(cell->real, 0, text, sizeof(text));
        buf_add_string(out, text);
    } else if (cell->type == VALUE_TEXT) {
        csv_print_text(cell->text, out);
    } else {
        value_print(cell, out);
    }
}

static json_t *json_or_null(const char *text)
{
    json_t *json = json_parse(text, strlen(text), NULL);

    return json != NULL ? json : json_null();
}

json_t *cell_to_json(const struct table_column *column,
                     const struct value *cell)
{
    char text[SHORT_TEXT];

    if (is_null(column, cell))
        return json_null();
    if (column->type == COLUMN_TIME && cell->type == VALUE_INT) {
        clock_format_iso(cell->integer, text, sizeof(text));
        return json_from_text(text);
    }
    if (column->type == COLUMN_JSON)
        return json_or_null(cell->text);
    if (cell->type == VALUE_REAL)
        return json_from_any_real(cell->real);
    return json_from_value(cell);
}

bool column_is_right_aligned(const struct table_column *column)
{
    return column->type == COLUMN_NUMBER || column->type == COLUMN_DURATION ||
           column->type == COLUMN_BYTES;
}
