/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/bench/regret/problem.h"

/*
 * Real trainings, done once by make_tables.py over a grid of settings. Axes of
 * numbers are interpolated linearly on their scale; a point fails where one of
 * the trainings around it did. An instance is the table as it is: seeds differ
 * in the methods' luck alone.
 */

enum { AXES_MAX = 8, AXIS_VALUES_MAX = 16, CELLS_MAX = 20000 };

/* The assembler copies the files in; their paths are relative to the top of
 * the sources, where compilers are started. */
#define EMBED(name)                                                            \
    extern const char table_##name[];                                          \
    __asm__(".pushsection .rodata\n"                                           \
            "table_" #name ":\n"                                               \
            ".incbin \"tests/bench/regret/tables/" #name ".txt\"\n"            \
            ".byte 0\n"                                                        \
            ".popsection\n")

EMBED(fashion);
EMBED(digits);
EMBED(cancer);
EMBED(diabetes);

struct axis {
    char name[32];
    char kind[16];
    char words[AXIS_VALUES_MAX][32];
    size_t count;
};

struct table {
    struct axis axes[AXES_MAX];
    size_t axis_count;
    size_t cell_count;
    double cells[CELLS_MAX]; /* the last axis fastest */
};

/* The next word of at most size - 1 bytes on this line; false at its end. */
static bool next_word(const char **text, char *word, size_t size)
{
    size_t length = 0;

    while (**text == ' ')
        (*text)++;
    for (; **text != '\0' && **text != ' ' && **text != '\n'; (*text)++)
        if (length + 1 < size)
            word[length++] = **text;
    word[length] = '\0';
    return length > 0;
}

static void read_axis(struct axis *axis, const char *line)
{
    next_word(&line, axis->name, sizeof(axis->name));
    next_word(&line, axis->kind, sizeof(axis->kind));
    while (axis->count < AXIS_VALUES_MAX &&
           next_word(&line, axis->words[axis->count], sizeof(axis->words[0])))
        axis->count++;
}

static struct table *read_table(const char *text)
{
    struct table *table = mem_zero(sizeof(*table));

    for (; strncmp(text, "axis ", 5) == 0; text = strchr(text, '\n') + 1)
        if (table->axis_count < AXES_MAX)
            read_axis(&table->axes[table->axis_count++], text + 5);
    text = strchr(text, '\n');
    while (table->cell_count < CELLS_MAX) {
        char *end;
        double cell = strtod(text, &end);

        if (end == text)
            break;
        table->cells[table->cell_count++] = cell;
        text = end;
    }
    return table;
}

static bool is_interpolated(const struct axis *axis)
{
    return strcmp(axis->kind, "log") == 0 || strcmp(axis->kind, "linear") == 0;
}

static int add_axis(struct space *space, const struct axis *axis,
                    struct err *err)
{
    struct value values[AXIS_VALUES_MAX];
    struct param param = {.name = axis->name, .kind = PARAM_FLOAT};

    if (is_interpolated(axis)) {
        param.scale = axis->kind[1] == 'o' ? SCALE_LOG : SCALE_LINEAR;
        param.min = strtod(axis->words[0], NULL);
        param.max = strtod(axis->words[axis->count - 1], NULL);
        return space_add_param(space, &param, err);
    }
    for (size_t i = 0; i < axis->count; i++) {
        char *end;
        double number = strtod(axis->words[i], &end);

        values[i] =
            *end == '\0' ? value_real(number) : value_text(axis->words[i]);
    }
    param.kind =
        strcmp(axis->kind, "ordinal") == 0 ? PARAM_ORDINAL : PARAM_CATEGORICAL;
    param.values = values;
    param.value_count = axis->count;
    return space_add_param(space, &param, err);
}

static int build(struct instance *instance, struct err *err)
{
    struct table *table = read_table(instance->problem->data);
    size_t cells = 1;

    instance->state = table;
    for (size_t i = 0; i < table->axis_count; i++) {
        cells *= table->axes[i].count;
        if (add_axis(instance->space, &table->axes[i], err) < 0)
            return -1;
    }
    if (cells != table->cell_count)
        return err_set(err, ERR_FILE, "%s: %zu results in place of %zu",
                       instance->problem->name, table->cell_count, cells);
    return 0;
}

/* Categories must stay what they are in the table. */
static void place(struct instance *instance)
{
    const struct table *table = instance->state;

    for (size_t i = 0; i < table->axis_count; i++) {
        free(instance->shuffle[i]);
        instance->shuffle[i] = NULL;
    }
    instance->best = INFINITY;
    for (size_t i = 0; i < table->cell_count; i++)
        instance->best = fmin(instance->best, table->cells[i]);
}

/* Where x falls on the axis: a value of it, and the share of the next. */
static size_t locate(const struct axis *axis, double x, double *share)
{
    double low, high, at;
    size_t i = 0;

    *share = 0;
    if (!is_interpolated(axis))
        return (size_t)(x * (double)axis->count);
    low = strtod(axis->words[0], NULL);
    high = strtod(axis->words[axis->count - 1], NULL);
    at = axis->kind[1] == 'o' ? low * pow(high / low, x)
                              : low + x * (high - low);
    while (i + 2 < axis->count && strtod(axis->words[i + 1], NULL) <= at)
        i++;
    low = strtod(axis->words[i], NULL);
    high = strtod(axis->words[i + 1], NULL);
    *share = axis->kind[1] == 'o' ? log(at / low) / log(high / low)
                                  : (at - low) / (high - low);
    *share = fmin(fmax(*share, 0), 1);
    return i;
}

static double look_up(const struct instance *instance, const double *x,
                      double *outcomes)
{
    const struct table *table = instance->state;
    size_t index[AXES_MAX];
    double share[AXES_MAX];
    double sum = 0;

    (void)outcomes;
    for (size_t i = 0; i < table->axis_count; i++)
        index[i] = locate(&table->axes[i], x[i], &share[i]);
    for (size_t corner = 0; corner < (size_t)1 << table->axis_count; corner++) {
        double weight = 1;
        size_t cell = 0;

        for (size_t i = 0; i < table->axis_count; i++) {
            size_t next = corner >> i & 1;

            weight *= next ? share[i] : 1 - share[i];
            cell = cell * table->axes[i].count + index[i] + next;
        }
        if (weight > 0)
            sum += weight * table->cells[cell];
    }
    return sum;
}

#define TABLE(what, in_set)                                                    \
    {                                                                          \
        .name = "real-" #what, .kind = "real", .set = SET_##in_set,            \
        .data = table_##what, .build = build, .place = place,                  \
        .function = look_up                                                    \
    }

const struct problem table_problems[] = {
    TABLE(fashion, REPORT), TABLE(digits, REPORT), TABLE(cancer, REPORT),
    TABLE(diabetes, TUNE),  {.name = NULL},
};
