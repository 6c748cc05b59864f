/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/cached.h"

#include <stdlib.h>

#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"

void engine_take_result(struct engine *engine, struct job *job, int64_t from,
                        const json_t *outputs)
{
    job->outputs = json_deep_copy(outputs);
    json_object_del(job->outputs, CACHE_NOTE);
    job->cached_from = from;
    job->end = (struct attempt_exit){.cause = CAUSE_OK, .exit_code = -1};
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    if (engine_change_trial(engine, job, EVENT_REUSED,
                            attempt_cause_names[CAUSE_OK]))
        engine_tally_ended(engine, job, false);
}

void engine_note_miss(struct engine *engine, struct job *job, char *why)
{
    free(job->cache_note);
    job->cache_note = why;
    LOG(engine->log, LOG_ENGINE,
        job->cache_key != NULL ? LOG_INFO : LOG_WARNING, job->number, "%s",
        why);
}
