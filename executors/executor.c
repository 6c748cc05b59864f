/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/executor.h"

#include <string.h>

#include "base/text.h"
#include "executors/executor_impl.h"

static const struct executor_type *const types[] = {
    &executor_local,
    &executor_slurm,
    &executor_fake,
};

static const char *const names[ARRAY_LEN(types) + 1] = {"local", "slurm",
                                                        "fake"};

static const struct executor_type *find_type(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    }
    return NULL;
}

struct executor *executor_create(uv_loop_t *loop,
                                 const struct executor_options *options,
                                 const struct executor_events *events,
                                 struct err *err)
{
    const struct executor_type *type = find_type(options->name);

    if (type != NULL)
        return type->create(loop, options, events, err);
    text_unknown("executor", options->name, names, ARRAY_LEN(types), ERR_FILE,
                 err);
    return NULL;
}

void executor_destroy(struct executor *executor, void (*done)(void *user),
                      void *user)
{
    executor->type->destroy(executor, done, user);
}

enum start_result executor_start(struct executor *executor,
                                 const struct attempt_spec *spec,
                                 uint32_t *lacks, struct err *err)
{
    return executor->type->start(executor, spec, lacks, err);
}

void executor_cancel(struct executor *executor, int64_t attempt,
                     enum cancel_mode mode)
{
    executor->type->cancel(executor, attempt, mode);
}

int executor_reattach(struct executor *executor,
                      const struct attempt_spec *spec, struct err *err)
{
    return executor->type->reattach(executor, spec, err);
}

void executor_avoid(struct executor *executor, const char *const *nodes)
{
    executor->type->avoid(executor, nodes);
}

bool executor_has_reserves(const struct executor *executor)
{
    return executor->type->has_reserves;
}

int executor_cpus(const struct executor *executor)
{
    return executor->type->cpus(executor);
}

int executor_gpus(const struct executor *executor)
{
    return executor->type->gpus(executor);
}

int executor_check(const struct executor_options *options,
                   const struct attempt_spec *spec, struct err *err)
{
    const struct executor_type *type = find_type(options->name);

    return type != NULL && type->check != NULL ? type->check(options, spec, err)
                                               : 0;
}

int executor_preview(const struct executor_options *options,
                     const struct attempt_spec *spec, const char *folder,
                     struct buf *out, struct err *err)
{
    const struct executor_type *type = find_type(options->name);

    if (type != NULL && type->preview != NULL)
        return type->preview(options, spec, folder, out, err);
    return err_set(err, ERR_USAGE, "the executor '%s' submits no scripts",
                   options->name);
}

const char *const *executor_names(void)
{
    return names;
}
