/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/env_list.h"
#include "orchestrator/launch_env.h"
#include "orchestrator/setting.h"

struct launch {
    struct attempt_spec spec;
    char *trial_directory, *ml_directory, *checkpoint_directory, *directory;
    char **argv;
    struct env_list environment;
};

/* Whether the schedule says how far the trial may go. */
static bool has_end(int64_t resource)
{
    return resource > 0 && (uint64_t)resource != SCHEDULE_NO_MAX;
}

/* Up to which resource it runs, 0: to an end of its own. */
static int64_t resource_of(const struct launch_site *site,
                           const struct launch_order *order)
{
    const struct schedule *schedule = &site->experiment->schedule;

    if (!schedule->is_on)
        return (int64_t)schedule->options.max;
    return has_end(order->resource) ? order->resource : 0;
}

/* The columns of the experiment's templates: see experiment.h. */
static struct value *template_values(const struct launch_site *site,
                                     const struct launch *launch,
                                     const struct launch_order *order)
{
    size_t count = space_count(site->experiment->space);
    struct value *values = mem_array(count + EXTRA_COUNT, sizeof(*values));

    memcpy(values, order->point, count * sizeof(*values));
    values[count + EXTRA_TRIAL] = value_int(order->trial);
    values[count + EXTRA_RUN] = value_text(site->run_name);
    values[count + EXTRA_DIR] = value_text(launch->trial_directory);
    values[count + EXTRA_CHECKPOINT_DIR] =
        value_text(launch->checkpoint_directory);
    if (resource_of(site, order) > 0)
        values[count + EXTRA_RESOURCE] = value_int(resource_of(site, order));
    return values;
}

static int expand_shell(struct launch *launch, struct template *command,
                        const struct value *values, struct err *err)
{
    struct buf script = BUF_INIT;

    if (template_expand(command, values, &script, err) != 0) {
        buf_clear(&script);
        return -1;
    }
    launch->argv = mem_array(4, sizeof(*launch->argv));
    launch->argv[0] = mem_copy_string("/bin/sh");
    launch->argv[1] = mem_copy_string("-c");
    launch->argv[2] = buf_take(&script);
    return 0;
}

static int expand(struct launch *launch, const struct experiment *experiment,
                  const struct value *values, struct err *err)
{
    struct buf text = BUF_INIT;
    int result = 0;

    if (experiment->task.is_shell) {
        result = expand_shell(launch, experiment->task.command, values, err);
    } else {
        launch->argv =
            template_expand_words(experiment->task.command, values, err);
        result = launch->argv == NULL ? -1 : 0;
    }
    for (size_t i = 0; i < experiment->task.environment_count && result == 0;
         i++) {
        const struct env_entry *entry = &experiment->task.environment[i];

        buf_truncate(&text, 0);
        result = template_expand(entry->value, values, &text, err);
        if (result == 0)
            env_list_set(&launch->environment, entry->name, buf_text(&text));
    }
    buf_clear(&text);
    return result;
}

/* Puts `smtune launch` in front of the words. */
static void start_as_ranks(struct launch *launch,
                           const struct resources *resources)
{
    char *folder = fs_program_directory();
    char *const before[] = {
        fs_join(folder, "smtune"),
        mem_copy_string("launch"),
        mem_printf("--tasks=%d", resources->tasks),
        mem_printf("--grace=%" PRId64 "ms", resources->grace_ms),
        mem_printf("--logs=%s", launch->directory),
        mem_copy_string("--"),
    };
    size_t count = 0;

    while (launch->argv[count] != NULL)
        count++;
    launch->argv = mem_resize(launch->argv, ARRAY_LEN(before) + count + 1,
                              sizeof(*launch->argv));
    memmove(launch->argv + ARRAY_LEN(before), launch->argv,
            (count + 1) * sizeof(*launch->argv));
    memcpy(launch->argv, before, sizeof(before));
    free(folder);
}

static void fill_spec(struct launch *launch, const struct launch_site *site,
                      const struct resources *resources)
{
    struct attempt_spec *spec = &launch->spec;

    spec->directory = launch->directory;
    spec->work_directory = site->work_directory;
    spec->argv = launch->argv;
    spec->envp = launch->environment.items;
    spec->cpus = resources->cpus;
    spec->gpus = resources->gpus;
    spec->memory_bytes = resources->memory_bytes;
    spec->time_ms = resources->time_ms;
    spec->grace_ms = resources->grace_ms;
}

static void set_environment(struct launch *launch,
                            const struct launch_site *site,
                            const struct launch_order *order,
                            const json_t *params)
{
    const struct launch_env names = {
        .run_name = site->run_name,
        .program_path = site->program_path,
        .trial_directory = launch->trial_directory,
        .attempt_directory = launch->directory,
        .ml_directory = launch->ml_directory,
        .trial = order->trial,
        .attempt = order->attempt,
        .attempt_number = order->attempt_number,
        .resource = resource_of(site, order),
        .resources = order->resources,
    };

    env_list_inherit(&launch->environment, site->environment);
    launch_env_set(&launch->environment, &names, site->experiment, order->point,
                   params);
}

static int prepare(struct launch *launch, const struct launch_site *site,
                   const struct launch_order *order, struct err *err)
{
    const struct space *space = site->experiment->space;
    json_t *params = setting_json(space, order->point);
    json_t *strings = setting_strings_json(space, order->point);
    struct value *values = template_values(site, launch, order);
    int result;

    set_environment(launch, site, order, params);
    result = workspace_prepare(site->workspaces, order->trial,
                               order->attempt_number, params, strings, err);
    if (result == 0 && expand(launch, site->experiment, values, err) != 0) {
        err->kind = ERR_FILE;
        result = -1;
    }
    json_decref(params);
    json_decref(strings);
    free(values);
    return result;
}

struct launch *launch_create(const struct launch_site *site,
                             const struct launch_order *order, struct err *err)
{
    struct launch *launch = mem_zero(sizeof(*launch));

    launch->spec.attempt = order->attempt;
    launch->trial_directory =
        workspace_directory(site->workspaces, order->trial);
    launch->ml_directory = mem_printf("%s/ml", launch->trial_directory);
    launch->checkpoint_directory =
        mem_printf("%s/checkpoints", launch->ml_directory);
    launch->directory = workspace_attempt_directory(
        site->workspaces, order->trial, order->attempt_number);
    if (prepare(launch, site, order, err) != 0) {
        launch_destroy(launch);
        return NULL;
    }
    if (order->resources->tasks > 1)
        start_as_ranks(launch, order->resources);
    fill_spec(launch, site, order->resources);
    return launch;
}

const struct attempt_spec *launch_spec(const struct launch *launch)
{
    return &launch->spec;
}

void launch_destroy(struct launch *launch)
{
    if (launch == NULL)
        return;
    for (size_t i = 0; launch->argv != NULL && launch->argv[i] != NULL; i++)
        free(launch->argv[i]);
    free(launch->argv);
    env_list_clear(&launch->environment);
    free(launch->trial_directory);
    free(launch->ml_directory);
    free(launch->directory);
    free(launch->checkpoint_directory);
    free(launch);
}
