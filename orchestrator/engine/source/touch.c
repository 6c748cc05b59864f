/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune run --touch`: files that exist count as made. No command runs. A job
 * whose files are all there succeeds without an attempt, and one that lacks a
 * file fails. Once a job is put back, the user wants it to run: from then on
 * commands run, also those of later steps, which have something new to read.
 */
#include "orchestrator/engine/source/touch.h"

#include <stdio.h>

#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/source/cache.h"
#include "orchestrator/engine/source/flow_jobs.h"

static bool is_touched(const struct engine *engine, const struct job *job)
{
    const struct workflow *workflow = engine->run->workflow;

    return workflow->is_touched && !engine->steps->touch_is_over &&
           !job->is_reopened && job->attempt_number == 0 &&
           workflow->steps[job->step].kind != STEP_WORKFLOW;
}

/* What no file shows. NULL: its files do. */
static const char *refuse(const struct step *step)
{
    if (step->kind == STEP_EXPERIMENT)
        return "--touch: the result of an experiment is in no file";
    if (step->repeat.max > 0)
        return "--touch: no file shows how many rounds a step with 'repeat' "
               "had";
    return NULL;
}

static bool fail(struct engine *engine, struct job *job, const char *text)
{
    TAILQ_REMOVE(&engine->queues.ready, job, link);
    flow_end_at_once(engine, job, EVENT_FAILED, text);
    return true;
}

bool engine_touch(struct engine *engine, struct job *job)
{
    const char *refused;
    char text[sizeof(job->end.text)];
    struct err err;

    if (!is_touched(engine, job))
        return false;
    refused = refuse(&engine->run->workflow->steps[job->step]);
    if (refused != NULL)
        return fail(engine, job, refused);
    if (flow_read_files(engine, job, &err) != 0) {
        snprintf(text, sizeof(text), "--touch: %.*s", (int)sizeof(text) - 16,
                 err.text);
        return fail(engine, job, text);
    }
    if (engine_cache_seal(engine, job)) {
        engine_set_aside(engine, job);
        return true;
    }
    TAILQ_REMOVE(&engine->queues.ready, job, link);
    flow_end_at_once(engine, job, EVENT_REUSED, FLOW_ACCEPTED);
    return true;
}
