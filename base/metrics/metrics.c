/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/metrics/regex.h"
#include "base/metrics/scan.h"
#include "base/text.h"

/*
 * Bytes become lines, lines become pairs or matches, and these become metrics
 * with a step. A line that lies whole within what was fed is read in place;
 * only a half one is kept, up to LINE_MAX_BYTES. What does not fit is cut off
 * behind its last word, which may have been cut in two itself.
 */

enum { LINE_MAX_BYTES = 64 << 10, SERIES_MAX = 1000 };

static const double step_max = 9007199254740992.0; /* 2^53 */

struct rule {
    char *name;
    struct metric_regex *regex; /* NULL: the built-in patterns serve */
};

struct metric_rules {
    struct rule *rules;
    size_t count;
    bool built_in; /* some rule, or none at all, needs them */
};

/* One metric's course so far. */
struct series {
    uint32_t hash;
    char *name;
    int64_t last_step;
};

struct metric_reader {
    struct metric_rules *rules;
    struct buf half; /* a line's beginning */
    bool cut;        /* more of that line was dropped */
    struct buf bare; /* a line without its terminal escapes */
    struct metric_pairs pairs;
    struct series *series;
    size_t series_count, series_capacity;
    int64_t last_step; /* of a series that has none yet */
    int64_t left_out;  /* values of metrics without a place */
};

/* Where metrics go, and what they are of. */
struct sink {
    struct metric_reader *reader;
    metric_fn found;
    void *user;
};

struct metric_rules *metric_rules_create(const struct metric_rule *rules,
                                         size_t count, struct err *err)
{
    struct metric_rules *made = mem_zero(sizeof(*made));

    made->rules = mem_array(count, sizeof(*made->rules));
    made->built_in = count == 0;
    for (size_t i = 0; i < count; i++) {
        made->count = i + 1;
        made->rules[i].name = mem_copy_string(rules[i].name);
        if (rules[i].regex == NULL) {
            made->built_in = true;
            continue;
        }
        made->rules[i].regex = metric_regex_create(rules[i].regex, err);
        if (made->rules[i].regex == NULL) {
            if (err != NULL)
                err->line = (int)i + 1;
            metric_rules_destroy(made);
            return NULL;
        }
    }
    return made;
}

void metric_rules_destroy(struct metric_rules *rules)
{
    if (rules == NULL)
        return;
    for (size_t i = 0; i < rules->count; i++) {
        free(rules->rules[i].name);
        metric_regex_destroy(rules->rules[i].regex);
    }
    free(rules->rules);
    free(rules);
}

struct metric_reader *metric_reader_create(struct metric_rules *rules,
                                           int64_t last_step)
{
    struct metric_reader *reader = mem_zero(sizeof(*reader));

    reader->rules = rules;
    reader->last_step = last_step;
    return reader;
}

void metric_reader_destroy(struct metric_reader *reader)
{
    if (reader == NULL)
        return;
    for (size_t i = 0; i < reader->series_count; i++)
        free(reader->series[i].name);
    free(reader->series);
    free(reader->pairs.items);
    buf_clear(&reader->half);
    buf_clear(&reader->bare);
    free(reader);
}

/* NULL when there are too many already. */
static struct series *series_of(struct metric_reader *reader, const char *name,
                                size_t length)
{
    uint32_t hash = text_hash(name, length);
    struct series *series;

    for (size_t i = 0; i < reader->series_count; i++) {
        series = &reader->series[i];
        if (series->hash == hash && strlen(series->name) == length &&
            memcmp(series->name, name, length) == 0)
            return series;
    }
    if (reader->series_count == SERIES_MAX)
        return NULL;
    reader->series =
        mem_grow(reader->series, reader->series_count, &reader->series_capacity,
                 sizeof(*reader->series));
    series = &reader->series[reader->series_count++];
    *series =
        (struct series){hash, mem_copy_bytes(name, length), reader->last_step};
    return series;
}

static bool is_step(double value)
{
    return value >= 0 && value <= step_max && value == floor(value);
}

void metric_reader_reserve(struct metric_reader *reader, const char *name)
{
    series_of(reader, name, strlen(name));
}

int64_t metric_reader_left_out(const struct metric_reader *reader)
{
    return reader->left_out;
}

/* `step` -1: none was said. */
static void emit(const struct sink *sink, const char *name, size_t length,
                 int64_t step, double value)
{
    struct series *series = series_of(sink->reader, name, length);

    if (series == NULL) {
        sink->reader->left_out++;
        return;
    }
    series->last_step = step >= 0 ? step : series->last_step + 1;
    sink->found(sink->user, series->name, series->last_step, value);
}

static bool pair_is(const struct metric_pair *pair, const char *name)
{
    return strlen(name) == pair->length &&
           strncasecmp(name, pair->name, pair->length) == 0;
}

/* The pair that tells the line's step, or NULL. */
static const struct metric_pair *step_pair(const struct metric_pairs *pairs)
{
    static const char *const names[] = {"step", "epoch", "iteration", "iter"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t j = 0; j < pairs->count; j++)
            if (pair_is(&pairs->items[j], names[i]) &&
                is_step(pairs->items[j].value))
                return &pairs->items[j];
    return NULL;
}

