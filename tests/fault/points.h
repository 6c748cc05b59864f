/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_POINTS_H
#define SMTUNE_TESTS_FAULT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fault points: the calls by which a program touches the world, counted, and
 * made to fail where SMTUNE_FAULT says. Linked into build/fault/ and
 * build/san/fault/ alone.
 *
 *     SMTUNE_FAULT=PROGRAM:ACTION:CALL@FIRST[+|..LAST][,...]
 *
 *     smtune:kill:change@12         SIGKILL just before the 12th change
 *     smtune:EIO:fsync@3            the third one fails
 *     smtune-shim:ENOSPC:write@5+   the fifth, and from then on each
 *     smtune:EAGAIN:spawn@1..4      the first four
 *     smtune:short:write@2+         half of what was asked, from the second on
 *     smtune:+year:clock@9+         the wall clock jumps by a year
 *
 * A program counts for itself, from its start; `change` counts every call that
 * can leave a trace, whatever it is. What was done goes into the file
 * SMTUNE_FAULT_LOG: a line for each fault when it strikes first, and at the
 * end of a program one with its counts. With that file, a fault at one point
 * strikes one process only, though each agent comes to it in turn.
 */

#define POINT_CALLS(X)                                                         \
    X(POINT_CHANGE, "change")                                                  \
    X(POINT_MALLOC, "malloc")                                                  \
    X(POINT_OPEN, "open")                                                      \
    X(POINT_READ, "read")                                                      \
    X(POINT_WRITE, "write")                                                    \
    X(POINT_FSYNC, "fsync")                                                    \
    X(POINT_TRUNCATE, "truncate")                                              \
    X(POINT_RENAME, "rename")                                                  \
    X(POINT_REMOVE, "remove")                                                  \
    X(POINT_MKDIR, "mkdir")                                                    \
    X(POINT_SPAWN, "spawn")                                                    \
    X(POINT_SEND, "send")                                                      \
    X(POINT_COMMIT, "commit")                                                  \
    X(POINT_CLOCK, "clock")

enum point_call {
#define X(symbol, word) symbol,
    POINT_CALLS(X)
#undef X
        POINT_CALL_COUNT
};

struct fault;

/*
 * Counts a call that is about to be made, also as a change if it is one.
 * Returns what is to befall it, NULL: nothing. Does not return where the
 * program is to be killed.
 */
const struct fault *point_reach(enum point_call call, bool changes);

/* Whether the call is to fail; errno is set then. */
bool fault_fails(const struct fault *fault);

/* How much of the bytes is to be read or written. */
size_t fault_shorten(const struct fault *fault, size_t length);

/* By how much the wall clock is wrong. */
int64_t fault_jump_s(const struct fault *fault);

/* This process is a fork of the one that counted so far. */
void point_forked(void);

#endif
