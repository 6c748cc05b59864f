/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/scan.h"

#include <string.h>

#include "base/metrics/name.h"
#include "base/metrics/number.h"
#include "base/metrics/step.h"

/* The name in quotes whose closing quote is before `at`; its length, 0: none.
 */
static size_t quoted_name(const char *line, const char *at, const char **name)
{
    const char *close = at - 1, *open = close;
    size_t length;

    do {
        if (open == line || close - open > METRIC_NAME_MAX)
            return 0;
        open--;
    } while (*open != *close);
    *name = open + 1;
    length = (size_t)(close - *name);
    if (memchr(*name, '"', length) != NULL ||
        memchr(*name, '=', length) != NULL)
        return 0;
    return metric_is_quoted_name(*name, length) ? length : 0;
}

/* The name that ends before `at`, with blanks between; its length, 0: none. */
static size_t name_before(const char *line, const char *at,
                          struct metric_pair *pair)
{
    const char *start;

    while (at > line && metric_is_blank(at[-1]))
        at--;
    pair->lead = 0;
    if (at > line && (at[-1] == '"' || at[-1] == '\''))
        return quoted_name(line, at, &pair->name);
    start = metric_name_start(line, at);
    if (!metric_is_name(start, (size_t)(at - start)))
        return 0;
    pair->lead = metric_name_lead(line, start);
    pair->name = start - pair->lead;
    return (size_t)(at - pair->name);
}

/* NAME=NUMBER, NAME: NUMBER, "NAME": NUMBER around the sign at `at`. Returns
 * where to go on. */
static const char *scan_around(const char *line, const char *end,
                               const char *at, struct metric_pairs *pairs)
{
    struct metric_pair pair;
    const char *number;
    size_t length;

    pair.length = name_before(line, at, &pair);
    if (pair.length == 0)
        return at + 1;
    number = metric_skip_blanks(at + 1, end);
    length = metric_scan_value(number, end, &pair.value);
    if (length == 0)
        return at + 1;
    /* main.c:12: is a place in a file */
    if (*at == ':' && number == at + 1 && number + length < end &&
        number[length] == ':')
        return at + 1;
    metric_pairs_add(pairs, &pair);
    return number + length;
}

static const char *find(const char *at, const char *end, char c)
{
    return at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
}

static void scan_text(const char *line, const char *end,
                      struct metric_pairs *pairs)
{
    const char *at = line;
    const char *equals = find(line, end, '=');
    const char *colon = find(line, end, ':');

    while (equals != NULL || colon != NULL) {
        if (colon == NULL || (equals != NULL && equals < colon))
            at = scan_around(line, end, equals, pairs);
        else
            at = scan_around(line, end, colon, pairs);
        if (equals != NULL && equals < at)
            equals = find(at, end, '=');
        if (colon != NULL && colon < at)
            colon = find(at, end, ':');
    }
}

void metric_scan_line(const char *line, size_t length,
                      struct metric_pairs *pairs)
{
    pairs->count = 0;
    buf_truncate(&pairs->names, 0);
    pairs->is_json = metric_scan_json(line, line + length, pairs);
    if (pairs->is_json)
        return;
    pairs->count = 0;
    scan_text(line, line + length, pairs);
}

/* ---- a name of any form ---- */

enum { SEPARATORS_MAX = 80 };

/* The length of what may part a name and its number at `at`, or 0. */
static size_t separator_length(const char *at, const char *end)
{
    if (at == end)
        return 0;
    if (metric_is_blank(*at) || *at == '=' || *at == ':' || *at == '|')
        return 1;
    /* lines of tables, U+2500 to U+257F */
    return end - at >= 3 && at[0] == '\xe2' &&
                   (at[1] == '\x94' || at[1] == '\x95')
               ? 3
               : 0;
}

static const char *skip_letters(const char *at, const char *end)
{
    while (at < end && metric_is_letter(*at))
        at++;
    return at;
}

/* Behind " after epoch 3" or the like at `at`, which may be between a name and
 * its number; else `at`. */
static const char *skip_step(const char *at, const char *end)
{
    static const struct metric_resource none;
    const char *word = at < end && *at == ' ' ? at + 1 : end;
    const char *behind = skip_letters(word, end);
    double step;
    size_t length;

    if (behind < end && *behind == ' ' &&
        metric_step_rank(&none, word, (size_t)(behind - word)) == STEP_NONE) {
        word = behind + 1;
        behind = skip_letters(word, end);
    }
    if (behind == end || *behind != ' ' ||
        metric_step_rank(&none, word, (size_t)(behind - word)) == STEP_NONE)
        return at;
    length = metric_scan_number(behind + 1, end, &step);
    return length > 0 ? behind + 1 + length : at;
}

/* Whether a number comes behind the name that ends at `at`. */
static bool has_value(const char *at, const char *end, double *value)
{
    const char *start;
    size_t length;

    if (at < end && (*at == '"' || *at == '\''))
        at++;
    else if (!metric_name_may_end(at, end))
        return false;
    at = skip_step(at, end);
    start = at;
    while (at - start < SEPARATORS_MAX &&
           (length = separator_length(at, end)) > 0)
        at += length;
    return at > start && metric_scan_value(at, end, value) > 0;
}

const char *metric_scan_for(const char *line, size_t length, const char *name,
                            double *value, bool *is_mentioned)
{
    size_t wanted = strlen(name);
    const char *end = line + length;

    for (const char *at = line; (size_t)(end - at) >= wanted; at++) {
        if ((*at != *name && (*at | 0x20) != (*name | 0x20) &&
             metric_is_letter(*name)) ||
            !metric_names_match(at, name, wanted) ||
            !metric_name_may_begin(line, at))
            continue;
        *is_mentioned = true;
        if (has_value(at + wanted, end, value))
            return at;
    }
    return NULL;
}
