/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/shim_path.h"
#include "orchestrator/job/channels.h"
#include "orchestrator/job/env_list.h"
#include "orchestrator/job/file_lists.h"
#include "orchestrator/job/launch_env.h"
#include "orchestrator/job/trial_files.h"
#include "orchestrator/spec/command/shebang.h"
#include "orchestrator/spec/experiment/container.h"
#include "orchestrator/spec/experiment/resources.h"
#include "orchestrator/spec/experiment/workdir.h"
#include "orchestrator/wrap/container.h"
#include "orchestrator/wrap/env_sources.h"
#include "orchestrator/wrap/setup.h"

struct launch {
    struct attempt_spec spec;
    struct attempt_pool pools[ATTEMPT_POOLS_MAX];
    char *job_directory, *ml_directory, *checkpoint_directory, *directory;
    char *work_directory; /* of the task; NULL: the run's */
    char *conda;          /* the environment of the task; or NULL */
    char *name;           /* of the job, for people */
    char **argv;
    char *script; /* for its file; NULL: it needs none */
    const struct job_spec *task;
    char **channel_paths; /* of the task's */
    struct env_list environment;
    struct word_list own;     /* names of the variables that its file sets */
    struct launch **reserves; /* [reserve_count of its spec] */
    struct attempt_spec *reserve_specs;
    struct slurm_ask ask; /* of its spec; the texts are the task's */
};

static char *script_path(const struct launch *launch)
{
    return fs_join(launch->directory, "command");
}

/* The script names its program: it becomes a file, which that program runs.
 * Takes the script's text. */
static int run_by_program(struct launch *launch, struct buf *script,
                          struct err *err)
{
    char *path = script_path(launch);

    launch->argv = shebang_words(buf_text(script), path);
    free(path);
    if (launch->argv == NULL)
        return err_set(err, ERR_FILE,
                       "the first line '#!' of the script names no program");
    launch->script = buf_take(script);
    return 0;
}

static int write_script(const struct launch *launch, struct err *err)
{
    enum { MODE = 0700 };
    char *path;
    int result;

    if (launch->script == NULL)
        return 0;
    path = script_path(launch);
    result = fs_write_atomic(path, launch->script, strlen(launch->script),
                             fs_shared_mode(path, MODE), err);
    free(path);
    return result;
}

static int expand_shell(struct launch *launch, const struct job_spec *spec,
                        const struct value *values, struct err *err)
{
    struct buf script = BUF_INIT;
    int result = template_expand(spec->command, values, &script, err);

    if (result == 0 && shebang_is_in(buf_text(&script)))
        result = run_by_program(launch, &script, err);
    else if (result == 0)
        launch->argv = script_words(spec->interpreter, buf_text(&script));
    buf_clear(&script);
    return result;
}

static int expand_command(struct launch *launch, const struct job_spec *spec,
                          const struct value *values, struct err *err)
{
    if (spec->is_shell)
        return expand_shell(launch, spec, values, err);
    launch->argv = template_expand_words(spec->command, values, err);
    return launch->argv == NULL ? -1 : 0;
}

/* A variable whose value is null is not set, also where smtune has it. */
static int expand_variable(struct launch *launch, const struct env_entry *entry,
                           const struct value *values, struct err *err)
{
    int null = template_is_null(entry->value, values, err);
    struct buf text = BUF_INIT;
    int result = null < 0 ? -1 : 0;

    if (null > 0)
        env_list_unset(&launch->environment, entry->name);
    if (null == 0)
        result = template_expand(entry->value, values, &text, err);
    if (null == 0 && result == 0)
        env_list_set(&launch->environment, entry->name, buf_text(&text));
    buf_clear(&text);
    return result;
}

/* Values that are not in its file. Takes the list's words. */
static void set_sources(struct launch *launch, struct word_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        char *name = list->items[i], *value = strchr(name, '=');

        *value++ = '\0';
        env_list_set(&launch->environment, name, value);
        word_list_copy(&launch->own, name);
    }
    words_free(list->items);
}

static int expand_environment(struct launch *launch,
                              const struct launch_site *site,
                              const struct job_spec *spec,
                              const struct value *values, struct err *err)
{
    struct word_list list = {0};
    int result = env_sources_read(spec, site->environment, &list, err);

    set_sources(launch, &list);
    for (size_t i = 0; i < spec->environment_count && result == 0; i++) {
        result = expand_variable(launch, &spec->environment[i], values, err);
        word_list_copy(&launch->own, spec->environment[i].name);
    }
    return result;
}

/* Where its command starts. */
static const char *work_directory(const struct launch *launch,
                                  const struct launch_site *site)
{
    return launch->work_directory != NULL ? launch->work_directory
                                          : site->work_directory;
}

