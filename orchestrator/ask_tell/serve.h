/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ASK_TELL_SERVE_H
#define SMTUNE_ORCHESTRATOR_ASK_TELL_SERVE_H

#include <stdint.h>

#include "base/err.h"

struct ask_tell;

/* How clients reach a session. Descriptors are borrowed; -1: there is none. */
struct serve_door {
    int in, out;  /* one client, with whose input the session ends */
    int listener; /* a socket: any number of clients, each with trials of its
                     own until it disconnects */
    int commands; /* a socket: commands of smtune itself */
    int stop;     /* the session ends when it is readable */
};

/*
 * Answers requests until the session is to end. Every line gets exactly one
 * answer, in the order of its client's lines. What one turn reads from all
 * clients shares one commit, and no answer leaves before it. 0; or -1: the
 * record could not be written, or the answers of `out` (without a text where
 * nobody reads them any more).
 */
int serve_clients(struct ask_tell *ask_tell, const struct serve_door *door,
                  struct err *err);

#endif
