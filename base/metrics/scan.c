/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/scan.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/mem.h"

enum { NUMBER_MAX = 400 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c);
}

static bool is_name_char(char c)
{
    return is_word(c) || c == '.' || c == '/' || c == '-';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool metric_is_name(const char *text, size_t length)
{
    if (length == 0 || length > METRIC_NAME_MAX || !is_letter(text[0]))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!is_name_char(text[i]))
            return false;
    return true;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* Behind the decimal at `at`, or NULL. */
static const char *decimal_end(const char *at, const char *end)
{
    const char *whole = skip_digits(at, end);
    size_t digits = (size_t)(whole - at);
    const char *exponent;

    at = whole;
    if (at < end && *at == '.') {
        at = skip_digits(at + 1, end);
        digits += (size_t)(at - whole - 1);
    }
    if (digits == 0)
        return NULL;
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    exponent = at + 1;
    if (exponent < end && (*exponent == '+' || *exponent == '-'))
        exponent++;
    return exponent < end && is_digit(*exponent) ? skip_digits(exponent, end)
                                                 : at;
}

/* Behind nan, inf or infinity at `at`, or NULL. */
static const char *special_end(const char *at, const char *end, double *value)
{
    static const struct {
        const char *word;
        double value;
    } specials[] = {
        {"nan", (double)NAN},
        {"infinity", HUGE_VAL},
        {"inf", HUGE_VAL},
    };

    for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
        size_t length = strlen(specials[i].word);

        if ((size_t)(end - at) >= length &&
            strncasecmp(at, specials[i].word, length) == 0) {
            *value = specials[i].value;
            return at + length;
        }
    }
    return NULL;
}

static bool goes_on(const char *at, const char *end)
{
    char next;

    if (at == end)
        return false;
    if (is_word(*at))
        return true;
    next = at + 1 < end ? at[1] : ' ';
    if (*at == ':')
        return is_digit(next);
    return (*at == '.' || *at == '-' || *at == '+') && is_word(next);
}

size_t metric_scan_number(const char *text, const char *end, double *value)
{
    bool negative = text < end && *text == '-';
    const char *start = text + (negative || (text < end && *text == '+'));
    const char *behind = special_end(start, end, value);
    char copy[NUMBER_MAX + 1];

    if (behind == NULL) {
        behind = decimal_end(start, end);
        if (behind == NULL || behind - start > NUMBER_MAX)
            return 0;
        memcpy(copy, start, (size_t)(behind - start));
        copy[behind - start] = '\0';
        *value = strtod(copy, NULL);
    }
    if (goes_on(behind, end))
        return 0;
    if (negative)
        *value = -*value;
    return (size_t)(behind - text);
}

static void add_pair(struct metric_pairs *pairs, const char *name,
                     size_t length, double value)
{
    if (pairs->count == METRIC_LINE_MAX_PAIRS)
        return;
    pairs->items = mem_grow(pairs->items, pairs->count, &pairs->capacity,
                            sizeof(*pairs->items));
    pairs->items[pairs->count++] = (struct metric_pair){name, length, value};
}

/* NAME=NUMBER, NAME: NUMBER, "NAME": NUMBER around the sign at `at`. */
static void scan_around(const char *line, const char *end, const char *at,
                        struct metric_pairs *pairs)
{
    const char *name_end = at, *name, *number;
    size_t length;
    double value;
    char quote;

    while (name_end > line && is_blank(name_end[-1]))
        name_end--;
    quote = name_end > line ? name_end[-1] : '\0';
    name_end -= quote == '"' || quote == '\'';
    name = name_end;
    while (name > line && is_name_char(name[-1]) &&
           name_end - name <= METRIC_NAME_MAX)
        name--;
    if (!metric_is_name(name, (size_t)(name_end - name)))
        return;
    if ((quote == '"' || quote == '\'') && (name == line || name[-1] != quote))
        return;
    number = skip_blanks(at + 1, end);
    length = metric_scan_number(number, end, &value);
    if (length == 0)
        return;
    /* main.c:12: is a place in a file */
    if (*at == ':' && number == at + 1 && number + length < end &&
        number[length] == ':')
        return;
    add_pair(pairs, name, (size_t)(name_end - name), value);
}

