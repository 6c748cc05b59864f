/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_METHODS_STARTUP_H
#define SMTUNE_STRATEGIES_METHODS_STARTUP_H

#include "strategies/strategy_impl.h"

/*
 * The points that a learning method begins with, before there is enough to
 * learn from: the scrambled Sobol sequence of strategies/methods/sobol.c.
 * ask->cursor is the position in it, for all methods, so that one may take over
 * from another.
 */

struct startup;

/* NULL with err as strategy_method_sobol. space is borrowed. */
struct startup *startup_create(const struct strategy_options *options,
                               struct space *space, struct err *err);
void startup_destroy(struct startup *startup); /* NULL is none */

/* The next point of the sequence that ask_accepts; ASK_EXHAUSTED after 1,000
 * that it does not. Fills in ask->reason but for its method. */
enum ask_result startup_next(struct startup *startup, struct ask *ask,
                             struct err *err);

#endif
