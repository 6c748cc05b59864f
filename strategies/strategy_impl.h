/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_STRATEGY_IMPL_H
#define SMTUNE_STRATEGIES_STRATEGY_IMPL_H

#include "strategies/history/ask.h"
#include "strategies/history/history.h"
#include "strategies/strategy.h"

/*
 * What a search method is, for the files that are one; nobody else includes
 * this. strategy.c wraps every method: it checks candidates against the
 * constraints, sees to it that none comes twice, and keeps the cursor. A new
 * method is a file with one const struct strategy_method named
 * strategy_method_NAME, and its NAME below.
 */
#define STRATEGY_METHODS(X)                                                    \
    X(auto)                                                                    \
    X(random)                                                                  \
    X(grid)                                                                    \
    X(sobol)                                                                   \
    X(bayesian)                                                                \
    X(tpe)                                                                     \
    X(cmaes)                                                                   \
    X(nsga2)

struct buf;

struct strategy_method {
    const char *name;

    /*
     * Each candidate is feasible and new, and there is an end to them: next()
     * is then all there is to an ask.
     */
    bool enumerates;
    /*
     * It reads ask->history, and calls ask_accepts() itself: one call of
     * next() is one attempt. Where what it gives is not accepted after all, or
     * it says ASK_EXHAUSTED because it found nothing, the wrapper draws a
     * random point. A method that neither enumerates nor learns is asked again
     * and again until a candidate is accepted.
     */
    bool learns;

    /*
     * For a method that stands for another: which one, with *options fit for
     * it and why in one sentence, lower case, without a full stop. Then the
     * slots below are NULL. NULL: the method is itself.
     */
    const struct strategy_method *(*choose)(struct strategy_options *options,
                                            struct space *space,
                                            struct buf *reason);

    /* The method's own state, or NULL with err. space outlives it. */
    void *(*create)(const struct strategy_options *options, struct space *space,
                    struct err *err);
    void (*destroy)(void *state); /* NULL is no state */

    /*
     * A candidate into ask->point, conditions applied. What it gives may
     * depend on nothing but what create() was given, ask->cursor, ask->trial
     * and ask->history: state is a cache of what follows from these, and must
     * come out the same when the history arrives all at once after a restart.
     * The cursor starts at 0. Points of a history are added at the end and its
     * results told one by one; where one is told anew, the wrapper begins with
     * a new state, so that nothing in a history that a state has seen is ever
     * taken back.
     */
    enum ask_result (*next)(void *state, struct ask *ask, struct err *err);
};

#define X(name) extern const struct strategy_method strategy_method_##name;
STRATEGY_METHODS(X)
#undef X

/* Streams of the generator, so that no two uses share numbers. */
enum strategy_stream {
    STREAM_POINT,    /* random: number of the candidate */
    STREAM_SCAN,     /* wrapper: number of the trial */
    STREAM_SCRAMBLE, /* sobol: number of the dimension */
    STREAM_SHUFFLE,  /* sobol: number of the window */
    STREAM_FALLBACK, /* wrapper: number of the trial */
    STREAM_TURN,     /* wrapper: number of the trial */
    STREAM_WISH,     /* wrapper: id of the wish */
    /* of the methods that learn: number of the trial, or as they say */
    STREAM_TPE = 16,
    STREAM_BAYESIAN = 32,
    STREAM_CMAES = 48,
    STREAM_NSGA2 = 64,
    STREAM_CONVERGENCE = 80,
    STREAM_GOALS = 96 /* and those behind it, one an objective */
};

/* Looks at so many infeasible points in a row before it is an error. */
enum { STRATEGY_LOOKS_MAX = 10000000 };

#endif
