/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SCHEDULES_BRACKETS_H
#define SMTUNE_STRATEGIES_SCHEDULES_BRACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/schedules/rungs.h"
#include "strategies/schedules/scheduler.h"

/*
 * Trials on their way up the rungs of brackets: where each one is, and what
 * the results at every rung are. Who goes on, and when, is the business of the
 * schedulers that keep one of these.
 *
 * A trial that failed on its way to a rung counts there, behind all results,
 * as does one whose value is NaN; neither ever goes on. One that was cancelled
 * on its way counts nowhere.
 */

struct bracket_rung {
    struct rung results; /* open: trials that wait here */
    uint64_t running;    /* trials on their way here */
};

struct bracket {
    size_t first;               /* its lowest rung on the ladder */
    size_t rung_count;          /* ladder.count - first */
    struct bracket_rung *rungs; /* [rung_count] */
    uint64_t entered;           /* trials that began in it */
    uint64_t running;
    uint64_t waiting;
    uint64_t finished; /* trials that have a number at max */
};

enum climber_state { CLIMBER_RUNNING, CLIMBER_WAITING, CLIMBER_OVER };

struct climber {
    uint64_t trial;
    size_t bracket, rung; /* where it waits, or to which it runs */
    size_t result;        /* the index of its result there, if it has one */
    enum climber_state state;
};

struct brackets {
    struct schedule_options options;
    struct ladder ladder;
    struct bracket *all; /* [count] */
    size_t count, capacity;
    struct climber *climbers; /* [climber_count], by trial */
    size_t climber_count, climber_capacity;
};

/* Without any brackets yet. ERR_FILE as ladder_init(). Embedded: ends with
 * brackets_clear, which may follow a failed init. */
int brackets_init(struct brackets *brackets,
                  const struct schedule_options *options, struct err *err);
void brackets_clear(struct brackets *brackets);

/* Adds one that begins at that rung of the ladder. */
void brackets_add(struct brackets *brackets, size_t first);

/* The resource of a bracket's rung. */
uint64_t brackets_resource(const struct brackets *brackets, size_t bracket,
                           size_t rung);

/* A new trial, whose number is above those before, begins in a bracket. */
void brackets_enter(struct brackets *brackets, uint64_t trial, size_t bracket);
/* A trial that waits goes on to the next rung; or will not go on. Others are
 * left as they are. */
void brackets_promote(struct brackets *brackets, uint64_t trial);
void brackets_stop(struct brackets *brackets, uint64_t trial);

/* The resource to which a trial runs; UINT64_MAX: it does not. */
uint64_t brackets_awaits(const struct brackets *brackets, uint64_t trial);

/*
 * Takes in what a trial has reached: at max it is over, else it waits. A
 * resource beyond the next rung's counts at the highest rung that it covers.
 * The trial; NULL where nothing was awaited of it.
 */
const struct climber *brackets_observe(struct brackets *brackets,
                                       const struct observation *observation);
/* A trial that is over. One at max, or a stopped one, is so already. */
void brackets_end(struct brackets *brackets, uint64_t trial,
                  enum trial_outcome outcome);

/* Whether a trial that waits, or has just come to its rung, is among the best
 * floor(n / eta) of the n results there. */
bool brackets_leads(const struct brackets *brackets,
                    const struct climber *climber);
/* The best trial that waits at a rung, if it is among the best floor(n / eta)
 * of the n results there; or NULL. */
const struct climber *brackets_leader(const struct brackets *brackets,
                                      size_t bracket, size_t rung);
/* The best trial that waits at the highest rung of a bracket at which any
 * waits with a number, or NULL. */
const struct climber *brackets_highest(const struct brackets *brackets,
                                       size_t bracket);
/* Any trial that waits, be it one with NaN; NULL: none does. */
const struct climber *brackets_waiting(const struct brackets *brackets,
                                       size_t bracket);

/* Where it stands among the results of its rung, as one sentence, lower case:
 * "0.31 is among the best 3 of 9 at 3". */
void brackets_describe(const struct brackets *brackets,
                       const struct climber *climber, char *text, size_t size);

/* That a trial which waits goes on, or will not. */
void brackets_next_promote(const struct brackets *brackets,
                           const struct climber *climber,
                           struct assignment *next);
void brackets_next_stop(const struct brackets *brackets,
                        const struct climber *climber, struct assignment *next);

#endif
