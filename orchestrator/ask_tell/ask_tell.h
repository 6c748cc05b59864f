/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_H
#define SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * The search of an experiment in the hands of other programs, which run the
 * trials themselves: a line of JSON in, a line of JSON out.
 * docs/howto-ask-and-tell.md has the requests.
 *
 * Without a run nothing is recorded, and the budget is the other program's
 * affair; the file's is only what the method plans with. With a run, each
 * trial, attempt and result is in the record as an engine would have it, and
 * the run's budget ends it.
 */

struct ask_tell;
struct buf;
struct run;
struct warm_start;

enum { ASK_TELL_MAX_LINE = 1 << 20, ASK_TELL_MAX_ASK = 10000 };

/* The experiment is borrowed; earlier results (NULL: none) are not. NULL with
 * err as strategy_create. */
struct ask_tell *ask_tell_create(const struct experiment *experiment,
                                 const struct warm_start *warm,
                                 struct err *err);

/* The search of a run whose lock the caller holds, from where the record has
 * it: trials that an earlier session left open are given back. Committed. The
 * run is borrowed. NULL with err. */
struct ask_tell *ask_tell_open(struct run *run, struct err *err);

/* Drops what was not committed; the session can do nothing but be closed. */
void ask_tell_abandon(struct ask_tell *ask_tell);

/* Of a run: trials that are open are given back, and the run has ended, or is
 * stopped and can continue. Committed. 0 where nothing is recorded; -1 with
 * err. */
int ask_tell_close(struct ask_tell *ask_tell, struct err *err);

void ask_tell_destroy(struct ask_tell *ask_tell); /* NULL is none */

/*
 * Does what a client's line (without its newline) asks for, and appends the
 * answer with its newline; what is wrong is answered with {"error": "..."}, and
 * has changed nothing. Trials that are asked for are the client's until it
 * reports their end. No answer may leave before ask_tell_commit().
 */
void ask_tell_answer(struct ask_tell *ask_tell, int64_t client,
                     const char *line, size_t length, struct buf *out);

/* The same for a command of smtune on the socket of the run's engine, of which
 * there is none here. */
void ask_tell_command(struct ask_tell *ask_tell, const char *line,
                      size_t length, struct buf *out);

/* The client is gone: others may ask for its open trials. */
void ask_tell_leave(struct ask_tell *ask_tell, int64_t client);

/* What was answered so far is durable. 0 where nothing is recorded. -1: the
 * record lacks some of it, and the session cannot go on; a later one continues
 * from the last commit. */
int ask_tell_commit(struct ask_tell *ask_tell, struct err *err);

#endif
