/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/executors.h"

#include "executors/machine/cpus.h"
#include "orchestrator/engine/core/machine_check.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/nodes.h"
#include "orchestrator/engine/reading.h"
#include "orchestrator/engine/started.h"
#include "orchestrator/engine/submit.h"

/* The executors of a session, and which file takes which of their events. */

static void on_broken(void *user, const struct err *err)
{
    engine_break(user, err);
}

static void on_room(void *user)
{
    engine_start_committed(user);
}

static int64_t parallel_of(const struct experiment *experiment,
                           const struct executor_options *executor)
{
    int cpus = executor->cpus;

    if (experiment->budget.parallel > 0)
        return experiment->budget.parallel;
    if (executor->parallel > 0)
        return executor->parallel;
    if (cpus < 0)
        cpus = cpus_find("");
    if (experiment->task.resources.cpus > 1)
        cpus /= experiment->task.resources.cpus;
    return cpus > 0 ? cpus : 1;
}

int64_t engine_find_parallel(const struct run *run)
{
    int64_t most = parallel_of(run->experiment, &run->experiment->executor);
    size_t count = run->workflow != NULL ? run->workflow->executor_count : 0;

    for (size_t i = 0; i < count; i++) {
        int64_t its =
            parallel_of(run->experiment, &run->workflow->executors[i]);

        if (its > most)
            most = its;
    }
    return most;
}

static int open_executor(struct engine *engine, struct executor_options options,
                         struct err *err)
{
    const struct executor_events events = {
        .queued = engine_on_queued,
        .started = engine_on_started,
        .ended = engine_on_ended,
        .room = on_room,
        .broken = on_broken,
        .node = engine_on_node,
        .note = engine_on_note,
        .user = engine,
    };
    struct executor *executor;

    options.parallel = (int)parallel_of(engine->experiment, &options);
    options.state_directory = engine->run->directory;
    options.run = engine->run->name;
    options.log = engine->log;
    executor = executor_create(&engine->loop, &options, &events, err);
    if (executor == NULL)
        return -1;
    engine->executors[engine->executor_count++] = executor;
    return 0;
}

int engine_open_executors(struct engine *engine, struct err *err)
{
    const struct workflow *workflow = engine->run->workflow;

    if (engine_check_machine(engine, err) != 0)
        return -1;
    if (workflow == NULL)
        return open_executor(engine, engine->experiment->executor, err);
    for (size_t i = 0; i < workflow->executor_count; i++) {
        if (open_executor(engine, workflow->executors[i], err) != 0)
            return -1;
    }
    return 0;
}
