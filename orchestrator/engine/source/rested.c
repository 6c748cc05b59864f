/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/rested.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/search/search.h"

static int on_rested(void *user, const struct trial_row *row)
{
    struct rested *rested = user;

    rested->job = row->job;
    return search_point(rested->engine->experiment->space, row, rested->point,
                        rested->err);
}

static int on_observation(void *user, const struct observation_row *row)
{
    struct rested *rested = user;

    if (row->resource < rested->below)
        rested->resource = row->resource;
    rested->is_stopped =
        strcmp(row->decision, decision_names[DECIDE_STOP]) == 0;
    return 0;
}

int rested_find(struct rested *rested, struct err *err)
{
    const struct engine *engine = rested->engine;
    struct trial_query query = {.run = engine->run->id,
                                .number = rested->number};

    rested->err = err;
    if (store_each_trial(engine->store, &query, on_rested, rested, err) != 0)
        return -1;
    return store_each_observation(engine->store, engine->run->id, rested->job,
                                  on_observation, rested, err);
}

int rested_locate(const struct engine *engine, struct job *job, struct err *err)
{
    struct rested own = {.engine = engine, .below = INT64_MAX};
    struct rested parent = {
        .engine = engine, .number = job->parent, .below = job->resource};
    int result;

    if (!job->is_scheduled)
        return 0;
    result = store_each_observation(engine->store, engine->run->id, job->id,
                                    on_observation, &own, err);
    if (own.is_stopped)
        job->wish = WISH_GIVE_UP;
    if (!scheduler_pauses(engine->scheduler))
        return result;
    if (result == 0 && own.resource == 0 && job->parent > 0) {
        parent.point = mem_array(space_count(engine->experiment->space),
                                 sizeof(*parent.point));
        result = rested_find(&parent, err);
        free(parent.point);
    }
    job->paused_at = own.resource > 0 ? own.resource : parent.resource;
    if (job->attempt == 0 && engine->experiment->task.has_checkpoints)
        job->from = job->paused_at;
    return result;
}
