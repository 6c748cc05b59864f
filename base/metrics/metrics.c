/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/metrics/rank.h"
#include "base/metrics/reader.h"
#include "base/metrics/regex.h"

/*
 * Bytes become lines, lines become pairs or matches (line.c), and these become
 * metrics with a step (series.c). A line that lies whole within what was fed is
 * read in place; only a half one is kept, up to LINE_MAX_BYTES. What does not
 * fit is cut off behind its last word, which may have been cut in two itself.
 */

enum { LINE_MAX_BYTES = 64 << 10 };

struct metric_rules *metric_rules_create(const struct metric_rule *rules,
                                         size_t count, struct err *err)
{
    struct metric_rules *made = mem_zero(sizeof(*made));

    made->rules = mem_array(count, sizeof(*made->rules));
    made->built_in = made->finds_all = count == 0;
    for (size_t i = 0; i < count; i++) {
        made->count = i + 1;
        made->rules[i].name = mem_copy_string(rules[i].name);
        made->asks_for_rank |= metric_is_rank(rules[i].name);
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

void metric_rules_ask(struct metric_rules *rules, const char *name)
{
    rules->asks_for_rank |= metric_is_rank(name);
    if (!rules->finds_all)
        return;
    for (size_t i = 0; i < rules->count; i++)
        if (strcmp(rules->rules[i].name, name) == 0)
            return;
    rules->rules =
        mem_resize(rules->rules, rules->count + 1, sizeof(*rules->rules));
    rules->rules[rules->count++] = (struct rule){mem_copy_string(name), NULL};
}

void metric_rules_set_resource(struct metric_rules *rules, const char *name)
{
    metric_resource_set(&rules->resource, name);
}

struct metric_reader *metric_reader_create(struct metric_rules *rules,
                                           int64_t last_step)
{
    struct metric_reader *reader = mem_zero(sizeof(*reader));

    reader->rules = rules;
    reader->first_step = (double)last_step;
    if (rules != NULL)
        reader->uses = mem_array(rules->count, sizeof(*reader->uses));
    return reader;
}

void metric_reader_destroy(struct metric_reader *reader)
{
    if (reader == NULL)
        return;
    series_clear(reader);
    metric_pairs_clear(&reader->pairs);
    free(reader->uses);
    buf_clear(&reader->half);
    buf_clear(&reader->bare);
    free(reader);
}

void metric_reader_reserve(struct metric_reader *reader, const char *name)
{
    size_t index = series_find(reader, name, strlen(name));

    if (index != SIZE_MAX)
        reader->series[index].is_reserved = true;
}

int64_t metric_reader_left_out(const struct metric_reader *reader)
{
    return reader->left_out;
}

/* One value in place of another may be a correction; of two processes, every
 * second one is, or of many that do not wait for each other, nearly so. */
static bool is_of_several(const struct series *series)
{
    return series->several.left_out > 0 ||
           series->several.doubled * 4 > series->points;
}

bool metric_reader_several(const struct metric_reader *reader,
                           struct metric_several *several)
{
    for (size_t i = 0; i < reader->series_count; i++) {
        const struct series *series = &reader->series[i];

        if (!is_of_several(series))
            continue;
        *several = series->several;
        several->name = series->name;
        return true;
    }
    return false;
}

static bool may_be_cut(char c)
{
    return c == '_' || c == '.' || c == '+' || c == '-' ||
           (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* A line that ends with a newline, or with what may refresh it. */
static void read_bounded(const struct sink *sink, const char *line,
                         size_t length, bool cut, bool is_refreshed)
{
    if (length > LINE_MAX_BYTES) {
        length = LINE_MAX_BYTES;
        cut = true;
    }
    while (cut && length > 0 && may_be_cut(line[length - 1]))
        length--;
    line_read(sink->reader, line, length);
    series_take(sink, is_refreshed);
}

static void keep_half(struct metric_reader *reader, const char *bytes,
                      size_t length)
{
    size_t room = LINE_MAX_BYTES - reader->half.length;

    reader->cut = reader->cut || length > room;
    buf_add(&reader->half, bytes, length > room ? room : length);
}

/* The bytes up to the end of a line, which may have begun before. A line that
 * is empty ends the one that a carriage return left open. */
static void end_line(const struct sink *sink, const char *bytes, size_t length,
                     bool is_refreshed)
{
    struct metric_reader *reader = sink->reader;

    if (reader->half.length == 0) {
        if (length == 0 && !is_refreshed)
            series_flush(sink, true);
        else
            read_bounded(sink, bytes, length, false, is_refreshed);
        return;
    }
    keep_half(reader, bytes, length);
    read_bounded(sink, buf_text(&reader->half), reader->half.length,
                 reader->cut, is_refreshed);
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
            end_line(&sink, at, (size_t)(carriage - at), true);
            at = carriage + 1;
        }
        if (newline == NULL) {
            keep_half(reader, at, (size_t)(end - at));
            return;
        }
        end_line(&sink, at, (size_t)(newline - at), false);
        at = newline + 1;
    }
}

void metric_reader_finish(struct metric_reader *reader, bool is_whole,
                          metric_fn found, void *user)
{
    const struct sink sink = {reader, found, user};

    if (is_whole)
        end_line(&sink, "", 0, false);
    series_release(reader, &reader->block);
    series_take(&sink, false);
    series_flush(&sink, is_whole);
}
