/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_CONTROL_ONCE_H
#define SMTUNE_ORCHESTRATOR_RUN_CONTROL_ONCE_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct store;

/*
 * Requests to an engine that must not be done twice (control.h). Each has an id
 * of its own, and the engine writes its answer into the record, with the id, in
 * the transaction of what it does. So who asked an engine that died before its
 * answer came finds there whether it was done; and where it was not, nobody
 * will do it any more.
 */

/* ---- who asks ---- */

struct control_order {
    struct store *store; /* for reading, at least */
    int64_t run;
    const char *run_directory;
    int limit_ms; /* for an engine that starts, and then for its answer */
};

enum control_outcome {
    CONTROL_ERROR = -1,
    CONTROL_DONE = 0,       /* and the run has an engine */
    CONTROL_NO_ENGINE = 1,  /* nothing was done */
    CONTROL_ENGINE_DIED = 2 /* it was done, and now there is none */
};

/*
 * Takes the request over. *reply, which the caller lets go of, is the answer
 * where it was done, else NULL. ERR_BUSY where none came in time: it may still
 * be done. Else an error says that it was not.
 */
enum control_outcome control_call_once(const struct control_order *order,
                                       json_t *request, json_t **reply,
                                       struct err *err);

/* ---- who is asked ---- */

/* ERR_USAGE where a request has an id that is none. */
int control_check_id(const json_t *request, struct err *err);
/* In the open transaction: the answer, which gets the id, if the request has
 * one. */
int control_record_answer(struct store *store, int64_t run,
                          const json_t *request, json_t *answer,
                          struct err *err);

#endif
