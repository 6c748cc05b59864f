/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/model.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/gp/fit.h"

enum {
    ROWS_MAX = 400,   /* taken at a fit */
    ROWS_SPARE = 100, /* added until the next */
    FIT_MAX = 160,    /* rows that hyperparameters are fitted to */
    EACH_UNTIL = 24   /* results: fitted at each */
};

struct model {
    const struct linalg *linalg;
    const struct gp_shape *shape;
    enum model_kind kind;
    struct gp *gp, *doubting;
    struct gp_hyper hyper;
    struct warp warp, earlier_warp; /* the latter to be stretched by alone */
    double scale;                   /* of outcomes */

    double *columns;            /* [count][column_count] */
    double *values;             /* [count] */
    enum model_source *sources; /* [count] */
    size_t earlier;             /* of these */
    double *targets; /* [row_count]: values as they are told to the process */
    size_t pending_max;
    size_t count, columns_capacity, values_capacity, sources_capacity;

    size_t fitted_at; /* a number of results; 0: never */
    size_t seen;      /* results that were considered for rows */
    size_t *rows;     /* [row_count] */
    size_t row_count;
};

struct model *model_create(const struct linalg *linalg,
                           const struct gp_shape *shape, enum model_kind kind,
                           size_t pending_max)
{
    struct model *model = mem_zero(sizeof(*model));

    model->linalg = linalg;
    model->shape = shape;
    model->kind = kind;
    model->hyper.log_lengths = mem_array(shape->parameter_count + 1,
                                         sizeof(*model->hyper.log_lengths));
    model->pending_max = pending_max;
    model->rows = mem_array(ROWS_MAX + ROWS_SPARE, sizeof(*model->rows));
    model->targets = mem_array(ROWS_MAX + ROWS_SPARE, sizeof(*model->targets));
    model->gp = gp_create(linalg, shape, ROWS_MAX + ROWS_SPARE + pending_max);
    if (model->gp != NULL)
        return model;
    model_destroy(model);
    return NULL;
}

void model_destroy(struct model *model)
{
    if (model == NULL)
        return;
    gp_destroy(model->gp);
    gp_destroy(model->doubting);
    free(model->hyper.log_lengths);
    free(model->columns);
    free(model->values);
    free(model->sources);
    free(model->rows);
    free(model->targets);
    free(model);
}

void model_add(struct model *model, const double *columns, double value,
               enum model_source source)
{
    size_t width = model->shape->column_count, n = model->count;

    model->columns = mem_grow(model->columns, n, &model->columns_capacity,
                              (width + 1) * sizeof(*columns));
    model->values = mem_grow(model->values, n, &model->values_capacity,
                             sizeof(*model->values));
    model->sources = mem_grow(model->sources, n, &model->sources_capacity,
                              sizeof(*model->sources));
    memcpy(model->columns + n * width, columns, width * sizeof(*columns));
    model->values[n] = value;
    model->sources[n] = source;
    model->earlier += source == MODEL_EARLIER;
    model->count++;
}

size_t model_count(const struct model *model)
{
    return model->count - model->earlier;
}

struct gp *model_gp(struct model *model)
{
    return model->gp;
}

size_t model_row_count(const struct model *model)
{
    return model->row_count;
}

size_t model_result_of(const struct model *model, size_t row)
{
    return model->rows[row] < model->earlier
               ? SIZE_MAX
               : model->rows[row] - model->earlier;
}

const struct gp_hyper *model_hyper(const struct model *model)
{
    return &model->hyper;
}

const struct warp *model_warp(const struct model *model)
{
    return &model->warp;
}

/* The largest number of results up to n at which there is a fit. */
static size_t scheduled(size_t n)
{
    size_t at = EACH_UNTIL;

    if (n <= at)
        return n;
    while (at + at / EACH_UNTIL <= n)
        at += at / EACH_UNTIL;
    return at;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    if (n == 0)
        return 0;
    qsort(values, n, sizeof(*values), compare);
    return values[(n - 1) / 2];
}

