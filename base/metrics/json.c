/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/scan.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/metrics/name.h"
#include "base/metrics/number.h"
#include "base/text.h"

/*
 * Lines that are one JSON object, read without making values of it: most lines
 * of a log are none, and a large one has few numbers. Members of nested objects
 * are called OUTER/INNER; arrays are skipped. nan, inf and null (which is nan)
 * are numbers, also in quotes.
 */

enum { DEPTH_MAX = 8 };

struct scanner {
    const char *end;
    struct metric_pairs *pairs;
    char path[METRIC_NAME_MAX + 4]; /* of the object that is read */
};

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

/* Behind the plain value at `at`, or NULL; *value where it is a number. */
static const char *plain_value(const char *at, const char *end, bool *number,
                               double *value)
{
    const char *behind = NULL;
    size_t length;

    *number = false;
    if (at == end)
        return NULL;
    if (*at == '[')
        return nested_end(at, end);
    if (*at == '"') {
        behind = string_end(at, end);
        if (behind == NULL)
            return NULL;
        *number = metric_is_number(at + 1, behind - 1, value);
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

/* ---- names ---- */

/* Appends the key [at, end) to the path without its escapes. Its new length;
 * 0: it is too long, or has an escape that no name has, such as half of a
 * surrogate pair. */
static size_t add_key(char *path, size_t length, const char *at,
                      const char *end)
{
    while (at < end) {
        uint32_t rune;
        size_t taken;

        if (length + 3 > METRIC_NAME_MAX + 1)
            return 0;
        if (*at != '\\') {
            path[length++] = *at++;
            continue;
        }
        if (at[1] == '"' || at[1] == '\\' || at[1] == '/') {
            path[length++] = at[1];
            at += 2;
            continue;
        }
        taken = text_escaped_rune(at, (size_t)(end - at), &rune);
        if (taken == 0 || rune < 0x20)
            return 0;
        length += text_put_rune(rune, path + length);
        at += taken;
    }
    path[length] = '\0';
    return length;
}

/* The name lies in pairs->names, which may move: its place is kept until the
 * whole line was read. */
static void add_member(struct scanner *scanner, size_t length, double value)
{
    struct metric_pairs *pairs = scanner->pairs;
    const struct metric_pair pair = {NULL, length, pairs->names.length, value};

    if (!metric_is_quoted_name(scanner->path, length))
        return;
    buf_add(&pairs->names, scanner->path, length);
    metric_pairs_add(pairs, &pair);
}

static void place_names(struct metric_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        pairs->items[i].name = buf_text(&pairs->names) + pairs->items[i].lead;
        pairs->items[i].lead = 0;
    }
}

/* ---- objects ---- */

static const char *scan_object(struct scanner *scanner, const char *at,
                               size_t path, int depth);

/* Behind the member at `at` of the object with that path, or NULL. */
static const char *scan_member(struct scanner *scanner, const char *at,
                               size_t path, int depth)
{
    const char *end = scanner->end, *key = at + 1;
    const char *behind = string_end(at, end);
    size_t length;
    bool number;
    double value;

    if (behind == NULL)
        return NULL;
    length = add_key(scanner->path, path, key, behind - 1);
    at = metric_skip_blanks(behind, end);
    if (at == end || *at != ':')
        return NULL;
    at = metric_skip_blanks(at + 1, end);
    if (at < end && *at == '{') {
        if (length == 0 || length >= METRIC_NAME_MAX || depth == DEPTH_MAX)
            return nested_end(at, end);
        scanner->path[length] = '/';
        return scan_object(scanner, at, length + 1, depth + 1);
    }
    at = plain_value(at, end, &number, &value);
    if (at != NULL && number && length > path)
        add_member(scanner, length, value);
    return at;
}

/* Behind the object at `at`, or NULL. */
static const char *scan_object(struct scanner *scanner, const char *at,
                               size_t path, int depth)
{
    const char *end = scanner->end;

    at = metric_skip_blanks(at + 1, end);
    if (at < end && *at == '}')
        return at + 1;
    for (;;) {
        at = scan_member(scanner, at, path, depth);
        if (at == NULL)
            return NULL;
        at = metric_skip_blanks(at, end);
        if (at == end || (*at != ',' && *at != '}'))
            return NULL;
        if (*at == '}')
            return at + 1;
        at = metric_skip_blanks(at + 1, end);
    }
}

bool metric_scan_json(const char *line, const char *end,
                      struct metric_pairs *pairs)
{
    struct scanner scanner = {end, pairs, ""};
    const char *at = metric_skip_blanks(line, end);

    if (at == end || *at != '{')
        return false;
    at = scan_object(&scanner, at, 0, 0);
    if (at == NULL || metric_skip_blanks(at, end) != end)
        return false;
    place_names(pairs);
    return true;
}
