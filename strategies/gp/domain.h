/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_DOMAIN_H
#define SMTUNE_STRATEGIES_GP_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/gp/gp.h"
#include "strategies/space/space.h"

/*
 * A search space as a Gaussian process sees it. Parameters with one value are
 * left out. A number is a column of its unit coordinate; of a finite one, of
 * the middle of its value's share. A category (and a bool) is a column of its
 * index: two are alike or not.
 *
 * A conditional number has a second column, 0 where it is active. Where it is
 * not, the point lies off the interval's middle by half its length: inactive
 * ones have no distance among each other, and to active ones about the same.
 * For a conditional category, being inactive is one category more.
 */

enum domain_kind {
    DOMAIN_REAL,   /* a continuum */
    DOMAIN_NUMBER, /* finite, in order */
    DOMAIN_CHOICE
};

struct domain_axis {
    size_t param; /* of the space */
    enum domain_kind kind;
    uint64_t cardinality; /* 0: a continuum */
    bool is_conditional;
    bool is_even;  /* each value of a finite one has the same share */
    size_t column; /* the first */
};

struct domain;

/* has_earlier: trials of earlier runs are to be told from this run's, by a
 * choice that comes last of parameters and columns; see domain_set_earlier. */
struct domain *domain_create(struct space *space, bool has_earlier);
void domain_destroy(struct domain *domain); /* NULL is none */

size_t domain_count(const struct domain *domain); /* of axes */
const struct domain_axis *domain_axis(const struct domain *domain,
                                      size_t index);
/* Axis k is parameter k of the shape; what tells earlier runs is no axis. */
const struct gp_shape *domain_shape(const struct domain *domain);

/* Where the values of a finite axis are: value `index` in their order, and the
 * one that is `steps` away from u's, or the last in that direction. */
double domain_unit_of(const struct domain *domain, size_t axis, uint64_t index);
double domain_neighbour(const struct domain *domain, size_t axis, double u,
                        int steps);

/* A trial's unit[space_count] as in struct history to columns. */
void domain_encode(const struct domain *domain, const double *unit,
                   double *columns);
/* Makes columns those of an earlier run's trial. */
void domain_set_earlier(const struct domain *domain, double *columns);
/*
 * unit[space_count], a number for every parameter, to the point that it stands
 * for and its columns; with `relaxed`, numbers of a finite parameter are left
 * between its values. Whether the space's constraints accept it.
 */
bool domain_settle(const struct domain *domain, const double *unit,
                   bool relaxed, struct value *point, double *columns);

#endif