/* Whether a rule without a regex names the pair. */
static bool is_wanted(const struct metric_rules *rules,
                      const struct metric_pair *pair)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->rules[i].regex == NULL &&
            strlen(rules->rules[i].name) == pair->length &&
            memcmp(rules->rules[i].name, pair->name, pair->length) == 0)
            return true;
    return false;
}

static void read_pairs(const struct sink *sink)
{
    const struct metric_pairs *pairs = &sink->reader->pairs;
    const struct metric_rules *rules = sink->reader->rules;
    const struct metric_pair *step = step_pair(pairs);

    for (size_t i = 0; i < pairs->count; i++) {
        const struct metric_pair *pair = &pairs->items[i];

        if (rules->count == 0 ? pair != step : is_wanted(rules, pair))
            emit(sink, pair->name, pair->length,
                 step != NULL ? (int64_t)step->value : -1, pair->value);
    }
}

static void read_match(const struct sink *sink, size_t rule, const char *line,
                       size_t length)
{
    struct metric_reader *reader = sink->reader;
    struct metric_rules *rules = reader->rules;
    struct metric_match match;
    const struct metric_pair *pair = NULL;

    if (metric_regex_match(rules->rules[rule].regex, line, length, &match) <= 0)
        return;
    if (!match.has_step) {
        metric_scan_line(line, length, &reader->pairs);
        pair = step_pair(&reader->pairs);
        match.step = pair != NULL ? pair->value : -1;
    }
    emit(sink, rules->rules[rule].name, strlen(rules->rules[rule].name),
         is_step(match.step) ? (int64_t)match.step : -1, match.value);
}

/* The line without CSI sequences (colours, cursor movements), ECMA-48 5.4. */
static void strip_escapes(const char *line, size_t length, struct buf *bare)
{
    buf_truncate(bare, 0);
    for (size_t i = 0; i < length; i++) {
        if (line[i] != '\033' || i + 1 == length || line[i + 1] != '[') {
            buf_add_char(bare, line[i]);
            continue;
        }
        for (i += 2; i < length && line[i] >= 0x20 && line[i] < 0x40; i++)
            ;
    }
}

/* "[rank 3] " in front: what another rank says. */
static bool is_of_other_rank(const char *line, size_t length)
{
    static const char tag[] = "[rank ";
    size_t i = sizeof(tag) - 1;

    if (length <= i || memcmp(line, tag, i) != 0 || line[i] == '0')
        return false;
    while (i < length && line[i] >= '0' && line[i] <= '9')
        i++;
    return i >= sizeof(tag) && i < length && line[i] == ']';
}

static void read_line(const struct sink *sink, const char *line, size_t length)
{
    struct metric_reader *reader = sink->reader;

    if (length == 0 || reader->rules == NULL || is_of_other_rank(line, length))
        return;
    if (memchr(line, '\033', length) != NULL) {
        strip_escapes(line, length, &reader->bare);
        line = buf_text(&reader->bare);
        length = reader->bare.length;
    }
    if (reader->rules->built_in) {
        metric_scan_line(line, length, &reader->pairs);
        read_pairs(sink);
    }
    for (size_t i = 0; i < reader->rules->count; i++)
        if (reader->rules->rules[i].regex != NULL)
            read_match(sink, i, line, length);
}

static bool may_be_cut(char c)
{
    return c == '_' || c == '.' || c == '+' || c == '-' ||
           (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static void read_bounded(const struct sink *sink, const char *line,
                         size_t length, bool cut)
{
    if (length > LINE_MAX_BYTES) {
        length = LINE_MAX_BYTES;
        cut = true;
    }
    while (cut && length > 0 && may_be_cut(line[length - 1]))
        length--;
    read_line(sink, line, length);
}

static void keep_half(struct metric_reader *reader, const char *bytes,
                      size_t length)
{
    size_t room = LINE_MAX_BYTES - reader->half.length;

    reader->cut = reader->cut || length > room;
    buf_add(&reader->half, bytes, length > room ? room : length);
}

/* The bytes up to the end of a line, which may have begun before. */
static void end_line(const struct sink *sink, const char *bytes, size_t length)
{
    struct metric_reader *reader = sink->reader;

    if (reader->half.length == 0) {
        read_bounded(sink, bytes, length, false);
        return;
    }
    keep_half(reader, bytes, length);
    read_bounded(sink, buf_text(&reader->half), reader->half.length,
                 reader->cut);
    buf_truncate(&reader->half, 0);
    reader->cut = false;
}

void metric_reader_feed(struct metric_reader *reader, const void *bytes,
                        size_t length, metric_fn found, void *user)
{
    const struct sink sink = {reader, found, user};
    const char *at = bytes, *end = at + length;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *behind = newline != NULL ? newline : end;
        const char *carriage;

        while ((carriage = memchr(at, '\r', (size_t)(behind - at))) != NULL) {
            end_line(&sink, at, (size_t)(carriage - at));
            at = carriage + 1;
        }
        if (newline == NULL) {
            keep_half(reader, at, (size_t)(end - at));
            return;
        }
        end_line(&sink, at, (size_t)(newline - at));
        at = newline + 1;
    }
}

void metric_reader_finish(struct metric_reader *reader, metric_fn found,
                          void *user)
{
    const struct sink sink = {reader, found, user};

    end_line(&sink, "", 0);
}