static double find_scale(const double *values, size_t n)
{
    double *sizes = mem_array(n, sizeof(*sizes));
    double scale;

    for (size_t i = 0; i < n; i++)
        sizes[i] = fabs(values[i]);
    scale = median(sizes, n);
    free(sizes);
    return scale > 0 ? scale : 1;
}

/* The values of one source among the first n results, to out[]; how many. */
static size_t copy_source(const struct model *model, size_t n,
                          enum model_source source, double *out)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (model->sources[i] == source)
            out[count++] = model->values[i];
    return count;
}

/* Places the warps by the first n results; the median of those that are known
 * in full. */
static double locate(struct model *model, size_t n)
{
    double *values = mem_array(n, sizeof(*values)), middle;
    size_t count = copy_source(model, n, MODEL_EARLIER, values);

    if (count > 0)
        warp_locate(&model->earlier_warp, values, count);
    count = copy_source(model, n, MODEL_RESULT, values);
    if (count == 0)
        count = copy_source(model, n, MODEL_BOUND, values);
    warp_locate(&model->warp, values, count);
    middle = median(values, count);
    free(values);
    return middle;
}

/* The first n results' values, stretched; the caller's. */
static double *stretch_values(struct model *model, size_t n)
{
    double *values = mem_array(n, sizeof(*values)), middle;

    if (model->kind == MODEL_OUTCOME) {
        for (size_t i = 0; i < n; i++)
            values[i] = asinh(model->values[i] / model->scale);
        return values;
    }
    middle = locate(model, n);
    for (size_t i = 0; i < n; i++) {
        double value = model->values[i];

        if (model->sources[i] == MODEL_BOUND)
            value = fmax(value, middle);
        values[i] = warp_stretch(model->sources[i] == MODEL_EARLIER
                                     ? &model->earlier_warp
                                     : &model->warp,
                                 value);
    }
    return values;
}

/* How far each of the first n results is from the best of them. */
static double *find_distances(const struct model *model, const double *values,
                              size_t n)
{
    size_t width = model->shape->column_count, best = 0;
    double *distances = mem_array(n, sizeof(*distances));

    for (size_t i = 1; i < n; i++)
        if (values[i] < values[best])
            best = i;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++) {
            double step = model->columns[i * width + c] -
                          model->columns[best * width + c];

            distances[i] += model->shape->columns[c].is_choice
                                ? fabs(step) > 0.25
                                : step * step;
        }
    return distances;
}

/* Takes those of the `wanted` smallest keys that are not taken yet. */
static void take_least(const double *keys, size_t n, size_t wanted, bool *taken)
{
    double *sorted = mem_array(n, sizeof(*sorted)), bar;
    size_t count = 0;

    memcpy(sorted, keys, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare);
    bar = sorted[wanted - 1];
    for (size_t i = 0; i < n && count < wanted; i++)
        if (keys[i] <= bar) {
            taken[i] = true;
            count++;
        }
    free(sorted);
}

/* Fills up to `wanted` with the others, evenly. */
static void take_evenly(size_t n, size_t wanted, bool *taken)
{
    size_t have = 0, others = 0;

    for (size_t i = 0; i < n; i++)
        have += taken[i];
    for (size_t i = 0, rest = n - have; i < n; i++) {
        if (taken[i])
            continue;
        taken[i] = others * (wanted - have) / rest !=
                   (others + 1) * (wanted - have) / rest;
        others++;
    }
}

/* Some of the first n results, in their order: those that are good, those near
 * the best, and for the rest evenly from all times. */
static size_t choose_rows(const struct model *model, const double *values,
                          size_t n, size_t room, size_t *rows)
{
    bool *taken = mem_array(n, sizeof(*taken));
    size_t count = 0;
    double *distances;

    if (n > room) {
        distances = find_distances(model, values, n);
        take_least(values, n, room / 4, taken);
        take_least(distances, n, room / 2, taken);
        take_evenly(n, room, taken);
        free(distances);
    }
    for (size_t i = 0; i < n; i++)
        if (n <= room || taken[i])
            rows[count++] = i;
    free(taken);
    return count;
}

