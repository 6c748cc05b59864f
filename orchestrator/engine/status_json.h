/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_STATUS_JSON_H
#define SMTUNE_ORCHESTRATOR_ENGINE_STATUS_JSON_H

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/engine/engine.h"

/*
 * What an engine tells its owner, as lines on its socket:
 *
 *   {"event": "status", ...}   how it stands, now and then
 *   {"event": "trial", ...}    a trial has come to an end, or will be retried
 *   {"event": "ended", ...}    the run's end, the last line
 *
 * A json_t * returned is a new reference. Numbers that JSON lacks are words.
 */

json_t *status_json_from_status(const struct engine_status *status);
json_t *status_json_from_trial(const struct experiment *experiment,
                               const struct engine_trial *trial);
json_t *status_json_from_result(const struct engine_result *result);

/* A line as the other end gets it; its fields are valid as long as it is. */
struct status_json {
    const char *event; /* "status", "trial", "ended", or another */
    struct engine_status status;
    struct engine_trial trial;
    struct engine_result result;
    /* what they point to */
    json_t *json;
    struct tally tally;
    struct engine_steps steps;
    double *values, *outcomes;
    struct value *point;
};

/* Reads a line. A trial's fields are those of the experiment. -1 (ERR_FAILED)
 * when it makes no sense. status_json_clear in every case. */
int status_json_read(struct status_json *live,
                     const struct experiment *experiment, const char *line,
                     size_t length, struct err *err);
void status_json_clear(struct status_json *live);

#endif
