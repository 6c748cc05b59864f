/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/domain.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/history/history.h"

static const double inactive_number[2] = {0.5, 0.5};
static const double inactive_choice = -1;

struct domain {
    struct space *space;
    struct domain_axis *axes;
    size_t count;
    struct gp_column *columns;
    struct gp_shape shape;
    size_t earlier; /* the column of earlier runs; 0: none */
    bool is_plain;  /* no conditions, no constraints */
};

static enum domain_kind kind_of(const struct param *param)
{
    switch (param->kind) {
    case PARAM_CATEGORICAL:
    case PARAM_BOOL:
    case PARAM_CONST:
        return DOMAIN_CHOICE;
    case PARAM_FLOAT:
    case PARAM_INT:
    case PARAM_ORDINAL:
        break;
    }
    return param_cardinality(param) == 0 ? DOMAIN_REAL : DOMAIN_NUMBER;
}

static void add_axis(struct domain *domain, size_t index)
{
    const struct param *param = space_param(domain->space, index);
    struct domain_axis *axis = &domain->axes[domain->count];
    struct gp_column column = {.parameter = domain->count};

    *axis = (struct domain_axis){
        .param = index,
        .kind = kind_of(param),
        .cardinality = param_cardinality(param),
        .is_conditional = space_is_conditional(domain->space, index),
        .is_even = param->scale == SCALE_LINEAR,
        .column = domain->shape.column_count,
    };
    column.is_choice = axis->kind == DOMAIN_CHOICE;
    domain->columns[domain->shape.column_count++] = column;
    if (axis->is_conditional && !column.is_choice)
        domain->columns[domain->shape.column_count++] = column;
    domain->is_plain &= !axis->is_conditional;
    domain->count++;
}

struct domain *domain_create(struct space *space, bool has_earlier)
{
    struct domain *domain = mem_zero(sizeof(*domain));
    size_t count = space_count(space);

    domain->space = space;
    domain->axes = mem_array(count + 1, sizeof(*domain->axes));
    domain->columns = mem_array(2 * count + 2, sizeof(*domain->columns));
    domain->is_plain = space_constraint_count(space) == 0;
    for (size_t i = 0; i < count; i++)
        if (param_cardinality(space_param(space, i)) != 1)
            add_axis(domain, i);
    domain->shape.parameter_count = domain->count;
    if (has_earlier) {
        domain->earlier = domain->shape.column_count;
        domain->columns[domain->shape.column_count++] = (struct gp_column){
            .parameter = domain->shape.parameter_count++, .is_choice = true};
    }
    domain->shape.columns = domain->columns;
    return domain;
}

void domain_destroy(struct domain *domain)
{
    if (domain == NULL)
        return;
    free(domain->axes);
    free(domain->columns);
    free(domain);
}

size_t domain_count(const struct domain *domain)
{
    return domain->count;
}

const struct domain_axis *domain_axis(const struct domain *domain, size_t index)
{
    return &domain->axes[index];
}

const struct gp_shape *domain_shape(const struct domain *domain)
{
    return &domain->shape;
}

static void encode_axis(const struct domain_axis *axis, double unit,
                        double *columns)
{
    double *to = columns + axis->column;

    if (axis->kind == DOMAIN_CHOICE) {
        to[0] = isnan(unit) ? inactive_choice
                            : (double)history_choice(unit, axis->cardinality);
    } else {
        to[0] = isnan(unit) ? inactive_number[0] : unit;
        if (axis->is_conditional)
            to[1] = isnan(unit) ? inactive_number[1] : 0;
    }
}

void domain_encode(const struct domain *domain, const double *unit,
                   double *columns)
{
    for (size_t k = 0; k < domain->count; k++)
        encode_axis(&domain->axes[k], unit[domain->axes[k].param], columns);
    if (domain->earlier > 0)
        columns[domain->earlier] = 0;
}

void domain_set_earlier(const struct domain *domain, double *columns)
{
    columns[domain->earlier] = 1;
}

/* The middle of the share that u is in. */
static double snap(const struct domain *domain, const struct domain_axis *axis,
                   double u)
{
    const struct param *param = space_param(domain->space, axis->param);
    struct value value;

    if (axis->is_even)
        return ((double)history_choice(u, axis->cardinality) + 0.5) /
               (double)axis->cardinality;
    value = param_from_unit(param, u);
    return param_to_unit(param, &value);
}

double domain_unit_of(const struct domain *domain, size_t axis, uint64_t index)
{
    const struct param *param =
        space_param(domain->space, domain->axes[axis].param);
    struct value value;

    if (domain->axes[axis].is_even)
        return ((double)index + 0.5) / (double)domain->axes[axis].cardinality;
    value = param_value_at(param, index);
    return param_to_unit(param, &value);
}

double domain_neighbour(const struct domain *domain, size_t axis, double u,
                        int steps)
{
    const struct domain_axis *it = &domain->axes[axis];
    uint64_t low = 0, high = it->cardinality - 1;
    double at = snap(domain, it, u), index;

    while (low < high) { /* the first value that is not below */
        uint64_t middle = low + (high - low) / 2;

        if (domain_unit_of(domain, axis, middle) < at - 1e-12)
            low = middle + 1;
        else
            high = middle;
    }
    index = (double)low + steps;
    index = fmin(fmax(index, 0), (double)(it->cardinality - 1));
    return domain_unit_of(domain, axis, (uint64_t)index);
}

bool domain_settle(const struct domain *domain, const double *unit,
                   bool relaxed, struct value *point, double *columns)
{
    if (!domain->is_plain)
        space_decode(domain->space, unit, point);
    for (size_t k = 0; k < domain->count; k++) {
        const struct domain_axis *axis = &domain->axes[k];
        double u = unit[axis->param];

        if (!domain->is_plain && point[axis->param].type == VALUE_NULL)
            u = (double)NAN;
        else if (axis->kind == DOMAIN_NUMBER && !relaxed)
            u = snap(domain, axis, u);
        encode_axis(axis, u, columns);
    }
    if (domain->earlier > 0)
        columns[domain->earlier] = 0;
    return domain->is_plain || space_feasible(domain->space, point);
}
