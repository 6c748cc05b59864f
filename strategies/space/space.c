/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/space/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/*
 * Conditions form a directed graph: a parameter's condition uses others. The
 * order in which conditions are decided is found again whenever one is set,
 * so that a circle is reported where it is closed. A constraint remembers how
 * far in that order one must go to know it, which lets an enumeration skip
 * all points that share the values that broke it.
 */

enum { PARAMS_MAX = 1000 };

struct constraint {
    struct expr *expr;
    size_t depth; /* the first `depth` parameters of the order decide it */
};

struct entry {
    struct param param;
    struct expr *when; /* NULL: always active */
    char *when_text;
};

struct space {
    struct expr_env *env;
    struct entry *entries;
    const char **names; /* those of the entries, as columns of expressions */
    size_t *order;
    size_t count;
    struct constraint *constraints;
    size_t constraint_count, constraint_capacity;
};

struct space *space_create(struct expr_env *env)
{
    struct space *space = mem_zero(sizeof(*space));

    space->env = env;
    return space;
}

static void clear_param(struct param *param)
{
    for (size_t i = 0; i < param->value_count; i++)
        if (value_has_text(&param->values[i]))
            free((void *)(uintptr_t)param->values[i].text);
    free((void *)(uintptr_t)param->values);
    free((void *)(uintptr_t)param->name);
}

void space_destroy(struct space *space)
{
    if (space == NULL)
        return;
    for (size_t i = 0; i < space->constraint_count; i++)
        expr_destroy(space->constraints[i].expr);
    for (size_t i = 0; i < space->count; i++) {
        expr_destroy(space->entries[i].when);
        free(space->entries[i].when_text);
        clear_param(&space->entries[i].param);
    }
    free(space->constraints);
    free(space->entries);
    free(space->names);
    free(space->order);
    free(space);
}

static void copy_param(struct param *to, const struct param *from)
{
    struct value *values = mem_array(from->value_count, sizeof(*values));

    *to = *from;
    to->name = mem_copy_string(from->name);
    for (size_t i = 0; i < from->value_count; i++) {
        values[i] = from->values[i];
        if (value_has_text(&values[i]))
            values[i].text = mem_copy_string(values[i].text);
    }
    to->values = values;
}

int space_add_param(struct space *space, const struct param *param,
                    struct err *err)
{
    size_t n = space->count;

    if (space_find(space, param->name) >= 0)
        return err_set(err, ERR_FILE, "duplicate parameter '%s'", param->name);
    if (n == PARAMS_MAX)
        return err_set(err, ERR_FILE, "out of range: more than %d parameters",
                       PARAMS_MAX);
    if (param_check(param, err) < 0)
        return err_prefix(err, "parameter '%s'", param->name);
    space->entries = mem_resize(space->entries, n + 1, sizeof(*space->entries));
    space->names = mem_resize(space->names, n + 1, sizeof(*space->names));
    space->order = mem_resize(space->order, n + 1, sizeof(*space->order));
    copy_param(&space->entries[n].param, param);
    space->names[n] = space->entries[n].param.name;
    space->entries[n].when = NULL;
    space->entries[n].when_text = NULL;
    space->order[n] = n;
    space->count++;
    return 0;
}

static struct expr *compile(struct space *space, const char *text,
                            struct err *err)
{
    struct expr_table table = {.columns = space->names,
                               .column_count = space->count};

    return expr_compile(space->env, text, &table, 1, err);
}

enum mark { UNSEEN, OPEN, DONE };

struct visit {
    const struct space *space;
    enum mark *marks;
    size_t *order, placed; /* the order as far as it is known */
    size_t *path, length;  /* parameters that are open, each using the next */
};

/* Depth first: a parameter is placed when all its condition uses are. False
 * when a circle is found: then the path's last one uses one of the path. */
static bool visit_param(struct visit *visit, size_t index, size_t *again)
{
    const struct expr *when = visit->space->entries[index].when;

    visit->marks[index] = OPEN;
    visit->path[visit->length++] = index;
    for (size_t i = 0; when != NULL && i < visit->space->count; i++) {
        if (visit->marks[i] == DONE || !expr_uses(when, i))
            continue;
        *again = i;
        if (visit->marks[i] == OPEN || !visit_param(visit, i, again))
            return false;
    }
    visit->marks[index] = DONE;
    visit->length--;
    visit->order[visit->placed++] = index;
    return true;
}

static int report_circle(const struct visit *visit, size_t again,
                         struct err *err)
{
    struct buf text = BUF_INIT;
    size_t i = 0;

    while (visit->path[i] != again)
        i++;
    for (; i < visit->length; i++)
        buf_printf(&text, "'%s' uses ", visit->space->names[visit->path[i]]);
    err_set(err, ERR_FILE, "conditions depend on each other in a cycle: %s'%s'",
            buf_text(&text), visit->space->names[again]);
    buf_clear(&text);
    return -1;
}

/* Puts space->order right; leaves it as it was when there is a circle. */
static int find_order(struct space *space, struct err *err)
{
    struct visit visit = {
        .space = space,
        .marks = mem_array(space->count, sizeof(*visit.marks)),
        .order = mem_array(space->count, sizeof(*visit.order)),
        .path = mem_array(space->count, sizeof(*visit.path)),
    };
    size_t again = 0;
    int result = 0;

    for (size_t i = 0; i < space->count && result == 0; i++)
        if (visit.marks[i] == UNSEEN && !visit_param(&visit, i, &again))
            result = report_circle(&visit, again, err);
    if (result == 0)
        memcpy(space->order, visit.order, space->count * sizeof(*visit.order));
    free(visit.marks);
    free(visit.order);
    free(visit.path);
    return result;
}

