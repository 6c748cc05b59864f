/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_BUDGET_CHANGES_H
#define SMTUNE_TESTS_FAULT_SIM_BUDGET_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "orchestrator/run/budget_change.h"

/*
 * `smtune resume --trials --time`: the run's user gives it more trials or time,
 * or less, be it under way, stopped, crashed or over. What was acknowledged
 * stands; what was asked for, and never answered, is there wholly or not at
 * all.
 */

struct history;
struct record;
struct run;

enum { BUDGET_CHANGES = 5 /* that may be asked for in one history */ };

/* How long engines ran is not known to the millisecond. */
enum chance { IMPOSSIBLE, UNSURE, POSSIBLE };

struct budget_changes {
    /* By the changes that were acknowledged, else the file; no time is no
     * limit. */
    struct budget_change given;
    /* Asked for since then; what was acknowledged later is 0. */
    struct budget_change doubted[BUDGET_CHANGES];
    int doubted_count;
    int asked_count, done_count, all_doubted_count;

    /* What the engine that comes is asked for before it begins. */
    struct budget_change asked;
    enum chance chance; /* that it is allowed */
    bool was_over;      /* the run, before that was asked */
    bool was_recorded;  /* that it was */
    int64_t before;     /* how many changes the record had by then */
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

/* What to ask an engine for; perhaps nothing. */
struct budget_change budget_changes_draw(struct history *history);
void budget_changes_acknowledge(struct history *history,
                                const struct budget_change *change);
/* No answer came, or one of which it is not known what was done before. */
void budget_changes_doubt(struct history *history,
                          const struct budget_change *change);
/* The engine had no reason not to refuse it. */
void budget_changes_refuse(const struct history *history,
                           const struct budget_change *change,
                           const char *error);
/* Whether the run may have so many trials now. */
bool budget_changes_allow(const struct history *history, int64_t trials);
/* How long it may run, at most; 0: there is no limit. */
int64_t budget_changes_time_limit_ms(const struct history *history);

/* ---- checks ---- */

/* How many trials and how much time the run may have. */
struct budget_change budget_changes_given(const struct history *history,
                                          const struct record *record);
/* The record has what was acknowledged, and nothing by halves. */
void budget_changes_check(const struct history *history,
                          const struct record *record);

#endif
