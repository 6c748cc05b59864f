/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/rank.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/metrics/number.h"
#include "base/metrics/scan.h"
#include "base/text.h"

/*
 * Processes that share an output are told apart by what their lines name. Where
 * these name no rank, two of one step differ only in what was measured: times,
 * fractions, the value itself. The lines of one process that prints more often
 * than its step changes differ in a whole number, too, that of its batch.
 */

enum { RANK_MAX = 1000000, FORM_BYTES = 512 };

int64_t metric_rank_of_line(const char *line, size_t length)
{
    static const char *const tags[] = {"rank", "local_rank", "default", "gpu"};
    const char *end = line + length;
    bool is_open = length > 0 && *line == '[';
    size_t count = ARRAY_LEN(tags) - !is_open; /* "GPU 1: 60 degrees" */

    line += is_open;
    for (size_t i = 0; i < count; i++) {
        size_t tag = strlen(tags[i]);
        const char *at = line + tag;
        int64_t rank = METRIC_RANK_NONE;

        if ((size_t)(end - line) <= tag || strncasecmp(line, tags[i], tag) != 0)
            continue;
        for (at += *at == ' '; at < end && metric_is_digit(*at); at++) {
            if (rank < RANK_MAX)
                rank = (rank < 0 ? 0 : rank) * 10 + (*at - '0');
        }
        return at < end && *at == (is_open ? ']' : ':') ? rank
                                                        : METRIC_RANK_NONE;
    }
    return METRIC_RANK_NONE;
}

static const char *const names[] = {"rank", "global_rank", "local_rank"};

bool metric_is_rank(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

bool metric_is_pair_of_rank(const struct metric_pair *pair)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (pair->length == strlen(names[i]) &&
            memcmp(pair->name, names[i], pair->length) == 0)
            return pair->value >= 0 && pair->value <= RANK_MAX &&
                   pair->value == floor(pair->value);
    return false;
}

int64_t metric_rank_of_pairs(const struct metric_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (metric_is_pair_of_rank(&pairs->items[i]))
            return (int64_t)pairs->items[i].value;
    return METRIC_RANK_NONE;
}

/* ---- forms ---- */

static bool is_of_number(char c)
{
    return metric_is_digit(c) || c == '.' || c == ',' || c == ':' || c == '-' ||
           c == '+';
}

/* Behind the number or time at `at`, without a sign that ends a sentence. */
static const char *skip_number(const char *at, const char *end)
{
    const char *start = at;

    while (at < end &&
           (is_of_number(*at) ||
            ((*at | 0x20) == 'e' && at + 1 < end &&
             (metric_is_digit(at[1]) || at[1] == '-' || at[1] == '+'))))
        at++;
    while (at > start + 1 && !metric_is_digit(at[-1]))
        at--;
    return at;
}

/* Whether the number counts something, and is not the value itself. */
static bool is_counter(const char *at, const char *end, double value)
{
    double number;

    for (const char *c = at; c < end; c++)
        if (!metric_is_digit(*c))
            return false;
    return metric_scan_number(at, end, &number) == 0 || number != fabs(value);
}

uint32_t metric_line_form(const char *line, size_t length, double value)
{
    char form[FORM_BYTES];
    const char *end = line + length;
    size_t used = 0;

    while (line < end && used < FORM_BYTES) {
        const char *behind;

        if (!metric_is_digit(*line)) {
            /* the sign belongs to the number, and nan is one */
            if (*line != '-' && *line != '+')
                form[used++] = *line;
            line++;
            continue;
        }
        behind = skip_number(line, end);
        if (!is_counter(line, behind, value))
            line = behind;
        while (line < behind && used < FORM_BYTES)
            form[used++] = *line++;
    }
    return text_hash(form, used);
}
