/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/block.h"

#include <string.h>

#include "base/metrics/name.h"
#include "base/metrics/number.h"

enum { FENCE_MIN_LENGTH = 8 };

/* The cells of "| name | number |". */
struct row {
    const char *name, *value;
    size_t name_length, value_length;
};

static bool is_fence(const char *line, size_t length)
{
    while (length > 0 && metric_is_blank(line[length - 1]))
        length--;
    if (length < FENCE_MIN_LENGTH || (*line != '-' && *line != '+'))
        return false;
    for (size_t i = 0; i < length; i++)
        if (line[i] != '-' && line[i] != '+')
            return false;
    return true;
}

/* The cell that starts at `at`, without blanks; behind its '|', or NULL. */
static const char *read_cell(const char *at, const char *end, const char **cell,
                             size_t *length)
{
    const char *bar = memchr(at, '|', (size_t)(end - at)), *last = bar;

    if (bar == NULL)
        return NULL;
    *cell = metric_skip_blanks(at, bar);
    while (last > *cell && metric_is_blank(last[-1]))
        last--;
    *length = (size_t)(last - *cell);
    return bar + 1;
}

/* False: the line is no row of two cells. */
static bool read_row(const char *line, size_t length, struct row *row)
{
    const char *end = line + length, *at = metric_skip_blanks(line, end);

    if (at == end || *at != '|')
        return false;
    at = read_cell(at + 1, end, &row->name, &row->name_length);
    if (at != NULL)
        at = read_cell(at, end, &row->value, &row->value_length);
    return at != NULL && metric_skip_blanks(at, end) == end;
}

static bool row_number(const struct row *row, double *value)
{
    return metric_is_number(row->value, row->value + row->value_length, value);
}

static void follow_row(struct metric_block *block,
                       const struct metric_resource *resource,
                       const struct row *row)
{
    double value;

    if (row->value_length == 0 && row->name_length > 0 &&
        row->name[row->name_length - 1] == '/' &&
        row->name_length < sizeof(block->section)) {
        memcpy(block->section, row->name, row->name_length);
        block->section_length = row->name_length;
        return;
    }
    if (resource->core[0] == '\0' || !row_number(row, &value) ||
        !metric_is_step(value) ||
        metric_step_rank(resource, row->name, row->name_length) > STEP_TOTAL)
        return;
    block->has_step = true;
    block->step = value;
}

enum metric_block_line metric_block_follow(
    struct metric_block *block, const struct metric_resource *resource,
    const char *line, size_t length)
{
    const char *start = metric_skip_blanks(line, line + length);
    struct row row;

    if (is_fence(line, length)) {
        *block = (struct metric_block){.is_open = true};
        return BLOCK_FENCE;
    }
    if (!block->is_open || start == line + length || *start != '|') {
        block->is_open = false;
        return BLOCK_OTHER;
    }
    if (read_row(line, length, &row))
        follow_row(block, resource, &row);
    return BLOCK_ROW;
}

const char *metric_block_find(const struct metric_block *block,
                              const char *line, size_t length, const char *name,
                              double *value)
{
    struct row row;

    if (block->section_length == 0 || !read_row(line, length, &row) ||
        strlen(name) != block->section_length + row.name_length ||
        !metric_names_match(block->section, name, block->section_length) ||
        !metric_names_match(row.name, name + block->section_length,
                            row.name_length) ||
        !row_number(&row, value))
        return NULL;
    return row.name;
}