static struct launch_places places_of(const struct launch *launch)
{
    return (struct launch_places){
        .directory = launch->job_directory,
        .checkpoint_directory = launch->checkpoint_directory,
        .attempt_directory = launch->directory,
    };
}

static int expand(struct launch *launch, const struct launch_site *site,
                  const struct launch_order *order, const struct value *values,
                  struct err *err)
{
    const struct launch_places places = places_of(launch);
    int result = 0;

    if (order->words != NULL) {
        launch->argv = order->words(order->user, &places, err);
        result = launch->argv == NULL ? -1 : 0;
    } else {
        result = expand_command(launch, order->task, values, err);
    }
    if (result == 0)
        result = expand_environment(launch, site, order->task, values, err);
    if (result == 0)
        result =
            workdir_expand(order->task, values, &launch->work_directory, err);
    if (result == 0 && order->words == NULL)
        result = conda_expand(order->task, values, &launch->conda, err);
    return result;
}

static int put_container(struct launch *launch, const struct launch_site *site,
                         const struct launch_order *order,
                         const struct value *values, struct err *err)
{
    const struct container_order container = {
        .task = order->task,
        .values = values,
        .resources = order->resources,
        .run_directory = workspaces_directory(site->workspaces),
        .attempt_directory = launch->directory,
        .work_directory = work_directory(launch, site),
        .channel_paths = launch->channel_paths,
        .variables = launch->own.items,
    };

    if (order->words != NULL)
        return 0;
    return container_put_in_front(&container, &launch->argv, err);
}

/* Puts words in front of the others, and takes them. */
static void put_in_front(struct launch *launch, char *const *before,
                         size_t before_count)
{
    size_t count = 0;

    while (launch->argv[count] != NULL)
        count++;
    launch->argv = mem_resize(launch->argv, before_count + count + 1,
                              sizeof(*launch->argv));
    memmove(launch->argv + before_count, launch->argv,
            (count + 1) * sizeof(*launch->argv));
    memcpy(launch->argv, before, before_count * sizeof(*before));
}

static int start_on_tty(struct launch *launch, struct err *err)
{
    char *const before[] = {shim_path(err), mem_copy_string("--tty"),
                            mem_copy_string("--")};

    if (before[0] != NULL) {
        put_in_front(launch, before, ARRAY_LEN(before));
        return 0;
    }
    free(before[1]);
    free(before[2]);
    return -1;
}

/* Puts `smtune launch` in front of the words. */
static void start_as_ranks(struct launch *launch,
                           const struct launch_order *order)
{
    const struct resources *resources = order->resources;
    char *folder = fs_program_directory();
    int nodes = resources->nodes > 1 ? resources->nodes : 1;
    char *before[10];
    size_t count = 0;

    before[count++] = fs_join(folder, "smtune");
    before[count++] = mem_copy_string("launch");
    before[count++] = mem_printf("--tasks=%d", resources->tasks);
    before[count++] = mem_printf("--nodes=%d", nodes);
    before[count++] = mem_printf("--grace=%" PRId64 "ms", resources->grace_ms);
    before[count++] = mem_printf("--logs=%s", launch->directory);
    if (resources->pins)
        before[count++] = mem_copy_string("--pin");
    if (resources->splits_gpus)
        before[count++] = mem_copy_string("--split-gpus");
    if (order->warn_signal != 0)
        before[count++] = mem_printf("--warning=%d", order->warn_signal);
    before[count++] = mem_copy_string("--");
    put_in_front(launch, before, count);
    free(folder);
}

static void fill_spec(struct launch *launch, const struct launch_site *site,
                      const struct launch_order *order)
{
    struct attempt_spec *spec = &launch->spec;

    *spec = resources_attempt_spec(order->resources);
    launch->ask = order->resources->slurm; /* a reserve outlives its trial */
    spec->slurm = &launch->ask;
    spec->attempt = order->attempt;
    spec->reserve = order->reserve;
    spec->directory = launch->directory;
    spec->work_directory = work_directory(launch, site);
    spec->argv = launch->argv;
    spec->envp = launch->environment.items;
    spec->own = (const char *const *)launch->own.items;
    spec->step = order->step;
    launch->name = order->name != NULL ? mem_copy_string(order->name)
                                       : mem_printf("%" PRId64, order->job);
    spec->job = launch->name;
    spec->pools = launch->pools;
    spec->pool_count = pools_claim(site->pools, order->task, launch->pools);
    spec->avoid = (const char *const *)order->avoid;
    spec->warn_signal = order->warn_signal;
    spec->warn_before_ms = order->warn_before_ms;
    spec->link_exits = order->link_exits;
}

