/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/share.h"

#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/job/channels.h"

/*
 * Jobs of which each copy has a share of a channel's files. Before an attempt
 * such a job leaves the ready ones for the list `asked`, until its share is
 * there.
 */

static size_t count_shared(const struct job_spec *spec)
{
    size_t count = 0;

    for (size_t i = 0; i < spec->channel_count; i++)
        count += spec->channels[i].is_sharded;
    return count;
}

/* [count_shared()]; NULL where the paths cannot be told. */
static struct shard *find_shards(struct engine *engine, const struct job *job)
{
    const struct job_spec *spec = job->spec;
    struct workspaces *workspaces = engine->workspaces;
    char *directory = workspace_directory(workspaces, job->number);
    char *checkpoints =
        workspace_checkpoint_directory(engine->run->directory, job->number);
    const struct launch_places places = {directory, checkpoints, NULL};
    struct value *values = steps_values(engine->steps, job, &places);
    char **paths = channels_paths(spec, values, NULL);
    struct shard *shards =
        paths != NULL ? mem_array(count_shared(spec), sizeof(*shards)) : NULL;
    size_t step = (size_t)job->step, count = 0;

    for (size_t i = 0; shards != NULL && i < spec->channel_count; i++) {
        const char *name = spec->channels[i].name;

        if (spec->channels[i].is_sharded)
            shards[count++] = (struct shard){
                .channel = name,
                .source = mem_copy_string(paths[i]),
                .list = workspace_shard_list(
                    workspaces, engine->run->workflow->steps[step].name, name),
                .target =
                    mem_printf("%s/ml/" SHARDS_FOLDER "/%s", directory, name),
                .copy = job->copy,
                .copies = steps_copies(engine->steps, step),
                .allows_empty = engine->run->workflow->steps[step].allows_empty,
            };
    }
    channels_free_paths(spec, paths);
    free(values);
    free(directory);
    free(checkpoints);
    return shards;
}

bool engine_share_out(struct engine *engine, struct job *job)
{
    struct shard *shards;

    if (job->step < 0 || job->is_shared || count_shared(job->spec) == 0)
        return false;
    shards = find_shards(engine, job);
    if (shards == NULL)
        return false; /* it will fail for the same reason */
    sharing_ask(engine->sharing, shards, count_shared(job->spec), job);
    engine_set_aside(engine, job);
    return true;
}

void engine_on_shared(void *owner, void *user, const struct err *err)
{
    struct job *job = user;

    job->is_shared = true;
    if (err != NULL) {
        job->unshared = mem_zero(sizeof(*job->unshared));
        *job->unshared = *err;
    }
    engine_take_back(owner, job);
}
