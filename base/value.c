/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparison and printing of values. Two properties matter elsewhere. A NaN
 * equals a NaN, so that a value equals its copy. A printed number reads back as
 * the same double, because trials get their settings as printed text and the
 * record must hold what they got.
 */
#include "base/value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

bool value_is_null(const struct value *value)
{
    return value->type == VALUE_NULL ||
           (value->type == VALUE_JSON && strcmp(value->text, "null") == 0);
}

bool value_has_text(const struct value *value)
{
    return value->type == VALUE_TEXT || value->type == VALUE_JSON ||
           value->type == VALUE_NUMERAL;
}

struct value value_of_numeral(const struct value *value)
{
    long long integer;
    char *end;

    if (value->type != VALUE_NUMERAL)
        return *value;
    errno = 0;
    integer = strtoll(value->text, &end, 10);
    return *end == '\0' && errno == 0 ? value_int(integer)
                                      : value_real(strtod(value->text, NULL));
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return a->boolean == b->boolean;
    case VALUE_INT:
        return a->integer == b->integer;
    case VALUE_REAL:
        return a->real == b->real || (isnan(a->real) && isnan(b->real));
    case VALUE_TEXT:
    case VALUE_JSON:
    case VALUE_NUMERAL:
    default:
        return strcmp(a->text, b->text) == 0;
    }
}

double value_number(const struct value *value)
{
    switch (value->type) {
    case VALUE_BOOL:
        return value->boolean ? 1.0 : 0.0;
    case VALUE_INT:
        return (double)value->integer;
    case VALUE_REAL:
        return value->real;
    case VALUE_NUMERAL:
        return strtod(value->text, NULL);
    case VALUE_NULL:
    case VALUE_TEXT:
    case VALUE_JSON:
    default:
        return NAN;
    }
}

bool value_is_true(const struct value *value)
{
    double number = value_number(value);

    return !isnan(number) && number != 0.0;
}

void value_format_real(double real, char *text, size_t size)
{
    int digits = 15;

    if (isnan(real)) /* its sign means nothing */
        real = NAN;
    do {
        snprintf(text, size, "%.*g", digits, real);
    } while (++digits <= 17 && !isnan(real) && strtod(text, NULL) != real);
}

void value_format_argument(double real, char *text, size_t size)
{
    value_format_real(real, text, size);
    if (isfinite(real) && strpbrk(text, ".e") == NULL)
        memcpy(text + strlen(text), ".0", sizeof(".0"));
}

void value_print(const struct value *value, struct buf *out)
{
    char text[32];

    switch (value->type) {
    case VALUE_NULL:
        return;
    case VALUE_BOOL:
        buf_add_string(out, value->boolean ? "true" : "false");
        return;
    case VALUE_INT:
        buf_printf(out, "%" PRId64, value->integer);
        return;
    case VALUE_REAL:
        value_format_real(value->real, text, sizeof(text));
        buf_add_string(out, text);
        return;
    case VALUE_TEXT:
    case VALUE_JSON:
    case VALUE_NUMERAL:
    default:
        buf_add_string(out, value->text);
        return;
    }
}

void value_print_argument(const struct value *value, struct buf *out)
{
    char text[32];

    if (value_is_null(value))
        return;
    if (value->type != VALUE_REAL) {
        value_print(value, out);
        return;
    }
    value_format_argument(value->real, text, sizeof(text));
    buf_add_string(out, text);
}
