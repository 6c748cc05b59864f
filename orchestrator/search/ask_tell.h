/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_ASK_TELL_H
#define SMTUNE_ORCHESTRATOR_SEARCH_ASK_TELL_H

#include <stddef.h>

#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * The search of an experiment in the hands of another program, which runs the
 * trials itself: a line of JSON in, a line of JSON out.
 * docs/howto-ask-and-tell.md has the requests. The budget is the other
 * program's affair; the file's is only what the method plans with. Nothing is
 * recorded.
 */

struct buf;
struct ask_tell;
struct warm_start;

enum { ASK_TELL_MAX_LINE = 1 << 20, ASK_TELL_MAX_ASK = 10000 };

/* The experiment is borrowed; earlier results (NULL: none) are not. NULL with
 * err as strategy_create. */
struct ask_tell *ask_tell_create(const struct experiment *experiment,
                                 const struct warm_start *warm,
                                 struct err *err);
void ask_tell_destroy(struct ask_tell *ask_tell); /* NULL is none */

/*
 * Does what the line (without its newline) asks for, and appends the answer
 * with its newline; what is wrong is answered with {"error": "..."}, and has
 * changed nothing.
 */
void ask_tell_answer(struct ask_tell *ask_tell, const char *line, size_t length,
                     struct buf *out);

#endif