static const char *find(const char *at, const char *end, char c)
{
    return at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
}

static void scan_text(const char *line, const char *end,
                      struct metric_pairs *pairs)
{
    const char *equals = find(line, end, '=');
    const char *colon = find(line, end, ':');

    while (equals != NULL || colon != NULL) {
        if (colon == NULL || (equals != NULL && equals < colon)) {
            scan_around(line, end, equals, pairs);
            equals = find(equals + 1, end, '=');
        } else {
            scan_around(line, end, colon, pairs);
            colon = find(colon + 1, end, ':');
        }
    }
}

/* Behind the string that starts at `at`, or NULL. */
static const char *string_end(const char *at, const char *end)
{
    if (at == end || *at != '"')
        return NULL;
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : NULL;
}

/* Behind the array or object that starts at `at`, or NULL. */
static const char *nested_end(const char *at, const char *end)
{
    int depth = 0;

    while (at != NULL && at < end) {
        if (*at == '"') {
            at = string_end(at, end);
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
        if (depth == 0)
            return at;
    }
    return NULL;
}

static const char *literal_end(const char *at, const char *end,
                               const char *literal)
{
    size_t length = strlen(literal);

    return (size_t)(end - at) >= length && memcmp(at, literal, length) == 0
               ? at + length
               : NULL;
}

/* Behind the value at `at`, or NULL; *value where it is a number. */
static const char *member_value(const char *at, const char *end, bool *number,
                                double *value)
{
    const char *behind = NULL;
    size_t length;

    *number = false;
    if (at == end)
        return NULL;
    if (*at == '{' || *at == '[')
        return nested_end(at, end);
    if (*at == '"') {
        behind = string_end(at, end);
        if (behind == NULL)
            return NULL;
        length = metric_scan_number(at + 1, behind - 1, value);
        *number =
            at + 1 + length == behind - 1 && length > 0 && !isfinite(*value);
        return behind;
    }
    length = metric_scan_number(at, end, value);
    *number = length > 0;
    if (length > 0)
        return at + length;
    behind = literal_end(at, end, "null");
    if (behind != NULL) {
        *number = true;
        *value = (double)NAN;
        return behind;
    }
    behind = literal_end(at, end, "true");
    return behind != NULL ? behind : literal_end(at, end, "false");
}

/* Behind the member at `at`, or NULL. */
static const char *scan_member(const char *at, const char *end,
                               struct metric_pairs *pairs)
{
    const char *name = at + 1;
    const char *behind = string_end(at, end);
    size_t length;
    bool number;
    double value;

    if (behind == NULL)
        return NULL;
    length = (size_t)(behind - 1 - name);
    at = skip_blanks(behind, end);
    if (at == end || *at != ':')
        return NULL;
    at = member_value(skip_blanks(at + 1, end), end, &number, &value);
    if (at != NULL && number && metric_is_name(name, length))
        add_pair(pairs, name, length, value);
    return at;
}

/* Whether the line is one JSON object; its members, if so. */
static bool scan_json(const char *line, const char *end,
                      struct metric_pairs *pairs)
{
    const char *at = skip_blanks(line, end);

    if (at == end || *at != '{')
        return false;
    at = skip_blanks(at + 1, end);
    if (at < end && *at == '}')
        return skip_blanks(at + 1, end) == end;
    for (;;) {
        at = scan_member(at, end, pairs);
        if (at == NULL)
            return false;
        at = skip_blanks(at, end);
        if (at == end || (*at != ',' && *at != '}'))
            return false;
        if (*at == '}')
            return skip_blanks(at + 1, end) == end;
        at = skip_blanks(at + 1, end);
    }
}

void metric_scan_line(const char *line, size_t length,
                      struct metric_pairs *pairs)
{
    pairs->count = 0;
    if (scan_json(line, line + length, pairs))
        return;
    pairs->count = 0;
    scan_text(line, line + length, pairs);
}
