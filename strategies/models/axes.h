/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_MODELS_AXES_H
#define SMTUNE_STRATEGIES_MODELS_AXES_H

#include <stddef.h>

/*
 * The parameters of a space as a density sees them: axes of the unit cube.
 * A parameter of one value is none. A coordinate is that of history.h, and
 * NaN where the parameter is inactive.
 */

struct space;

enum axis_kind {
    AXIS_CONTINUUM, /* also what has more than AXIS_STEPS_MAX values */
    AXIS_STEPS,     /* values in their order, each with a share of the axis */
    AXIS_CHOICES    /* values without order, each with an equal share */
};

enum { AXIS_STEPS_MAX = 32 };

struct axis {
    enum axis_kind kind;
    size_t param;       /* of the space */
    size_t cardinality; /* 0: a continuum */
    double step;        /* smallest distance of two values; 0: none */
    double *centers;    /* AXIS_STEPS: [cardinality], middles of the shares */
    double *edges;      /* AXIS_STEPS: [cardinality + 1], 0 to 1 */
};

struct axes {
    size_t count;
    struct axis *list; /* [count], in the order of the parameters */
};

void axes_init(struct axes *axes, const struct space *space);
void axes_clear(struct axes *axes);

/* Which value's share of the axis u is in; not for AXIS_CONTINUUM. */
size_t axis_index(const struct axis *axis, double u);
/* u, or the middle of the share that it is in. */
double axis_snap(const struct axis *axis, double u);

#endif
