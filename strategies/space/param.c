/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "strategies/space/space.h"

/*
 * One parameter and the unit interval.
 *
 * A finite parameter's n values share the interval in their order. On a linear
 * scale, and where there is no scale, each share is 1/n. On another scale f,
 * value v has the share from f(v - step/2) to f(v + step/2), so that an int
 * is the continuous value rounded, and the ends are not half as likely as
 * the others. Where half a step beyond an end leaves the scale's domain (int
 * from 1 in steps of 2 on a log scale), the end's share is as wide on its far
 * side as on its near side. u = 0 and u = 1 give the ends exactly.
 */

const char *const param_kind_names[] = {
    "float", "int", "categorical", "ordinal", "bool", "const", NULL};
const char *const param_scale_names[] = {"linear", "log", "reverse_log",
                                         "logit", NULL};

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double scale_forward(enum param_scale scale, double x)
{
    switch (scale) {
    case SCALE_LOG:
        return log(x);
    case SCALE_REVERSE_LOG:
        return -log1p(-x);
    case SCALE_LOGIT:
        return log(x) - log1p(-x);
    case SCALE_LINEAR:
    default:
        return x;
    }
}

static double scale_inverse(enum param_scale scale, double y)
{
    switch (scale) {
    case SCALE_LOG:
        return exp(y);
    case SCALE_REVERSE_LOG:
        return -expm1(-y);
    case SCALE_LOGIT:
        return 1 / (1 + exp(-y));
    case SCALE_LINEAR:
    default:
        return y;
    }
}

static bool in_domain(enum param_scale scale, double x)
{
    bool positive = x > 0 || (scale != SCALE_LOG && scale != SCALE_LOGIT);
    bool below_one =
        x < 1 || (scale != SCALE_REVERSE_LOG && scale != SCALE_LOGIT);

    return positive && below_one;
}

/* The distance of two neighbours; 0: a continuum. */
static double spacing(const struct param *param)
{
    return param->kind == PARAM_INT && param->step == 0 ? 1 : param->step;
}

/* f beyond an end by half a step; `half` is negative for the lower end. */
static double share_end(const struct param *param, double end, double half)
{
    enum param_scale scale = param->scale;

    if (in_domain(scale, end + half))
        return scale_forward(scale, end + half);
    return 2 * scale_forward(scale, end) - scale_forward(scale, end - half);
}

/* The scale's interval that is the parameter's unit interval. */
static void scale_range(const struct param *param, double *low, double *high)
{
    double half = spacing(param) / 2;

    *low = share_end(param, param->min, -half);
    *high = share_end(param, param->max, half);
}

/* x without the digits that adding up 0.1 and the like has put behind the
 * fifteenth of the parameter's largest value. */
static double clean(const struct param *param, double x)
{
    double largest = fmax(fabs(param->min), fabs(param->max));
    int digits;
    char text[40];

    if (x == 0)
        return 0;
    digits = 14 - (int)(floor(log10(largest)) - floor(log10(fabs(x))));
    if (digits < 0)
        return 0;
    snprintf(text, sizeof(text), "%.*e", digits, x);
    return clamp(strtod(text, NULL), param->min, param->max);
}

static struct value stepped_value(const struct param *param, uint64_t k)
{
    double x = param->min + (double)k * spacing(param);

    if (param->kind == PARAM_INT)
        return value_int((int64_t)x);
    if (k == 0)
        return value_real(param->min);
    if (k + 1 >= param_cardinality(param))
        return value_real(param->max);
    return value_real(clean(param, x));
}

uint64_t param_cardinality(const struct param *param)
{
    switch (param->kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        if (spacing(param) == 0)
            return 0;
        return (uint64_t)round((param->max - param->min) / spacing(param)) + 1;
    case PARAM_CATEGORICAL:
    case PARAM_ORDINAL:
        return param->value_count;
    case PARAM_BOOL:
        return 2;
    case PARAM_CONST:
    default:
        return 1;
    }
}

struct value param_value_at(const struct param *param, uint64_t k)
{
    switch (param->kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        return stepped_value(param, k);
    case PARAM_BOOL:
        return value_bool(k != 0);
    case PARAM_CATEGORICAL:
    case PARAM_ORDINAL:
    case PARAM_CONST:
    default:
        return param->values[k];
    }
}

static double continuum_from_unit(const struct param *param, double u)
{
    double low, high, x;

    if (u <= 0)
        return param->min;
    if (u >= 1)
        return param->max;
    scale_range(param, &low, &high);
    x = scale_inverse(param->scale, low + u * (high - low));
    return clamp(x, param->min, param->max);
}

/* Which of the n values has u in its share. */
static uint64_t index_from_unit(const struct param *param, double u, uint64_t n)
{
    double low, high, k;

    if (u <= 0 || n == 1)
        return 0;
    if (u >= 1)
        return n - 1;
    if (param->scale == SCALE_LINEAR) {
        k = floor(u * (double)n);
    } else {
        scale_range(param, &low, &high);
        k = scale_inverse(param->scale, low + u * (high - low));
        k = floor((k - param->min) / spacing(param) + 0.5);
    }
    return (uint64_t)clamp(k, 0, (double)(n - 1));
}