static void set_environment(struct launch *launch,
                            const struct launch_site *site,
                            const struct launch_order *order)
{
    const struct launch_env names = {
        .run_name = site->run_name,
        .program_path = site->program_path,
        .job_directory = launch->job_directory,
        .attempt_directory = launch->directory,
        .ml_directory = launch->ml_directory,
        .job = order->job,
        .attempt = order->attempt,
        .attempt_number = order->attempt_number,
        .resource = order->resource,
        .copy = order->copy,
        .task = order->task,
        .resources = order->resources,
        .channel_paths = launch->channel_paths,
        .params = order->params,
        .strings = order->strings,
    };

    env_list_inherit(&launch->environment, site->environment);
    if (pools_variable(site->pools) != NULL)
        env_list_set(&launch->environment, POOLS_VARIABLE,
                     pools_variable(site->pools));
    launch_env_set(&launch->environment, &names);
}

static int refuse_values(struct err *err)
{
    err->kind = ERR_FILE;
    return -1;
}

static int fill(struct launch *launch, const struct launch_site *site,
                const struct launch_order *order, const struct value *values,
                struct err *err)
{
    const struct workspace_order wanted = {
        .job = order->job,
        .attempt_number = order->attempt_number,
        .inherits = order->inherits,
        .task = order->task,
        .copy = order->copy,
        .params = order->params,
        .strings = order->strings,
    };

    launch->task = order->task;
    launch->channel_paths = channels_paths(order->task, values, err);
    if (launch->channel_paths == NULL)
        return refuse_values(err);
    set_environment(launch, site, order);
    if (workspace_prepare(site->workspaces, &wanted, err) != 0)
        return -1;
    if (trial_files_write(order->task, values, launch->job_directory, err) != 0)
        return -1;
    if (expand(launch, site, order, values, err) != 0)
        return refuse_values(err);
    if (order->words == NULL &&
        file_lists_write(order->task, values,
                         &(struct file_lists_site){work_directory(launch, site),
                                                   order->allows_empty},
                         err) != 0)
        return -1;
    if (put_container(launch, site, order, values, err) != 0)
        return -1;
    return write_script(launch, err);
}

static int prepare(struct launch *launch, const struct launch_site *site,
                   const struct launch_order *order, struct err *err)
{
    const struct launch_places places = places_of(launch);
    struct value *values = order->columns(order->user, &places);
    int result = fill(launch, site, order, values, err);

    free(values);
    return result;
}

struct launch *launch_create(const struct launch_site *site,
                             const struct launch_order *order, struct err *err)
{
    struct launch *launch = mem_zero(sizeof(*launch));

    launch->job_directory = workspace_directory(site->workspaces, order->job);
    launch->ml_directory = mem_printf("%s/ml", launch->job_directory);
    launch->checkpoint_directory =
        mem_printf("%s/checkpoints", launch->ml_directory);
    launch->directory = workspace_attempt_directory(
        site->workspaces, order->job, order->attempt_number);
    if (prepare(launch, site, order, err) != 0 ||
        (order->task->has_tty && start_on_tty(launch, err) != 0)) {
        launch_destroy(launch);
        return NULL;
    }
    if (order->resources->tasks > 1)
        start_as_ranks(launch, order);
    if (order->words == NULL)
        launch->argv = setup_words(order->task, launch->conda, launch->argv,
                                   launch->directory);
    fill_spec(launch, site, order);
    return launch;
}

void launch_add_reserve(struct launch *launch, struct launch *reserve)
{
    size_t count = ++launch->spec.reserve_count;

    launch->reserves =
        mem_resize(launch->reserves, count, sizeof(struct launch *));
    launch->reserve_specs = mem_resize(launch->reserve_specs, count,
                                       sizeof(*launch->reserve_specs));
    launch->reserves[count - 1] = reserve;
    launch->reserve_specs[count - 1] = reserve->spec;
    launch->spec.reserves = launch->reserve_specs;
}

void launch_set_more(struct launch *launch, int64_t more)
{
    launch->spec.more = more;
}

const struct attempt_spec *launch_spec(const struct launch *launch)
{
    return &launch->spec;
}

void launch_destroy(struct launch *launch)
{
    if (launch == NULL)
        return;
    words_free(launch->argv);
    free(launch->script);
    for (size_t i = 0; i < launch->spec.reserve_count; i++)
        launch_destroy(launch->reserves[i]);
    free(launch->reserves);
    free(launch->reserve_specs);
    channels_free_paths(launch->task, launch->channel_paths);
    env_list_clear(&launch->environment);
    words_free(launch->own.items);
    free(launch->work_directory);
    free(launch->conda);
    free(launch->name);
    free(launch->job_directory);
    free(launch->ml_directory);
    free(launch->directory);
    free(launch->checkpoint_directory);
    free(launch);
}
