/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_ENQUEUEING_H
#define SMTUNE_TESTS_FAULT_SIM_ENQUEUEING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `smtune enqueue`: settings that are to be tried next, given to an engine or
 * between two. Each that was acknowledged is there once, in its place, and
 * tried by one trial at most; what an engine never answered is there with its
 * answer, or not at all.
 */

struct history;
struct record;

struct enqueueing {
    int64_t asked;          /* the k of the last one */
    int64_t count;          /* that are in the record */
    int64_t answered_count; /* by engines */
    bool was_asked;         /* ever */
};

/* The k of a setting that is asked for now: 1 to 4, or one that is none. */
int64_t enqueueing_draw(struct history *history);

/* ---- of an engine ---- */

/* It says that the setting is in that place, */
void enqueueing_acknowledge(struct history *history, int64_t place);
/* that it is not, */
void enqueueing_refuse(struct history *history);
/* or nothing. */
void enqueueing_doubt(struct history *history);

/* ---- without an engine ---- */

void enqueueing_apply(struct history *history);

/* ---- checks ---- */

void enqueueing_check(const struct history *history,
                      const struct record *record);

#endif
