/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_STRATEGY_IMPL_H
#define SMTUNE_STRATEGIES_STRATEGY_IMPL_H

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
    X(sobol)

struct buf;

struct strategy_method {
    const char *name;
    const char *doc; /* one sentence, for manuals and editors */

    /*
     * Each candidate is feasible and new, and there is an end to them: next()
     * is then all there is to an ask. Else the wrapper asks for candidates
     * until one is feasible and new.
     */
    bool enumerates;

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
     * The candidate at *cursor into point[space_count], conditions applied;
     * moves *cursor on. The cursor starts at 0 and comes back from the record
     * after a restart: what next() gives may depend on nothing but what
     * create() was given, *cursor and what was told. ASK_EXHAUSTED only if it
     * enumerates.
     */
    enum ask_result (*next)(void *state, uint64_t *cursor, struct value *point,
                            struct err *err);

    /* strategy_tell for a method that learns; NULL: results change nothing. */
    void (*tell)(void *state, uint64_t trial, enum trial_outcome outcome,
                 const double *values, size_t count);
};

#define X(name) extern const struct strategy_method strategy_method_##name;
STRATEGY_METHODS(X)
#undef X

/* Streams of the generator, so that no two uses share numbers. */
enum strategy_stream {
    STREAM_POINT,    /* random: number of the candidate */
    STREAM_SCAN,     /* wrapper: number of the trial */
    STREAM_SCRAMBLE, /* sobol: number of the dimension */
    STREAM_SHUFFLE   /* sobol: number of the window */
};

/* Looks at so many infeasible points in a row before it is an error. */
enum { STRATEGY_LOOKS_MAX = 10000000 };

#endif
