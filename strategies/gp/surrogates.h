/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_GP_SURROGATES_H
#define SMTUNE_STRATEGIES_GP_SURROGATES_H

#include <stddef.h>

#include "base/err.h"
#include "strategies/gp/domain.h"
#include "strategies/gp/model.h"
#include "strategies/gp/trust_region.h"
#include "strategies/history/history.h"

/*
 * The processes that stand for what trials would tell: one an objective, one of
 * whether a trial succeeds, and one for each constraint on an outcome. They
 * read results in the order told and depend on nothing else, so that they can
 * be kept from one suggestion to the next.
 *
 * A result here is a trial with values; one that was stopped early counts as no
 * better than the median.
 */
struct surrogates {
    struct linalg *linalg;
    struct domain *domain;
    struct model **objectives; /* [objective_count] */
    struct model *success;     /* -1, and 1 for a failure; at most 0 is good */
    struct model **outcomes;   /* [outcome_count] */
    size_t objective_count, outcome_count;
    size_t *trials; /* [surrogates_count]: each result's index in the history */
    size_t trials_capacity;
    size_t read;                /* results and failures of the history so far */
    size_t failures;            /* of these */
    struct trust_region region; /* of the first objective */
    double *columns;            /* room for one trial */
};

enum {
    SURROGATES_PENDING_MAX = 256 /* rows for pending trials */
};

/* With the earlier runs' trials of the history, of which some hundred are taken
 * as rows of the objectives' processes: as another choice of a parameter whose
 * length scale says how much they are worth. NULL (ERR_FAILED): there is no
 * memory, or no linear algebra. */
struct surrogates *surrogates_create(const struct history *history,
                                     struct err *err);
void surrogates_destroy(struct surrogates *surrogates); /* NULL is none */

/* Takes in what was told since. */
void surrogates_read(struct surrogates *surrogates,
                     const struct history *history);
/* How many results there are; and with failures. */
size_t surrogates_count(const struct surrogates *surrogates);
size_t surrogates_tried(const struct surrogates *surrogates);

#endif
