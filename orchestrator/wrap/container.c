/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words before a command that runs in a container. They name the folders
 * that it is known to use: those of the run, so that a step reads what others
 * made, that of the file, that of the command, and the channels. One that is
 * inside of another needs no mount of its own.
 */
#include "orchestrator/wrap/container.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/word_list.h"
#include "executors/attempt/shim_path.h"
#include "executors/container/argv.h"
#include "orchestrator/spec/experiment/container.h"

struct build {
    struct container container;
    const struct container_order *order;
    char *image;
    char *kept;
    struct word_list paths; /* of its mounts */
};

static bool is_mounted(const struct build *build, const char *path)
{
    for (size_t i = 0; i < build->container.mount_count; i++) {
        const struct container_mount *mount = &build->container.mounts[i];

        if (!mount->is_read_only && strcmp(mount->source, mount->target) == 0 &&
            fs_is_within(path, mount->target))
            return true;
    }
    return false;
}

/* At the same place inside. A container has a / of its own. */
static void add_same(struct build *build, const char *path)
{
    char *absolute = fs_absolute(path);

    word_list_add(&build->paths, absolute);
    if (strcmp(absolute, "/") != 0 && !is_mounted(build, absolute))
        container_add_mount(&build->container, (struct container_mount){
                                                   absolute, absolute, false});
}

static int add_mounts(struct build *build, struct err *err)
{
    const struct container_order *order = build->order;
    const struct job_spec *task = order->task;

    add_same(build, order->run_directory);
    add_same(build, task->container.folder);
    add_same(build, order->work_directory);
    add_same(build, order->attempt_directory);
    for (size_t i = 0; i < task->channel_count && order->channel_paths; i++)
        add_same(build, order->channel_paths[i]);
    for (size_t i = 0; i < task->container.mount_count; i++) {
        struct container_mount mount;
        char *source, *target;

        if (container_expand_mount(task, i, order->values, &source, &target,
                                   &mount.is_read_only, err) != 0)
            return -1;
        word_list_add(&build->paths, source);
        word_list_add(&build->paths, target);
        mount.source = source;
        mount.target = target;
        container_add_mount(&build->container, mount);
    }
    return 0;
}

/* Where the run keeps an image of a registry, for runtimes that make a file of
 * it: for people its name, and for the machine a hash. */
static char *kept_path(const struct container_order *order, const char *image)
{
    enum { HASH_SHOWN = 8 };
    char hex[DIGEST_HEX_SIZE], *name = mem_copy_string(image), *path;

    digest_of(image, strlen(image), hex);
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '.')
            *c = '-';
    path = mem_printf("%s/images/%s-%.*s.sif", order->run_directory, name,
                      HASH_SHOWN, hex);
    free(name);
    return path;
}

static void add_variables(struct build *build)
{
    char *const *names = build->order->variables;
    struct container *container = &build->container;
    size_t count = 0;

    while (names != NULL && names[count] != NULL)
        count++;
    container->variables = mem_array(count, sizeof(*container->variables));
    for (size_t i = 0; i < count; i++)
        container->variables[container->variable_count++] = names[i];
}

static int fill(struct build *build, struct err *err)
{
    const struct container_order *order = build->order;
    const struct container_spec *spec = &order->task->container;
    struct container *container = &build->container;

    if (container_expand_image(order->task, order->values, &build->image,
                               err) != 0)
        return -1;
    container->image = build->image;
    if (container_image_is_remote(build->image))
        container->kept = build->kept = kept_path(order, build->image);
    container->runtime = spec->runtime;
    container->folder = order->attempt_directory;
    container->options = mem_array(spec->option_count, sizeof(char *));
    for (size_t i = 0; i < spec->option_count; i++)
        container->options[container->option_count++] = spec->options[i];
    container->memory_bytes = order->resources->memory_bytes;
    container->has_gpus = order->resources->gpus > 0;
    container->has_tty = order->task->has_tty;
    add_variables(build);
    return add_mounts(build, err);
}

static char **put(struct build *build, char *shim, char **argv)
{
    struct word_list words = {0};

    word_list_add(&words, shim);
    word_list_copy(&words, "--container");
    container_print(&build->container, &words);
    word_list_copy(&words, "--");
    for (size_t i = 0; argv[i] != NULL; i++)
        word_list_add(&words, argv[i]);
    free(argv);
    return words.items;
}

static void clear(struct build *build)
{
    container_clear(&build->container);
    words_free(build->paths.items);
    free(build->kept);
    free(build->image);
}

int container_put_in_front(const struct container_order *order, char ***argv,
                           struct err *err)
{
    struct build build = {.order = order};
    char *shim = NULL;

    if (order->task->container.image == NULL)
        return 0;
    if (fill(&build, err) == 0)
        shim = shim_path(err);
    if (shim != NULL)
        *argv = put(&build, shim, *argv);
    clear(&build);
    return shim != NULL ? 0 : -1;
}

/* By its name, so that PATH decides, as for a job. */
static void find_program(const struct container *container,
                         struct container_program *program)
{
    if (container_find(container->runtime, container->image, getenv("PATH"),
                       program, NULL) != 0)
        program->runtime = container_runtime_find(container->runtime);
    snprintf(program->path, sizeof(program->path), "%s",
             program->runtime->name);
}

int container_put_by_hand(const struct container_order *order,
                          char *const *environment, char ***argv,
                          const char **prefix, struct err *err)
{
    struct build build = {.order = order};
    struct container_program program;
    struct container_site site = {.program = &program,
                                  .work_directory = order->work_directory,
                                  .environment = environment};
    char **words;

    if (fill(&build, err) != 0) {
        clear(&build);
        return -1;
    }
    if (build.kept != NULL && !fs_exists(build.kept))
        build.container.kept = NULL; /* no attempt has pulled it */
    find_program(&build.container, &program);
    container_site_look(&site);
    words = container_argv(&build.container, &site, *argv);
    words_free(*argv);
    *argv = words;
    *prefix = container_variable_prefix(program.runtime);
    clear(&build);
    return 0;
}
