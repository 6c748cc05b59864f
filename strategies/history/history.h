/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_HISTORY_HISTORY_H
#define SMTUNE_STRATEGIES_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"

/*
 * What a search method knows: every trial that was asked for, and the results
 * in the order in which they were told. strategy.c keeps it; methods read it.
 * Embedded: history_init, history_clear.
 *
 * A trial is a row by its index in the order asked: arrays of [count] and
 * [count][...] below. Earlier runs' trials that count as this run's (warm
 * start, mode same) come first, with number 0.
 */

struct space;

enum history_state {
    HISTORY_PENDING,
    HISTORY_COMPLETE,  /* all its values are finite */
    HISTORY_FAILED,    /* no result, or one that is not finite */
    HISTORY_STOPPED,   /* ended early; values are what it had reached, or NaN */
    HISTORY_CANCELLED, /* neither here nor there: as if never asked */
    HISTORY_ASIDE,     /* likewise, but neither told nor pending */
    HISTORY_BEHIND     /* paused or stopped before it came so far; not told */
};

struct history {
    struct space *space;
    size_t dimension; /* space_count(space) */
    size_t objective_count;
    size_t outcome_count; /* constraints on outcomes */

    size_t count;
    uint64_t *numbers;     /* [count], ascending */
    unsigned char *states; /* [count], enum history_state */
    double *units;    /* [count][dimension]: param_to_unit; NaN: inactive */
    double *values;   /* [count][objective_count]: lower is better; NaN: none */
    double *outcomes; /* [count][outcome_count]: at most 0 is satisfied */
    size_t *seen;     /* [count]: told_count when it was asked */

    size_t *told; /* [told_count]: indices, in the order told */
    size_t told_count;
    size_t *pending; /* [pending_count]: indices, ascending */
    size_t pending_count;
    size_t complete_count; /* of the told ones */
    size_t behind_count;   /* trials in HISTORY_BEHIND */

    /* Results of earlier runs that guide but do not bind (warm start, mode
     * transfer), values standardised a run; NULL: none. */
    struct history *transfer;

    size_t capacity; /* of rows */
};

void history_init(struct history *history, struct space *space,
                  size_t objective_count, size_t outcome_count);
void history_clear(struct history *history);

/* Adds a pending trial; its index. number is above those before, or 0. */
size_t history_ask(struct history *history, uint64_t number,
                   const struct value *point);
/* values[objective_count] and outcomes[outcome_count], or NULL: none. A result
 * that is complete but not finite is HISTORY_FAILED. One that the trial has
 * already is forgotten. */
void history_tell(struct history *history, size_t index,
                  enum history_state state, const double *values,
                  const double *outcomes);

/* Adds the trial of another history of this space, with nothing told: pending,
 * aside or behind. */
size_t history_add(struct history *history, const struct history *from,
                   size_t index, enum history_state state);
/* The trial is aside or behind from now on; what was told of it is forgotten.
 */
void history_set(struct history *history, size_t index,
                 enum history_state state);

/* The index of a trial; SIZE_MAX: there is none of that number. */
size_t history_find(const struct history *history, uint64_t number);

static inline const double *history_unit(const struct history *history,
                                         size_t index)
{
    return history->units + index * history->dimension;
}

static inline const double *history_values(const struct history *history,
                                           size_t index)
{
    return history->values + index * history->objective_count;
}

static inline const double *history_outcomes(const struct history *history,
                                             size_t index)
{
    return history->outcomes + index * history->outcome_count;
}

/* The sum of what the outcome constraints are exceeded by; 0: all are
 * satisfied (or there are none). Infinity where one was not said. */
double history_violation(const struct history *history, size_t index);

/*
 * Whether trial a is better than b by one objective: complete before others,
 * feasible before infeasible, then the smaller violation or the smaller value
 * of objective 0. A strict weak order.
 */
bool history_better(const struct history *history, size_t a, size_t b);

/* Which value, 0 .. cardinality - 1, a unit coordinate of a categorical,
 * ordinal or bool parameter stands for. */
size_t history_choice(double unit, uint64_t cardinality);

#endif
