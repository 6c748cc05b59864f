/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/*
 * The curves of a reader. A point whose line names a step belongs there. Others
 * count: each is one step after the last, unless it repeats it. The metrics of
 * a line that may be refreshed wait for the next line: of the states of a
 * progress bar only the last one of each step counts.
 */

enum { SERIES_MAX = 1000, HELD_MAX = 4096 };

size_t series_find(struct metric_reader *reader, const char *name,
                   size_t length)
{
    uint32_t hash = text_hash(name, length);
    struct series *series;

    for (size_t i = 0; i < reader->series_count; i++) {
        series = &reader->series[i];
        if (series->hash == hash && strlen(series->name) == length &&
            memcmp(series->name, name, length) == 0)
            return i;
    }
    if (reader->series_count == SERIES_MAX)
        return SIZE_MAX;
    reader->series =
        mem_grow(reader->series, reader->series_count, &reader->series_capacity,
                 sizeof(*reader->series));
    series = &reader->series[reader->series_count];
    *series = (struct series){.hash = hash,
                              .name = mem_copy_bytes(name, length),
                              .last_step = reader->first_step};
    return reader->series_count++;
}

void series_clear(struct metric_reader *reader)
{
    for (size_t i = 0; i < reader->series_count; i++)
        free(reader->series[i].name);
    free(reader->series);
    free(reader->found.items);
    free(reader->held.items);
    free(reader->pending.items);
}

/* Two that are no numbers are the same, too. */
static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Another sentence has the value again: "saved the model with loss=0.5". */
static bool is_repeated(const struct series *series, const struct found *found)
{
    return series->has_value && found->words != series->words &&
           is_same(found->value, series->last_value);
}

/* Another process has the step, too: the same line, with another value. */
static void look_for_others(struct series *series, const struct found *found)
{
    struct metric_several *several = &series->several;

    series->points++;
    if (series->has_value && found->step == series->last_step &&
        !is_same(found->value, series->last_value) &&
        found->form == series->form) {
        several->doubled++;
        several->step = found->step;
        several->replaced = series->last_value;
        several->value = found->value;
    }
    series->form = found->form;
}

static void emit(const struct sink *sink, const struct found *found)
{
    struct series *series = &sink->reader->series[found->series];
    struct metric_point point = {series->name, found->step, found->value,
                                 isnan(found->step)};

    if (point.is_counted) {
        if (is_repeated(series, found))
            return;
        point.step = floor(series->last_step) + 1;
    }
    if (series->is_reserved)
        look_for_others(series, found);
    series->last_step = point.step;
    series->last_value = found->value;
    series->has_value = true;
    series->words = found->words;
    sink->found(sink->user, &point);
}

/* Whether the line is a later state of what waits: it has the metric at the
 * same step. */
static bool is_replaced(const struct found_list *later,
                        const struct found *found)
{
    for (size_t i = 0; i < later->count; i++)
        if (later->items[i].series == found->series &&
            is_same(later->items[i].step, found->step))
            return true;
    return false;
}

/* Whether the line is of the same step, so that more may come. */
static bool is_open(const struct found_list *later, const struct found *found)
{
    for (size_t i = 0; i < later->count; i++)
        if (!is_same(later->items[i].step, found->step))
            return false;
    return true;
}

static void append(struct found_list *list, const struct found *found)
{
    list->items = mem_grow(list->items, list->count, &list->capacity,
                           sizeof(*list->items));
    list->items[list->count++] = *found;
}

/* Of what waits goes on waiting what the line may still refresh. */
static void settle_pending(const struct sink *sink, bool is_refreshed)
{
    struct found_list *pending = &sink->reader->pending;
    const struct found_list *later = &sink->reader->found;
    size_t kept = 0;

    for (size_t i = 0; i < pending->count; i++) {
        const struct found item = pending->items[i];

        if (is_replaced(later, &item))
            continue;
        if (is_refreshed && is_open(later, &item))
            pending->items[kept++] = item;
        else
            emit(sink, &item);
    }
    pending->count = kept;
}

void series_take(const struct sink *sink, bool is_refreshed)
{
    struct found_list *found = &sink->reader->found;

    if (found->count == 0)
        return;
    settle_pending(sink, is_refreshed);
    for (size_t i = 0; i < found->count; i++) {
        if (is_refreshed)
            append(&sink->reader->pending, &found->items[i]);
        else
            emit(sink, &found->items[i]);
    }
    found->count = 0;
}

void series_release(struct metric_reader *reader,
                    const struct metric_block *block)
{
    struct found_list *held = &reader->held;

    for (size_t i = 0; i < held->count; i++) {
        if (isnan(held->items[i].step) && block->has_step)
            held->items[i].step = block->step;
        append(&reader->found, &held->items[i]);
    }
    held->count = 0;
}

void series_hold(struct metric_reader *reader)
{
    struct found_list *held = &reader->held;

    if (held->count >= HELD_MAX)
        return;
    for (size_t i = 0; i < reader->found.count; i++)
        append(held, &reader->found.items[i]);
    reader->found.count = 0;
}

void series_flush(const struct sink *sink, bool counts)
{
    struct found_list *pending = &sink->reader->pending;

    for (size_t i = 0; i < pending->count && counts; i++)
        emit(sink, &pending->items[i]);
    pending->count = 0;
}
