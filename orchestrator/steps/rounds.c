/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/rounds.h"

#include <math.h>

#include "base/buf.h"
#include "base/expr/expr.h"

/* Up to which every whole number is a double. */
static const double exact_max = 9007199254740992.0;

json_t *rounds_first(const struct repeat_rule *rule)
{
    json_t *rounds = json_object();

    for (size_t i = 0; i < rule->value_count; i++)
        json_object_set_new(rounds, rule->values[i].name,
                            json_from_value(&rule->values[i].first));
    return rounds;
}

static struct value get(const json_t *rounds, const struct round_value *value)
{
    return json_to_value(json_object_get(rounds, value->name));
}

void rounds_values(const struct repeat_rule *rule, const json_t *rounds,
                   struct value *values)
{
    for (size_t i = 0; i < rule->value_count; i++)
        values[i] = get(rounds, &rule->values[i]);
}

/* As what it was at first, if it can be. */
static struct value keep_type(struct value value, const struct value *first)
{
    if (value.type == VALUE_REAL && first->type == VALUE_INT &&
        value.real == trunc(value.real) && fabs(value.real) <= exact_max)
        return value_int((int64_t)value.real);
    return value;
}

static int put(json_t *next, const struct round_value *of, struct value value,
               struct err *err)
{
    value = keep_type(value, &of->first);
    if (value.type == VALUE_NULL ||
        (value.type == VALUE_REAL && !isfinite(value.real)))
        return err_set(err, ERR_FAILED, "'%s' has no value in the next round",
                       of->name);
    json_object_set_new(next, of->name, json_from_value(&value));
    return 0;
}

static int put_computed(json_t *next, const struct round_value *of,
                        const struct value *columns, struct err *err)
{
    struct value value;

    if (expr_eval(of->next, columns, &value, err) != 0)
        return err_prefix(err, "the next '%s'", of->name);
    return put(next, of, value, err);
}

static int refuse_growth(const struct round_value *of,
                         const struct round_value *other,
                         const struct value *now, struct err *err)
{
    struct buf text = BUF_INIT;

    value_print(&other->first, &text);
    buf_add_string(&text, " to ");
    value_print(now, &text);
    err_set(err, ERR_FAILED, "'%s' cannot follow '%s' from %s", of->name,
            other->name, buf_text(&text));
    buf_clear(&text);
    return -1;
}

/* From the first, so that what rounds off does not add up. */
static int put_scaled(json_t *next, const struct round_value *of,
                      const struct round_value *other, struct err *err)
{
    struct value now = get(next, other);
    double growth = value_number(&now) / value_number(&other->first);

    if (of->by_square_root)
        growth = sqrt(growth);
    if (!isfinite(growth))
        return refuse_growth(of, other, &now, err);
    return put(next, of, value_real(value_number(&of->first) * growth), err);
}

json_t *rounds_next(const struct repeat_rule *rule, const struct value *columns,
                    struct err *err)
{
    json_t *next = rounds_first(rule); /* for the order of the keys */
    const struct round_value *values = rule->values;
    int result = 0;

    for (size_t i = 0; i < rule->value_count && result == 0; i++)
        if (values[i].next != NULL)
            result = put_computed(next, &values[i], columns, err);
    for (size_t i = 0; i < rule->value_count && result == 0; i++)
        if (values[i].next == NULL)
            result = put_scaled(next, &values[i],
                                &values[values[i].scales_with], err);
    if (result == 0)
        return next;
    json_decref(next);
    return NULL;
}

int rounds_are_over(const struct repeat_rule *rule, int64_t round,
                    const struct value *columns, bool *are_over,
                    struct err *err)
{
    struct value value;

    *are_over = round >= rule->max;
    if (*are_over || rule->until == NULL)
        return 0;
    if (expr_eval(rule->until, columns, &value, err) != 0)
        return err_prefix(err, "until");
    *are_over = value_is_true(&value);
    return 0;
}
