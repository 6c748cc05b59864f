/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_STRATEGY_H
#define SMTUNE_STRATEGIES_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "strategies/space.h"

/*
 * Search methods as ask and tell, pure in (space, seed, history): no clock, no
 * file, no log. The same history told in the same order gives the same
 * suggestions, whatever ran meanwhile. A new method is one file with one const
 * struct strategy_method (strategy_impl.h) and one line in strategy.c.
 */

struct strategy_options {
    const char *method; /* a name of strategy_method_names() */
    uint64_t seed;
    uint64_t grid_points;   /* values a continuous parameter gets in a grid */
    uint64_t budget_trials; /* how many trials are planned; 0: no limit */
};

enum ask_result {
    ASK_ERROR = -1,
    ASK_OK = 0,
    ASK_EXHAUSTED = 1 /* the method has nothing more to try */
};

enum trial_outcome { OUTCOME_COMPLETE, OUTCOME_FAILED, OUTCOME_STOPPED };

struct strategy;

/* space is borrowed. Unknown methods are ERR_FILE with the nearest name. */
struct strategy *strategy_create(const struct strategy_options *options,
                                 struct space *space, struct err *err);
void strategy_destroy(struct strategy *strategy);

/* The method in use, which `auto` chose, and why in one sentence. */
const char *strategy_method(const struct strategy *strategy);
const char *strategy_reason(const struct strategy *strategy);
/* Whether suggestions depend on results; if not, many may be asked ahead. */
bool strategy_learns(const struct strategy *strategy);

/*
 * The point for trial number `trial` (1, 2, 3 ...; each asked once, in order),
 * into point[space_count]. It satisfies conditions and constraints, and repeats
 * no point of a finite space before all are used up. Text values belong to
 * the space. *cursor is the method's own position, to be kept with the trial.
 */
enum ask_result strategy_ask(struct strategy *strategy, uint64_t trial,
                             struct value *point, uint64_t *cursor,
                             struct err *err);

/* In place of strategy_ask, when the record already holds that trial. */
void strategy_restore(struct strategy *strategy, uint64_t trial,
                      const struct value *point, uint64_t cursor);

/* The result of a trial: values[objective_count], lower is better. */
void strategy_tell(struct strategy *strategy, uint64_t trial,
                   enum trial_outcome outcome, const double *values,
                   size_t count);

/* NULL-ended. */
const char *const *strategy_method_names(void);
/* One sentence for manuals and editors. */
const char *strategy_method_doc(const char *method);

#endif