int space_set_when(struct space *space, size_t index, const char *text,
                   struct err *err)
{
    struct expr *before = space->entries[index].when;
    struct expr *when = compile(space, text, err);

    if (when == NULL)
        return -1;
    space->entries[index].when = when;
    if (find_order(space, err) < 0) {
        if (err != NULL)
            err->column = 1;
        space->entries[index].when = before;
        expr_destroy(when);
        return -1;
    }
    expr_destroy(before);
    free(space->entries[index].when_text);
    space->entries[index].when_text = mem_copy_string(text);
    return 0;
}

int space_add_constraint(struct space *space, const char *text, struct err *err)
{
    struct constraint constraint = {.expr = compile(space, text, err)};

    if (constraint.expr == NULL)
        return -1;
    for (size_t i = 0; i < space->count; i++)
        if (expr_uses(constraint.expr, space->order[i]))
            constraint.depth = i + 1;
    space->constraints =
        mem_grow(space->constraints, space->constraint_count,
                 &space->constraint_capacity, sizeof(*space->constraints));
    space->constraints[space->constraint_count++] = constraint;
    return 0;
}

size_t space_count(const struct space *space)
{
    return space->count;
}

const struct param *space_param(const struct space *space, size_t index)
{
    return &space->entries[index].param;
}

int space_find(const struct space *space, const char *name)
{
    for (size_t i = 0; i < space->count; i++)
        if (strcmp(space->names[i], name) == 0)
            return (int)i;
    return -1;
}

bool space_is_conditional(const struct space *space, size_t index)
{
    return space->entries[index].when != NULL;
}

const char *space_when(const struct space *space, size_t index)
{
    return space->entries[index].when_text;
}

size_t space_constraint_count(const struct space *space)
{
    return space->constraint_count;
}

const size_t *space_order(const struct space *space)
{
    return space->order;
}

void space_decode(struct space *space, const double *unit, struct value *point)
{
    for (size_t i = 0; i < space->count; i++)
        point[i] = param_from_unit(&space->entries[i].param, unit[i]);
    space_apply_conditions(space, point);
}

/* A condition that cannot be computed is not true. */
static bool is_active(struct space *space, size_t index,
                      const struct value *point)
{
    struct value result;

    if (space->entries[index].when == NULL)
        return true;
    return expr_eval(space->entries[index].when, point, &result, NULL) == 0 &&
           value_is_true(&result);
}

void space_apply_conditions(struct space *space, struct value *point)
{
    for (size_t i = 0; i < space->count; i++)
        if (!is_active(space, space->order[i], point))
            point[space->order[i]] = value_null();
}

/* A constraint that cannot be computed is broken: a trial would be no better
 * off with these values. */
static bool is_broken(const struct constraint *constraint,
                      const struct value *point)
{
    struct value result;

    if (expr_eval(constraint->expr, point, &result, NULL) < 0)
        return true;
    return result.type != VALUE_NULL && !value_is_true(&result);
}

bool space_satisfies(struct space *space, size_t index,
                     const struct value *point)
{
    return !is_broken(&space->constraints[index], point);
}

bool space_feasible(struct space *space, const struct value *point)
{
    for (size_t i = 0; i < space->constraint_count; i++)
        if (is_broken(&space->constraints[i], point))
            return false;
    return true;
}

bool space_feasible_prefix(struct space *space, const struct value *point,
                           size_t *depth)
{
    bool feasible = true;

    *depth = space->count;
    for (size_t i = 0; i < space->constraint_count; i++) {
        const struct constraint *constraint = &space->constraints[i];

        if ((feasible || constraint->depth < *depth) &&
            is_broken(constraint, point)) {
            feasible = false;
            *depth = constraint->depth;
        }
    }
    return feasible;
}

int64_t space_work(const struct space *space)
{
    return expr_env_work(space->env);
}

/* The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

/* FNV-1a. */
static uint64_t text_bits(const char *text)
{
    uint64_t bits = 0xcbf29ce484222325u;

    while (*text != '\0')
        bits = (bits ^ (unsigned char)*text++) * 0x100000001b3u;
    return bits;
}

static uint64_t value_bits(const struct value *value)
{
    uint64_t bits = 0;
    double real;

    switch (value->type) {
    case VALUE_BOOL:
        return value->boolean ? 1 : 0;
    case VALUE_INT:
        return (uint64_t)value->integer;
    case VALUE_REAL:
        real = value->real + 0.0; /* -0 becomes 0 */
        memcpy(&bits, &real, sizeof(bits));
        return bits;
    case VALUE_TEXT:
    case VALUE_JSON:
    case VALUE_NUMERAL:
        return text_bits(value->text);
    case VALUE_NULL:
        break;
    }
    return 0;
}

uint64_t space_hash(const struct space *space, const struct value *point)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < space->count; i++) {
        hash = mix(hash + (uint64_t)point[i].type + 1);
        hash = mix(hash ^ value_bits(&point[i]));
    }
    return hash;
}

uint64_t space_cardinality(const struct space *space)
{
    uint64_t product = 1;

    for (size_t i = 0; i < space->count; i++) {
        uint64_t n = param_cardinality(&space->entries[i].param);

        if (n == 0 || product > (UINT64_C(1) << 62) / n)
            return 0;
        product *= n;
    }
    return product;
}
