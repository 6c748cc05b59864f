/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_VALUE_H
#define SMTUNE_BASE_VALUE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * One dynamically typed value: a parameter's setting, a column of an
 * expression, a cell of the store. Plain data, copied by assignment: `text`
 * is borrowed, and whoever hands out the value says how long it lives.
 * A parameter that is not active in a trial is VALUE_NULL.
 */
enum value_type {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_JSON, /* `text` is compact JSON of a list, a map or null, which is one
                   of a parameter's values; the store has it as a text */
    VALUE_NUMERAL /* `text` is a decimal number as somebody wrote it: a program
                     gets the text, an expression the number */
};

struct value {
    enum value_type type;
    union {
        bool boolean;
        int64_t integer;
        double real;
        const char *text;
    };
};

static inline struct value value_null(void)
{
    return (struct value){.type = VALUE_NULL};
}

static inline struct value value_bool(bool boolean)
{
    return (struct value){.type = VALUE_BOOL, .boolean = boolean};
}

static inline struct value value_int(int64_t integer)
{
    return (struct value){.type = VALUE_INT, .integer = integer};
}

static inline struct value value_real(double real)
{
    return (struct value){.type = VALUE_REAL, .real = real};
}

static inline struct value value_text(const char *text)
{
    return (struct value){.type = VALUE_TEXT, .text = text};
}

static inline struct value value_json(const char *text)
{
    return (struct value){.type = VALUE_JSON, .text = text};
}

static inline struct value value_numeral(const char *text)
{
    return (struct value){.type = VALUE_NUMERAL, .text = text};
}

/* Null where there is none. */

static inline struct value value_int_if(bool is_known, int64_t integer)
{
    return is_known ? value_int(integer) : value_null();
}

static inline struct value value_int_unless(int64_t integer, int64_t none)
{
    return value_int_if(integer != none, integer);
}

static inline struct value value_real_unless_nan(double real)
{
    return isnan(real) ? value_null() : value_real(real);
}

static inline struct value value_text_or_null(const char *text)
{
    return text == NULL ? value_null() : value_text(text);
}

static inline struct value value_text_unless_empty(const char *text)
{
    return value_text_or_null(text == NULL || text[0] == '\0' ? NULL : text);
}

/* Whether a program gets nothing: an inactive parameter, or a null among its
 * values. */
bool value_is_null(const struct value *value);

/* Whether `text` is what lives as long as its owner says. */
bool value_has_text(const struct value *value);

/* The number of a numeral, an integer where it fits; any other value itself. */
struct value value_of_numeral(const struct value *value);

/* Same type and same content; a NaN equals a NaN. */
bool value_equal(const struct value *a, const struct value *b);

/* The number a value stands for (a bool is 0 or 1); NaN for null and text. */
double value_number(const struct value *value);

/* Whether an expression's result counts as true: a number that is not 0. */
bool value_is_true(const struct value *value);

/*
 * Appends the value as a command line shows it: true/false, the shortest
 * decimal that reads back to the same double, the bare text; nothing for
 * VALUE_NULL.
 */
void value_print(const struct value *value, struct buf *out);

/*
 * Appends the value as a program gets it: as value_print does, but a real
 * number without a fraction keeps its form, as in JSON: 4.0, not 4. Nothing for
 * whatever value_is_null.
 */
void value_print_argument(const struct value *value, struct buf *out);

/* The shortest decimal for a double, as value_print gives it. size >= 32. */
void value_format_real(double real, char *text, size_t size);
/* The same as value_print_argument gives it. size >= 32. */
void value_format_argument(double real, char *text, size_t size);

#endif
