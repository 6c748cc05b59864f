/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "strategies/space/space.h"

/* Beyond these a double cannot tell neighbouring whole numbers apart. */
#define WHOLE_MAX 0x1p53
/* Steps and ranges finer than these shares of the largest value drown in the
 * rounding of the scales (and of adding up decimals). */
#define STEP_FINEST  1e-12
#define RANGE_FINEST 1e-9

struct shown {
    char text[32];
};

static struct shown show(double number)
{
    struct shown shown = {""};

    value_format_real(number, shown.text, sizeof(shown.text));
    return shown;
}

static int check_whole(const char *what, double number, struct err *err)
{
    if (number != floor(number))
        return err_set(err, ERR_FILE, "%s %s of an int is not a whole number",
                       what, show(number).text);
    if (fabs(number) > WHOLE_MAX)
        return err_set(err, ERR_FILE,
                       "%s %s of an int is beyond 9007199254740992 (2^53)",
                       what, show(number).text);
    return 0;
}

static int check_range(const struct param *param, struct err *err)
{
    if (!isfinite(param->min) || !isfinite(param->max))
        return err_set(
            err, ERR_FILE, "%s %s is not a finite number",
            isfinite(param->min) ? "max" : "min",
            show(isfinite(param->min) ? param->max : param->min).text);
    if (param->min > param->max)
        return err_set(err, ERR_FILE, "min %s is above max %s",
                       show(param->min).text, show(param->max).text);
    if (param->min == param->max)
        return err_set(err, ERR_FILE,
                       "min and max are both %s: for a constant write "
                       "{value: %s}",
                       show(param->min).text, show(param->min).text);
    if (!isfinite(param->max - param->min))
        return err_set(err, ERR_FILE, "the range from %s to %s is too wide",
                       show(param->min).text, show(param->max).text);
    return 0;
}

static int check_scale(const struct param *param, struct err *err)
{
    const char *scale = param_scale_names[param->scale];

    if (param->scale == SCALE_LINEAR)
        return 0;
    if (param->max - param->min < RANGE_FINEST * fabs(param->max))
        return err_set(err, ERR_FILE,
                       "the range from %s to %s is too narrow for scale %s",
                       show(param->min).text, show(param->max).text, scale);
    if (param->scale == SCALE_LOG && param->min <= 0)
        return err_set(err, ERR_FILE, "scale log needs min > 0, not %s",
                       show(param->min).text);
    if (param->scale == SCALE_LOG)
        return 0;
    if (param->kind == PARAM_INT)
        return err_set(err, ERR_FILE,
                       "type mismatch: scale %s requires type float, not int",
                       scale);
    if (param->scale == SCALE_LOGIT ? param->min <= 0 : param->min < 0)
        return err_set(
            err, ERR_FILE, "scale %s needs min %s 0, not %s", scale,
            param->scale == SCALE_LOGIT ? ">" : ">=", show(param->min).text);
    if (param->max >= 1)
        return err_set(err, ERR_FILE, "scale %s needs max < 1, not %s", scale,
                       show(param->max).text);
    return 0;
}

/* Before a step is looked at, there is one: ints have 1. */
static int check_fineness(const struct param *param, double largest,
                          struct err *err)
{
    double step = param->step != 0 ? param->step : 1;

    if (step >= STEP_FINEST * largest)
        return 0;
    if (param->kind == PARAM_INT && param->scale == SCALE_LINEAR)
        return 0;
    return err_set(err, ERR_FILE,
                   "step %s is too fine for values as large as %s",
                   show(step).text, show(largest).text);
}

static int check_step(const struct param *param, struct err *err)
{
    double largest = fmax(fabs(param->min), fabs(param->max));
    double step = param->step;
    double count, slack;

    if (step == 0)
        return param->kind == PARAM_INT ? check_fineness(param, largest, err)
                                        : 0;
    if (!(step > 0))
        return err_set(err, ERR_FILE, "step %s is not positive",
                       show(step).text);
    if (check_fineness(param, largest, err) < 0)
        return -1;
    count = (param->max - param->min) / step;
    /* what rounding may do to decimals like 0.1, and no more */
    slack = 1e-15 * (4 * count + 4 * largest / step);
    if (count < 1 - slack)
        return err_set(
            err, ERR_FILE, "step %s is wider than the range from %s to %s",
            show(step).text, show(param->min).text, show(param->max).text);
    if (fabs(count - round(count)) > slack)
        return err_set(
            err, ERR_FILE,
            "step %s does not fit: from %s it reaches %.12g, not max %s",
            show(step).text, show(param->min).text,
            param->min + floor(count) * step, show(param->max).text);
    return 0;
}

static int check_number(const struct param *param, struct err *err)
{
    if (check_range(param, err) < 0)
        return -1;
    if (param->kind == PARAM_INT && (check_whole("min", param->min, err) < 0 ||
                                     check_whole("max", param->max, err) < 0 ||
                                     check_whole("step", param->step, err) < 0))
        return -1;
    if (check_scale(param, err) < 0)
        return -1;
    return check_step(param, err);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a trial sees of a value is its text, so that is what must differ. */
static int check_distinct(const struct param *param, struct err *err)
{
    char **texts = mem_array(param->value_count, sizeof(*texts));
    int result = 0;

    for (size_t i = 0; i < param->value_count; i++) {
        struct buf text = BUF_INIT;

        value_print(&param->values[i], &text);
        texts[i] = mem_copy_string(buf_text(&text));
        buf_clear(&text);
    }
    qsort(texts, param->value_count, sizeof(*texts), compare_texts);
    for (size_t i = 1; i < param->value_count && result == 0; i++)
        if (strcmp(texts[i - 1], texts[i]) == 0)
            result = err_set(err, ERR_FILE, "duplicate value '%s'", texts[i]);
    for (size_t i = 0; i < param->value_count; i++)
        free(texts[i]);
    free(texts);
    return result;
}

static int check_values(const struct param *param, struct err *err)
{
    if (param->value_count == 0)
        return err_set(err, ERR_FILE, "missing values");
    for (size_t i = 0; i < param->value_count; i++)
        if (param->values[i].type == VALUE_NULL)
            return err_set(err, ERR_FILE, "value %zu is null", i + 1);
    if (param->kind == PARAM_CONST)
        return 0;
    if (param->value_count == 1)
        return err_set(
            err, ERR_FILE,
            "'values' has only one value: for a constant write {value: ...}");
    return check_distinct(param, err);
}

int param_check(const struct param *param, struct err *err)
{
    if (param->kind != PARAM_FLOAT && param->kind != PARAM_INT &&
        (param->scale != SCALE_LINEAR || param->step != 0))
        return err_set(err, ERR_FILE, "a %s has no %s",
                       param_kind_names[param->kind],
                       param->step != 0 ? "step" : "scale");
    switch (param->kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        return check_number(param, err);
    case PARAM_CATEGORICAL:
    case PARAM_ORDINAL:
    case PARAM_CONST:
        return check_values(param, err);
    case PARAM_BOOL:
    default:
        return 0;
    }
}
