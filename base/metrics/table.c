/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/table.h"

#include <stdint.h>
#include <string.h>

#include "base/metrics/name.h"
#include "base/metrics/number.h"

/* A line of a table, | or U+2500 to U+257F: its length at `at`, or 0. */
static size_t rule_length(const char *line, size_t length, size_t at)
{
    if (line[at] == '|')
        return 1;
    return length - at >= 3 && line[at] == '\xe2' &&
                   (line[at + 1] == '\x94' || line[at + 1] == '\x95')
               ? 3
               : 0;
}

/* How long the gap at `at` is that parts cells; 0: it is within a cell. One
 * blank is where `one` says so. */
static size_t gap_length(const char *line, size_t length, size_t at, bool one)
{
    size_t start = at, step;
    bool parts = one;

    while (at < length) {
        step = rule_length(line, length, at);
        if (step == 0 && !metric_is_blank(line[at]))
            break;
        parts = parts || step > 0 || line[at] == '\t' || at > start;
        at += step > 0 ? step : 1;
    }
    return parts || at == length ? at - start : 0;
}

/* The cells of a line; their number, 0 where there are too many. */
static size_t split(const char *line, size_t length, bool one,
                    struct metric_cell cells[METRIC_COLUMNS_MAX])
{
    size_t at = gap_length(line, length, 0, true), count = 0;

    while (at < length) {
        size_t start = at, gap = 0;

        if (count == METRIC_COLUMNS_MAX)
            return 0;
        while (at < length && (gap = gap_length(line, length, at, one)) == 0)
            at++;
        cells[count++] = (struct metric_cell){start, at};
        at += gap;
    }
    return count;
}

static bool is_number(const char *line, const struct metric_cell *cell)
{
    double value;

    return metric_is_number(line + cell->start, line + cell->end, &value);
}

/* Epoch, iteration ...; E and # are spaCy's. */
static int rank_of(const struct metric_resource *resource, const char *name,
                   size_t length)
{
    if (length == 1 && *name == 'E')
        return metric_step_rank(resource, "epoch", 5);
    if (length == 1 && *name == '#')
        return metric_step_rank(resource, "step", 4);
    return metric_step_rank(resource, name, length);
}

static void find_columns(struct metric_table *table,
                         const struct metric_resource *resource,
                         const char *line, metric_rule_fn rule_of,
                         const void *user)
{
    int best = STEP_NONE;

    table->step = table->count;
    for (size_t i = 0; i < table->count; i++) {
        const char *name = line + table->columns[i].start;
        size_t length = table->columns[i].end - table->columns[i].start;
        int rank = rank_of(resource, name, length);

        table->rules[i] = rule_of(user, name, length);
        if (rank < best) {
            best = rank;
            table->step = i;
        }
    }
}

static bool is_asked_for(const struct metric_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rules[i] != SIZE_MAX)
            return true;
    return false;
}

/* With one blank between its columns a line is a sentence, unless it names the
 * step. */
bool metric_table_begin(struct metric_table *table,
                        const struct metric_resource *resource,
                        const char *line, size_t length, metric_rule_fn rule_of,
                        const void *user)
{
    struct metric_table found;
    bool one = false;

    found.count = split(line, length, false, found.columns);
    if (found.count == 1) {
        one = true;
        found.count = split(line, length, true, found.columns);
    }
    if (found.count < 2)
        return false;
    for (size_t i = 0; i < found.count; i++)
        if (is_number(line, &found.columns[i]))
            return false;
    find_columns(&found, resource, line, rule_of, user);
    if (!is_asked_for(&found) || (one && found.step == found.count))
        return false;
    *table = found;
    return true;
}

static size_t distance(const struct metric_cell *a, const struct metric_cell *b)
{
    if (a->end <= b->start)
        return b->start - a->end + 1;
    return b->end <= a->start ? a->start - b->end + 1 : 0;
}

/* A row with fewer cells than columns: each belongs to the nearest one. */
static void place_cells(const struct metric_table *table,
                        const struct metric_cell *found, size_t count,
                        struct metric_cell *cells)
{
    for (size_t i = 0; i < count; i++) {
        size_t nearest = 0;

        for (size_t j = 1; j < table->count; j++)
            if (distance(&found[i], &table->columns[j]) <
                distance(&found[i], &table->columns[nearest]))
                nearest = j;
        cells[nearest] = found[i];
    }
}

bool metric_table_row(const struct metric_table *table, const char *line,
                      size_t length,
                      struct metric_cell cells[METRIC_COLUMNS_MAX])
{
    struct metric_cell found[METRIC_COLUMNS_MAX];
    size_t count, first = table->step < table->count ? table->step : 0;

    if (table->count == 0)
        return false;
    count = split(line, length, true, found);
    if (count < 2 || count > table->count)
        return false;
    memset(cells, 0, METRIC_COLUMNS_MAX * sizeof(*cells));
    if (count == table->count)
        memcpy(cells, found, count * sizeof(*found));
    else
        place_cells(table, found, count, cells);
    return is_number(line, &cells[first]);
}
