/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_BUDGET_CHANGES_H
#define SMTUNE_TESTS_FAULT_SIM_BUDGET_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"

/*
 * `smtune resume --trials`: the run's user gives it more trials, or fewer, be
 * it under way, stopped, crashed or over. What was acknowledged stands; what
 * was asked for, and never answered, is there wholly or not at all.
 */

struct history;
struct record;
struct run;

enum { BUDGET_CHANGES = 5 /* that may be asked for in one history */ };

struct budget_changes {
    int64_t trials; /* by the last change that was acknowledged, or the file */
    int64_t doubted[BUDGET_CHANGES]; /* asked for since then */
    int doubted_count;
    int asked_count, done_count, all_doubted_count;

    /* What the engine that comes is asked for before it begins; 0: nothing. */
    int64_t asked;
    bool is_possible;  /* it is to be allowed */
    bool was_over;     /* the run, before that was asked */
    bool was_recorded; /* that it was */
    int64_t before;    /* how many changes the record had by then */
};

void budget_changes_begin(struct history *history);

/* ---- without an engine ---- */

/* Now and then somebody is going to ask for a change; whether. */
bool budget_changes_plan(struct history *history);
/* In that engine's process, before it begins: 1: it goes on; 0: it was refused,
 * and there is no engine; -1: an error, which leaves it in doubt. */
int budget_changes_apply(struct history *history, struct run *run,
                         struct err *err);
/* After its process, in which it may have been left in doubt. */
void budget_changes_settle(struct history *history);

/* ---- of an engine ---- */

/* A number to ask an engine for; 0: none. */
int64_t budget_changes_draw(struct history *history);
void budget_changes_acknowledge(struct history *history, int64_t trials);
/* No answer came, or one of which it is not known what was done before. */
void budget_changes_doubt(struct history *history, int64_t trials);
/* Whether the run may have that budget now. */
bool budget_changes_allow(const struct history *history, int64_t trials);

/* ---- checks ---- */

/* How many trials the run may have. */
int64_t budget_changes_trials(const struct history *history,
                              const struct record *record);
/* The record has what was acknowledged, and nothing by halves. */
void budget_changes_check(const struct history *history,
                          const struct record *record);

#endif
