/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_SCHEDULE_H
#define SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_SCHEDULE_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

/*
 * The part of a session that a schedule has, for ask_tell.c alone: who goes on,
 * how far, and when it is done. Answers are new references, or NULL with err.
 */

struct ask_tell;
struct ask_tell_trial;

/* The file's schedule, if it has one. */
int ask_tell_schedule_open(struct ask_tell *ask_tell, struct err *err);

json_t *ask_tell_schedule_ask(struct ask_tell *ask_tell, const json_t *request,
                              struct err *err);
json_t *ask_tell_schedule_observe(struct ask_tell *ask_tell,
                                  const json_t *request, struct err *err);

/* Up to which resource the trial of a result has come: "budget", else what it
 * was given; 0: it does not matter. -1: it should have come further. */
int ask_tell_schedule_read_budget(const struct ask_tell *ask_tell,
                                  const json_t *request,
                                  const struct ask_tell_trial *end,
                                  uint64_t *budget, struct err *err);
/* What is to be answered where the result (a copy of the trial, with values and
 * outcome) is that of a rung, where the trial pauses; NULL: it is the last. */
json_t *ask_tell_schedule_pause(struct ask_tell *ask_tell, size_t number,
                                uint64_t budget,
                                const struct ask_tell_trial *end);
/* Adds what the schedule has to say of the trial. */
void ask_tell_schedule_describe(const struct ask_tell *ask_tell,
                                const struct ask_tell_trial *trial,
                                json_t *json);

#endif
