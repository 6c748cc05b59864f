/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_JSON_H
#define SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/job/states.h"

/*
 * Reading requests of a session, for its own files alone. All return 0 or -1
 * (NULL) with err. A number that is not finite may come as null, as a text
 * ("nan", "-inf") or as the words NaN, Infinity and -Infinity, which JSON does
 * not know and many programs write all the same.
 */

/* A JSON object. A new reference. */
json_t *ask_tell_parse(const char *line, size_t length, struct err *err);

const char *ask_tell_read_text(const json_t *request, const char *key,
                               struct err *err);
/* Leaves *count where the key is left out. */
int ask_tell_read_count(const json_t *request, const char *key, int64_t max,
                        int64_t *count, struct err *err);
int ask_tell_read_id(const json_t *request, int64_t *id, struct err *err);
/* "state", in which a trial ended; left out: JOB_SUCCEEDED. */
int session_read_state(const json_t *request, enum job_state *state,
                       struct err *err);
/* Whether there is a "value" or "values". */
bool ask_tell_has_values(const json_t *request);
/* "value", or "values" with as many as there are objectives. */
int ask_tell_read_values(const json_t *request, double *values, size_t count,
                         struct err *err);
/* "constraints". */
int ask_tell_read_constraints(const json_t *request, double *outcomes,
                              size_t count, struct err *err);
/* "value". */
int ask_tell_read_value(const json_t *request, double *value, struct err *err);
int ask_tell_read_integer(const json_t *request, const char *key,
                          int64_t *number, struct err *err);
/* Leaves *flag where the key is left out. */
int ask_tell_read_flag(const json_t *request, const char *key, bool *flag,
                       struct err *err);

#endif
