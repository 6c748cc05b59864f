/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

enum { NUMBER_MAX = 400 };

bool metric_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool metric_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool metric_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

const char *metric_skip_blanks(const char *at, const char *end)
{
    while (at < end && metric_is_blank(*at))
        at++;
    return at;
}

static bool is_word(char c)
{
    return metric_is_letter(c) || metric_is_digit(c);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && metric_is_digit(*at))
        at++;
    return at;
}

/* Whether a digit stands at `at`. */
static bool has_digit(const char *at, const char *end)
{
    return at < end && metric_is_digit(*at);
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
    return has_digit(exponent, end) ? skip_digits(exponent, end) : at;
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

    if (at == end || (*at | 0x20) < 'i' || (*at | 0x20) > 'n')
        return NULL;
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

/* A separator between digits that would cut a number: of thousands, or of a
 * list. The blanks are the no-break ones that some locales use. */
static size_t separator_length(const char *at, const char *end)
{
    if (at < end && (*at == ',' || *at == '\''))
        return 1;
    if (end - at >= 2 && memcmp(at, "\xc2\xa0", 2) == 0)
        return 2;
    if (end - at >= 3 && memcmp(at, "\xe2\x80\xaf", 3) == 0)
        return 3;
    return 0;
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
        return metric_is_digit(next);
    if (*at == '.' || *at == '-' || *at == '+')
        return is_word(next);
    return separator_length(at, end) > 0 &&
           has_digit(at + separator_length(at, end), end);
}

/* Behind the digits and commas at `at`. *commas: how many; *is_grouped: they
 * part thousands. */
static const char *groups_end(const char *at, const char *end, int *commas,
                              bool *is_grouped)
{
    const char *behind = skip_digits(at, end);
    ptrdiff_t first = behind - at;

    *commas = 0;
    *is_grouped = first >= 1 && first <= 3 && *at != '0';
    while (behind < end && *behind == ',' && has_digit(behind + 1, end)) {
        const char *group = behind + 1;

        behind = skip_digits(group, end);
        *is_grouped = *is_grouped && behind - group == 3;
        ++*commas;
    }
    return behind;
}

/* The number at `at` has a comma between digits. Copies it without separators
 * of thousands, or with a point in place of the comma. Behind it, or NULL. */
static const char *copy_commas(const char *at, const char *end, char *copy)
{
    bool is_grouped, has_point;
    int commas;
    const char *behind = groups_end(at, end, &commas, &is_grouped);
    size_t length = 0;

    has_point = behind < end && *behind == '.' && has_digit(behind + 1, end);
    if (is_grouped ? commas == 1 && !has_point : commas > 1 || has_point)
        return NULL;
    if (behind < end && (has_point || *behind == 'e' || *behind == 'E'))
        behind = decimal_end(behind - 1, end);
    if (behind - at > NUMBER_MAX)
        return NULL;
    for (; at < behind; at++) {
        if (*at != ',')
            copy[length++] = *at;
        else if (!is_grouped)
            copy[length++] = '.';
    }
    copy[length] = '\0';
    return behind;
}

static const char *copy_decimal(const char *at, const char *end, char *copy)
{
    const char *whole = skip_digits(at, end);
    const char *behind;

    if (whole > at && whole < end && *whole == ',' && has_digit(whole + 1, end))
        return copy_commas(at, end, copy);
    behind = decimal_end(at, end);
    if (behind == NULL || behind - at > NUMBER_MAX)
        return NULL;
    memcpy(copy, at, (size_t)(behind - at));
    copy[behind - at] = '\0';
    return behind;
}

size_t metric_blank_groups(const char *at, const char *end)
{
    const char *group = skip_digits(at, end);

    if (group == at || group - at > 3 || *at == '0')
        return 0;
    while (end - group > 4 && *group == ' ' &&
           skip_digits(group + 1, group + 5) == group + 4)
        group += 4;
    return group > at + 3 && *group == ',' && has_digit(group + 1, end)
               ? (size_t)(skip_digits(group + 1, end) - at)
               : 0;
}

size_t metric_scan_number(const char *text, const char *end, double *value)
{
    bool negative = text < end && *text == '-';
    const char *start = text + (negative || (text < end && *text == '+'));
    const char *behind = special_end(start, end, value);
    char copy[NUMBER_MAX + 1];

    if (behind == NULL) {
        behind = copy_decimal(start, end, copy);
        if (behind == NULL)
            return 0;
        *value = strtod(copy, NULL);
    }
    if (goes_on(behind, end) || metric_blank_groups(start, end) > 0)
        return 0;
    if (negative)
        *value = -*value;
    return (size_t)(behind - text);
}

bool metric_is_number(const char *text, const char *end, double *value)
{
    return text < end &&
           metric_scan_number(text, end, value) == (size_t)(end - text);
}

/* ---- what libraries print around a number ---- */

static bool is_name_of_type(const char *name, size_t length)
{
    static const char *const types[] = {
        "tensor",   "Tensor",  "array",   "Array",    "DeviceArray", "float",
        "float16",  "float32", "float64", "float128", "double",      "int",
        "bfloat16", "int32",   "int64",   "Decimal",  "Variable"};

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strlen(types[i]) == length && memcmp(types[i], name, length) == 0)
            return true;
    return false;
}

