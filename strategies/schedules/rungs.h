/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SCHEDULES_RUNGS_H
#define SMTUNE_STRATEGIES_SCHEDULES_RUNGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct schedule_options;

/*
 * The resources at which trials are compared. From above: max, max / eta,
 * max / eta^2 ... rounded down, as long as that is more than min; and min
 * itself. So the steps are by eta, but for the first one, which may be smaller:
 * 1, 3, 9, 27, 81 for 1 to 81 by 3, and 1, 2, 7, 22, 66, 200 for 1 to 200.
 */

enum { LADDER_MAX = 48 };

struct ladder {
    uint64_t resources[LADDER_MAX]; /* [count], ascending */
    size_t count;                   /* 2 or more */
    uint64_t eta;
};

/* Checks min, max, eta and brackets: ERR_FILE. */
int ladder_init(struct ladder *ladder, const struct schedule_options *options,
                struct err *err);

/*
 * How many trials begin in bracket 0, 1 ... of a round, of which the first
 * begins at the lowest rung, each further one a rung higher: n = ceil((s_max +
 * 1) / (s + 1) * eta^s) with s_max = count - 1 and s = s_max - bracket (Li et
 * al., "Hyperband", JMLR 2018, algorithm 1).
 */
uint64_t ladder_trials(const struct ladder *ladder, size_t bracket);

/*
 * What trials had reached at one rung, from best to worst: the lower value
 * first, of equals the one told first, NaN last. A result is open while its
 * trial waits there. Adding, and each question, take O(log count) time. An
 * order-statistic treap; embedded: starts from all zeroes, ends with
 * rung_clear.
 */
struct rung_result {
    double value;
    uint64_t trial;
    bool is_open;

    uint32_t left, right; /* an index and 1; 0: none */
    uint32_t size, open;  /* results in this subtree, and open ones */
};

struct rung {
    struct rung_result *results; /* [count], in the order told */
    size_t count, capacity;
    uint32_t root;
};

void rung_clear(struct rung *rung);
/* The index of the new result. */
size_t rung_add(struct rung *rung, uint64_t trial, double value, bool is_open);
/* A result that is open is so no longer. */
void rung_close(struct rung *rung, size_t index);
/* How many are better. */
size_t rung_rank(const struct rung *rung, size_t index);
/* The result of a rank below count. */
const struct rung_result *rung_at(const struct rung *rung, size_t rank);
/* The best open one, and its rank; or NULL. rank may be NULL. */
const struct rung_result *rung_best_open(const struct rung *rung, size_t *rank);

#endif