static void copy_row(const struct model *model, size_t index, double *to)
{
    size_t width = model->shape->column_count;

    memcpy(to, model->columns + index * width, width * sizeof(*to));
}

static void fit(struct model *model, const double *values, size_t n)
{
    size_t width = model->shape->column_count;
    size_t *rows = mem_array(FIT_MAX, sizeof(*rows));
    size_t count = choose_rows(model, values, n, FIT_MAX, rows);
    double *cells = mem_array(count * (width + 1), sizeof(*cells));
    double *targets = cells + count * width;
    struct gp_data data = {.shape = model->shape,
                           .count = count,
                           .rows = cells,
                           .values = targets};

    for (size_t i = 0; i < count; i++) {
        copy_row(model, rows[i], cells + i * width);
        targets[i] = values[rows[i]];
    }
    gp_fit(model->linalg, &data, &model->hyper,
           model->kind == MODEL_OBJECTIVE ? &model->warp : NULL);
    free(cells);
    free(rows);
}

static double *copy_rows(const struct model *model)
{
    size_t width = model->shape->column_count;
    double *cells = mem_array(model->row_count * width + 1, sizeof(*cells));

    for (size_t i = 0; i < model->row_count; i++)
        copy_row(model, model->rows[i], cells + i * width);
    return cells;
}

static void refit(struct model *model, size_t n)
{
    double *values, *cells;

    if (model->kind == MODEL_OUTCOME)
        model->scale = find_scale(model->values, n);
    values = stretch_values(model, n);
    fit(model, values, n);
    gp_reset(model->gp, &model->hyper);
    model->row_count = choose_rows(model, values, n, ROWS_MAX, model->rows);
    cells = copy_rows(model);
    gp_load(model->gp, cells, model->row_count);
    model->fitted_at = model->seen = n;
    free(cells);
    free(values);
}

void model_update(struct model *model)
{
    size_t due = scheduled(model_count(model)) + model->earlier;
    double *values;

    if (model->fitted_at != due)
        refit(model, due);
    gp_truncate(model->gp, model->row_count);
    for (; model->seen < model->count; model->seen++) {
        if (model->row_count == ROWS_MAX + ROWS_SPARE)
            continue;
        gp_append(model->gp,
                  model->columns + model->seen * model->shape->column_count);
        model->rows[model->row_count++] = model->seen;
    }
    values = stretch_values(model, model->count);
    for (size_t i = 0; i < model->row_count; i++) {
        double value = values[model->rows[i]];

        model->targets[i] = model->kind == MODEL_OBJECTIVE
                                ? warp_bend(&model->warp, value)
                                : value;
    }
    gp_set_values(model->gp, model->targets, model->row_count);
    free(values);
}

double model_progress(const struct model *model, size_t last)
{
    double before = (double)INFINITY;

    for (size_t i = 0; i + last < model->count; i++)
        if (model->sources[i] == MODEL_RESULT)
            before = fmin(before, model->values[i]);
    return isfinite(before) ? warp_stretch(&model->warp, before)
                            : (double)INFINITY;
}

struct gp *model_doubting_gp(struct model *model, double shrink)
{
    size_t parameters = model->shape->parameter_count;
    struct gp_hyper hyper = model->hyper;
    double *cells;

    if (model->doubting == NULL)
        model->doubting = gp_create(model->linalg, model->shape,
                                    ROWS_MAX + ROWS_SPARE + model->pending_max);
    if (model->doubting == NULL)
        return NULL;
    hyper.log_lengths = mem_array(parameters, sizeof(*hyper.log_lengths));
    for (size_t k = 0; k < parameters; k++)
        hyper.log_lengths[k] = model->hyper.log_lengths[k] + log(shrink);
    gp_reset(model->doubting, &hyper);
    free(hyper.log_lengths);
    cells = copy_rows(model);
    gp_load(model->doubting, cells, model->row_count);
    gp_set_values(model->doubting, model->targets, model->row_count);
    free(cells);
    return model->doubting;
}