/* Behind TYPE( or np.TYPE( at `at`, or NULL. */
static const char *type_end(const char *at, const char *end)
{
    const char *name = at, *last = at;

    if (at == end || !metric_is_letter(*at))
        return NULL;
    for (; at < end && (is_word(*at) || *at == '.'); at++)
        if (*at == '.')
            last = at + 1;
    if (at == end || *at != '(' || at - name > 64 ||
        !is_name_of_type(last, (size_t)(at - last)))
        return NULL;
    return at + 1;
}

/* The number in a type's parentheses, and what closes them: behind it, or NULL.
 */
static const char *closed_end(const char *number, const char *end,
                              double *value)
{
    size_t length = metric_scan_number(number, end, value);
    const char *behind = number + length, *close;

    if (length == 0 || behind == end || *behind == '\0' ||
        strchr(")]'\",", *behind) == NULL)
        return NULL;
    close = memchr(behind, ')', (size_t)(end - behind));
    return close != NULL ? close + 1 : behind + 1;
}

static const char *skip_opening(const char *at, const char *end)
{
    while (at < end && (*at == '[' || *at == '\'' || *at == '"' || *at == '('))
        at++;
    while (at < end && metric_is_blank(*at))
        at++;
    return at;
}

/* <tf.Tensor: shape=(), dtype=float32, numpy=0.5> */
static const char *tensorflow_end(const char *at, const char *end,
                                  double *value)
{
    static const char head[] = "<tf.", tail[] = "numpy=";
    const char *number, *close;

    if ((size_t)(end - at) < sizeof(head) ||
        memcmp(at, head, sizeof(head) - 1) != 0)
        return NULL;
    close = memchr(at, '>', (size_t)(end - at));
    if (close == NULL)
        return NULL;
    number = memmem(at, (size_t)(close - at), tail, sizeof(tail) - 1);
    if (number == NULL)
        return NULL;
    number = skip_opening(number + sizeof(tail) - 1, close);
    return metric_scan_number(number, close, value) > 0 ? close + 1 : NULL;
}

size_t metric_scan_value(const char *text, const char *end, double *value)
{
    size_t length = metric_scan_number(text, end, value);
    const char *behind = NULL;

    if (length > 0 || text == end)
        return length;
    if (*text == '\'' || *text == '"' || *text == '[') {
        char closing = *text == '[' ? ']' : *text;

        length = metric_scan_number(text + 1, end, value);
        return length > 0 && text + 1 + length < end &&
                       text[1 + length] == closing
                   ? length + 2
                   : 0;
    }
    if (*text == '<') {
        behind = tensorflow_end(text, end, value);
    } else if (metric_is_letter(*text)) {
        behind = type_end(text, end);
        if (behind != NULL)
            behind = closed_end(skip_opening(behind, end), end, value);
    }
    return behind != NULL ? (size_t)(behind - text) : 0;
}
