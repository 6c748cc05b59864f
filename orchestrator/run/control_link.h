/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_CONTROL_LINK_H
#define SMTUNE_ORCHESTRATOR_RUN_CONTROL_LINK_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* The other end of an engine's socket (control.h): for commands. It waits, but
 * never for long. */
struct control_link;

/*
 * Sends a request, which it takes over, and waits for the reply. 0 with *reply,
 * which the caller lets go of (reply NULL: it is not wanted), and *link, on
 * which more may come (link NULL: nothing more is wanted); 1 when the run has
 * no engine; -1, with the engine's own error where it refuses, or ERR_BUSY when
 * none came in time: what was asked may still be done then. An engine that has
 * only just started is waited for; where it ends before it has replied, the
 * next one is asked, if there is one: this is for what may be done twice.
 */
int control_call(const char *run_directory, json_t *request,
                 struct control_link **link, json_t **reply, struct err *err);
/* The same, where nobody can wait for long. */
int control_call_within(const char *run_directory, json_t *request,
                        int limit_ms, json_t **reply, struct err *err);
/* The same, of one engine alone: 2 when it ends before it has replied. For what
 * must not be done twice (control_once.h). */
int control_call_one(const char *run_directory, const json_t *request,
                     int limit_ms, json_t **reply, struct err *err);
void control_hang_up(struct control_link *link); /* NULL is none */

/* To be polled for input before control_take. */
int control_descriptor(const struct control_link *link);
/* Reads what has come. -1 when the engine is gone. */
int control_take(struct control_link *link);
/* The next line that has come, until the next call; NULL: there is none yet. */
const char *control_next_line(struct control_link *link, size_t *length);

#endif