struct value param_from_unit(const struct param *param, double u)
{
    uint64_t n = param_cardinality(param);

    if (!(u > 0)) /* not a number is 0, too */
        u = 0;
    if (n == 0)
        return value_real(continuum_from_unit(param, u));
    return param_value_at(param, index_from_unit(param, u, n));
}

void param_share(const struct param *param, double u, double *low, double *high)
{
    uint64_t n = param_cardinality(param), k;
    double from, to, half = spacing(param) / 2, x;

    *low = *high = u;
    if (n == 0)
        return;
    k = index_from_unit(param, u, n);
    *low = (double)k / (double)n;
    *high = (double)(k + 1) / (double)n;
    if (param->scale == SCALE_LINEAR)
        return;
    scale_range(param, &from, &to);
    x = param->min + (double)k * spacing(param);
    if (k > 0)
        *low = clamp((share_end(param, x, -half) - from) / (to - from), 0, 1);
    if (k + 1 < n)
        *high = clamp((share_end(param, x, half) - from) / (to - from), 0, 1);
}

/* Which of its values it is. */
static uint64_t index_of(const struct param *param, const struct value *value)
{
    uint64_t k;

    if (param->kind == PARAM_BOOL)
        return value->boolean ? 1 : 0;
    if (param->kind == PARAM_FLOAT || param->kind == PARAM_INT)
        return (uint64_t)round((value_number(value) - param->min) /
                               spacing(param));
    k = param->value_count - 1;
    while (k > 0 && !value_equal(&param->values[k], value))
        k--;
    return k;
}

double param_to_unit(const struct param *param, const struct value *value)
{
    uint64_t n = param_cardinality(param);
    double low, high, half, x;

    if (n > 0 && param->scale == SCALE_LINEAR)
        return ((double)index_of(param, value) + 0.5) / (double)n;
    scale_range(param, &low, &high);
    x = value_number(value);
    if (n == 0)
        return clamp((scale_forward(param->scale, x) - low) / (high - low), 0,
                     1);
    half = spacing(param) / 2;
    x = share_end(param, x, -half) / 2 + share_end(param, x, half) / 2;
    return clamp((x - low) / (high - low), 0, 1);
}

static bool read_number(const struct value *from, double *number)
{
    char *end;

    if (from->type == VALUE_INT || from->type == VALUE_REAL)
        *number = value_number(from);
    else if (from->type == VALUE_TEXT && from->text[0] != '\0') {
        *number = strtod(from->text, &end);
        if (*end != '\0')
            return false;
    } else
        return false;
    return isfinite(*number);
}

static int coerce_number(const struct param *param, const struct value *from,
                         struct value *to)
{
    double x, k;

    if (!read_number(from, &x) || x < param->min || x > param->max)
        return -1;
    if (spacing(param) == 0) {
        *to = value_real(x);
        return 0;
    }
    k = round((x - param->min) / spacing(param));
    *to = stepped_value(param, (uint64_t)k);
    /* decimals may have been rounded on their way, whole numbers not */
    if (param->kind == PARAM_INT)
        return value_number(to) == x ? 0 : -1;
    return fabs(to->real - x) <= 1e-6 * param->step ? 0 : -1;
}

static int coerce_bool(const struct value *from, struct value *to)
{
    if (from->type == VALUE_BOOL)
        *to = *from;
    else if (from->type == VALUE_INT &&
             (from->integer == 0 || from->integer == 1))
        *to = value_bool(from->integer == 1);
    else if (from->type == VALUE_TEXT && strcmp(from->text, "true") == 0)
        *to = value_bool(true);
    else if (from->type == VALUE_TEXT && strcmp(from->text, "false") == 0)
        *to = value_bool(false);
    else
        return -1;
    return 0;
}

/* Values differ in their texts, so the text says which one is meant. */
static int coerce_listed(const struct param *param, const struct value *from,
                         struct value *to)
{
    struct buf wanted = BUF_INIT, text = BUF_INIT;
    int result = -1;

    value_print(from, &wanted);
    for (size_t i = 0; i < param->value_count && result < 0; i++) {
        buf_truncate(&text, 0);
        value_print(&param->values[i], &text);
        if (strcmp(buf_text(&text), buf_text(&wanted)) == 0) {
            *to = param->values[i];
            result = 0;
        }
    }
    buf_clear(&wanted);
    buf_clear(&text);
    return result;
}

int param_coerce(const struct param *param, const struct value *from,
                 struct value *to)
{
    if (from->type == VALUE_NULL)
        return -1;
    switch (param->kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        return coerce_number(param, from, to);
    case PARAM_BOOL:
        return coerce_bool(from, to);
    case PARAM_CATEGORICAL:
    case PARAM_ORDINAL:
    case PARAM_CONST:
    default:
        return coerce_listed(param, from, to);
    }
}
