/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SPACE_SPACE_H
#define SMTUNE_STRATEGIES_SPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/expr/expr.h"
#include "base/value.h"

/*
 * The search space: parameters, the conditions under which each is active,
 * and constraints over all of them. A point is an array of space_count()
 * values in the order of the parameters; an inactive one is VALUE_NULL.
 * Every search method works in the unit cube and comes here to get a point.
 *
 * Built in this order: all parameters, then conditions, then constraints,
 * then space_finish.
 */

enum param_kind {
    PARAM_FLOAT,
    PARAM_INT,
    PARAM_CATEGORICAL, /* values have no order */
    PARAM_ORDINAL,     /* values in their order */
    PARAM_BOOL,        /* false, true */
    PARAM_CONST        /* one value */
};

enum param_scale {
    SCALE_LINEAR,
    SCALE_LOG,         /* min > 0 */
    SCALE_REVERSE_LOG, /* 0 <= min, max < 1: even in -log(1 - x) */
    SCALE_LOGIT        /* 0 < min, max < 1: even in log(x / (1 - x)) */
};

struct param {
    const char *name;
    enum param_kind kind;
    enum param_scale scale;     /* float and int */
    double min, max;            /* float and int, both ends included */
    double step;                /* values are min + k step <= max; 0: none */
    const struct value *values; /* categorical, ordinal, const: [value_count] */
    size_t value_count;
};

struct rng;
struct space;

/* The expressions live in env, which must outlive the space. */
struct space *space_create(struct expr_env *env);
void space_destroy(struct space *space);

/*
 * -1 (ERR_FILE) when there can be no such parameter: min above max, min = max
 * or a single value (a constant says so), log of what is not positive, a step
 * that is not positive, wider than the range, or does not come to max, two
 * values that print alike. An int's range and step are whole, within 2^53.
 */
int param_check(const struct param *param, struct err *err);

/* Copies the parameter. -1 (ERR_FILE) as param_check, or for a name twice. */
int space_add_param(struct space *space, const struct param *param,
                    struct err *err);
/* The parameter `index` is active only where the expression is true; it may
 * use other parameters, also conditional ones (null when inactive). err->column
 * is a place in the text. A circle of conditions is found here. */
int space_set_when(struct space *space, size_t index, const char *text,
                   struct err *err);
/* An expression that must not be false. Null (an inactive parameter in it) is
 * no objection. */
int space_add_constraint(struct space *space, const char *text,
                         struct err *err);

size_t space_count(const struct space *space);
const struct param *space_param(const struct space *space, size_t index);
int space_find(const struct space *space, const char *name); /* -1: none */
bool space_is_conditional(const struct space *space, size_t index);
/* Its condition's text; NULL: it is always active. */
const char *space_when(const struct space *space, size_t index);
size_t space_constraint_count(const struct space *space);
/* [space_count] parameters, each behind those that its condition uses; as they
 * were added where conditions look back only. Valid until one is added. */
const size_t *space_order(const struct space *space);

/* u in [0, 1] to a value of that parameter, each value of a finite one with
 * equal share (of the scale, for ints without bias at the ends). */
struct value param_from_unit(const struct param *param, double u);
/* The middle of the value's share: param_from_unit(param_to_unit(v)) is v, for
 * a continuum but for rounding, for a finite one as long as its shares are
 * wider than a double can tell (2^50 values on a linear scale). */
double param_to_unit(const struct param *param, const struct value *value);
/* The share of the unit interval that stands for the same value as u; u itself
 * of a continuum. */
void param_share(const struct param *param, double u, double *low,
                 double *high);
/* How many values it has; 0: a continuum. */
uint64_t param_cardinality(const struct param *param);
/* Value k < cardinality, in order. */
struct value param_value_at(const struct param *param, uint64_t k);
/* The value that the parameter's own type has for a value from elsewhere (a
 * store, a command line): -1 when it is not one of its values. */
int param_coerce(const struct param *param, const struct value *from,
                 struct value *to);

/* unit[count] to point[count], inactive ones null. */
void space_decode(struct space *space, const double *unit, struct value *point);
/* Sets those that their conditions make inactive to null. */
void space_apply_conditions(struct space *space, struct value *point);
/* Whether the point breaks none of the constraints. */
bool space_feasible(struct space *space, const struct value *point);
/* Whether it satisfies constraint `index`. */
bool space_satisfies(struct space *space, size_t index,
                     const struct value *point);
/* As space_feasible; when false, *depth is the smallest number for which no
 * point with the same values of the first *depth parameters in space_order is
 * feasible, as far as the constraints' names tell. */
bool space_feasible_prefix(struct space *space, const struct value *point,
                           size_t *depth);
/*
 * A setting with the given values, into point[space_count]: those that are null
 * among values[] are drawn from rng. No given value is left out: what its
 * condition uses is drawn so that it is active. -1 (ERR_USAGE): it violates a
 * constraint, a given parameter cannot be active, or 10,000 draws found
 * nothing.
 */
int space_complete(struct space *space, struct rng *rng,
                   const struct value *values, struct value *point,
                   struct err *err);
/* Whether the values are all of the point that they were completed to: what was
 * drawn has one value alone. */
bool space_is_whole(const struct space *space, const struct value *values,
                    const struct value *point);
/* Equal points have equal hashes; of n points, no two others do (64 bits). */
uint64_t space_hash(const struct space *space, const struct value *point);
/* How many points at most (conditions and constraints not counted); 0 when
 * there is a continuum or more than 2^62. */
uint64_t space_cardinality(const struct space *space);

/* What expr_env_work() says of its expressions. */
int64_t space_work(const struct space *space);

struct space_volume {
    double fraction; /* of the cube that is feasible */
    bool exact;      /* every point was tried */
    uint64_t tried, feasible;
    uint64_t points; /* exact: distinct feasible points */
};

/* Spaces of no more points than this are looked at as a whole. */
enum { SPACE_EXACT_MAX = 100000 };

/*
 * Estimates the feasible share: from all points where they are that few, else
 * by sampling: 10,000 points, and as long as none is found up to 1,000,000
 * (fewer where there are over 20 parameters, or constraints that take long).
 * -1 (ERR_FILE) when nothing feasible was found.
 */
int space_estimate_volume(struct space *space, struct space_volume *volume,
                          struct err *err);

extern const char *const param_kind_names[];  /* in the order of the enum */
extern const char *const param_scale_names[]; /* both end with NULL */

#endif
