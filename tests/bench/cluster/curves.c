/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/cluster/curves.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/rng.h"

enum { MAX_BYTES = 1 << 24, HELD_OUT = 2000, STREAM_ROWS = 222 };

static const struct value optimizers[] = {
    {.type = VALUE_TEXT, .text = "sgd"},
    {.type = VALUE_TEXT, .text = "adam"},
};
static const struct value batches[] = {
    {.type = VALUE_INT, .integer = 32},
    {.type = VALUE_INT, .integer = 64},
    {.type = VALUE_INT, .integer = 128},
    {.type = VALUE_INT, .integer = 256},
};

/* As the columns of the table, and as curves.py draws them. */
static const struct param params[CURVE_PARAMETERS] = {
    {.name = "lr", .scale = SCALE_LOG, .min = 1e-4, .max = 1},
    {.name = "optimizer",
     .kind = PARAM_CATEGORICAL,
     .values = optimizers,
     .value_count = ARRAY_LEN(optimizers)},
    {.name = "momentum", .max = 0.99},
    {.name = "width",
     .kind = PARAM_INT,
     .scale = SCALE_LOG,
     .min = 8,
     .max = 128},
    {.name = "depth", .kind = PARAM_INT, .min = 1, .max = 3},
    {.name = "batch",
     .kind = PARAM_ORDINAL,
     .values = batches,
     .value_count = ARRAY_LEN(batches)},
    {.name = "dropout", .max = 0.6},
    {.name = "weight_decay", .scale = SCALE_LOG, .min = 1e-6, .max = 1e-1},
};
enum { OPTIMIZER = 1, MOMENTUM = 2 };

static int make_space(struct curves *curves, struct err *err)
{
    curves->env = expr_env_create(err);
    if (curves->env == NULL)
        return -1;
    curves->space = space_create(curves->env);
    for (size_t i = 0; i < CURVE_PARAMETERS; i++)
        if (space_add_param(curves->space, &params[i], err) != 0)
            return -1;
    return space_set_when(curves->space, MOMENTUM, "optimizer = 'sgd'", err);
}

/* The unit coordinates of a point. */
static void locate(const struct value *point, double *unit)
{
    for (size_t i = 0; i < CURVE_PARAMETERS; i++)
        unit[i] = point[i].type != VALUE_NULL
                      ? param_to_unit(&params[i], &point[i])
                      : -1;
}

static int read_setting(const struct param *param, const char *field,
                        struct value *value)
{
    const struct value text = value_text(field);
    char *end;

    *value = value_null();
    if (*field == '\0')
        return 0;
    if (param->kind == PARAM_CATEGORICAL)
        return param_coerce(param, &text, value);
    *value = value_real(strtod(field, &end));
    return *end == '\0' ? param_coerce(param, value, value) : -1;
}

static int read_row(char *line, struct curve *row)
{
    struct value point[CURVE_PARAMETERS];
    const char *field;
    char *end;

    for (size_t i = 0; i < CURVE_PARAMETERS; i++) {
        field = strsep(&line, ",");
        if (field == NULL || read_setting(&params[i], field, &point[i]) != 0)
            return -1;
    }
    locate(point, row->unit);
    field = strsep(&line, ",");
    if (field == NULL || (row->epoch_s = strtod(field, NULL) / 1000) <= 0)
        return -1;
    for (field = strsep(&line, ",");
         field != NULL && *field != '\0' && row->epochs < CURVE_EPOCHS;
         field = strsep(&line, ","), row->epochs++) {
        row->errors[row->epochs] = (double)strtoul(field, &end, 10) / HELD_OUT;
        if (*end != '\0')
            return -1;
    }
    return 0;
}

static void add_row(struct curves *curves, size_t *capacity,
                    const struct curve *row)
{
    curves->rows =
        mem_grow(curves->rows, curves->count, capacity, sizeof(*curves->rows));
    curves->rows[curves->count++] = *row;
    curves->epoch_s += row->epoch_s;
    for (size_t i = 0; i < row->epochs; i++)
        curves->best = fmin(curves->best, row->errors[i]);
}

static int read_rows(struct curves *curves, char *text, struct err *err)
{
    size_t capacity = 0;
    bool has_names = false;
    int number = 1;
    char *line;

    curves->best = INFINITY;
    for (; (line = strsep(&text, "\n")) != NULL; number++) {
        struct curve row = {.epochs = 0};

        if (*line == '#' || *line == '\0')
            continue;
        if (has_names && read_row(line, &row) != 0)
            return err_set(err, ERR_FILE, "line %d is no curve", number);
        if (has_names)
            add_row(curves, &capacity, &row);
        has_names = true;
    }
    if (isinf(curves->best))
        return err_set(err, ERR_FILE, "there is no curve");
    curves->epoch_s /= (double)curves->count;
    return 0;
}

struct curves *curves_load(const char *path, struct err *err)
{
    struct curves *curves = mem_zero(sizeof(*curves));
    struct buf text = BUF_INIT;
    char *lines = NULL;
    int status = make_space(curves, err);

    if (status == 0)
        status = fs_read(path, MAX_BYTES, &text, err);
    if (status == 0) {
        lines = buf_take(&text);
        status = read_rows(curves, lines, err);
        if (status != 0)
            err_prefix(err, "%s", path);
    }
    free(lines);
    buf_clear(&text);
    if (status == 0)
        return curves;
    curves_destroy(curves);
    return NULL;
}

void curves_destroy(struct curves *curves)
{
    if (curves == NULL)
        return;
    if (curves->env != NULL)
        space_destroy(curves->space);
    expr_env_destroy(curves->env);
    free(curves->rows);
    free(curves);
}

struct curves *curves_draw(const struct curves *all, double share,
                           uint64_t seed)
{
    struct curves *drawn = mem_zero(sizeof(*drawn));
    size_t capacity = 0;
    struct rng rng;

    rng_init(&rng, seed, 0, STREAM_ROWS);
    drawn->space = all->space;
    drawn->best = INFINITY;
    for (size_t i = 0; i < all->count; i++)
        if (rng_uniform(&rng) < share)
            add_row(drawn, &capacity, &all->rows[i]);
    drawn->epoch_s /= (double)drawn->count;
    return drawn;
}

static double square(double x)
{
    return x * x;
}

const struct curve *curves_nearest(const struct curves *curves,
                                   const struct value *point)
{
    double unit[CURVE_PARAMETERS], least = INFINITY;
    const struct curve *nearest = NULL;

    locate(point, unit);
    for (size_t i = 0; i < curves->count; i++) {
        const struct curve *row = &curves->rows[i];
        double distance = 0;

        if (fabs(row->unit[OPTIMIZER] - unit[OPTIMIZER]) > 0)
            continue;
        for (size_t j = 0; j < CURVE_PARAMETERS; j++)
            distance += square(row->unit[j] - unit[j]);
        if (distance < least) {
            least = distance;
            nearest = row;
        }
    }
    return nearest;
}
