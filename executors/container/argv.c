/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One command in a container is the same command without: the same folders at
 * the same paths, the same user, network and shared memory, and no entry point
 * of the image in between. Apptainer does that by itself; Podman and Docker are
 * told to. A mount is written as `type=bind,...`, which alone can quote a path
 * with a colon or a comma; all four programs know it. What the file has under
 * `options` comes last, because the last one of two options counts.
 */
#include "executors/container/argv.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"

static void add_pair(struct word_list *words, const char *name,
                     const char *value)
{
    word_list_copy(words, name);
    word_list_copy(words, value);
}

/* ---- variables ---- */

bool container_passes(const struct container *container, const char *variable)
{
    static const char *const prefixes[] = {
        "SMTUNE_",
        "SM_",
        "SAGEMAKER_BASE_DIR=",
        "RANK=",
        "WORLD_SIZE=",
        "LOCAL_RANK=",
        "MASTER_ADDR=",
        "MASTER_PORT=",
        "LOCAL_WORLD_SIZE=",
        "SLURM_",
        "PMI_",
        "PMIX_",
        "OMP_NUM_THREADS=",
        "PYTHONUNBUFFERED=",
    };
    size_t length = strcspn(variable, "=");

    for (size_t i = 0; i < container->variable_count; i++)
        if (strlen(container->variables[i]) == length &&
            strncmp(container->variables[i], variable, length) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (text_begins_with(variable, prefixes[i]))
            return true;
    return false;
}

const char *container_variable_prefix(const struct container_runtime *runtime)
{
    if (runtime->family != FAMILY_APPTAINER)
        return NULL;
    return strcmp(runtime->name, "singularity") == 0 ? "SINGULARITYENV_"
                                                     : "APPTAINERENV_";
}

static const char *find_variable(char *const *environment, const char *name)
{
    size_t length = strlen(name);

    for (; *environment != NULL; environment++)
        if (text_begins_with(*environment, name) &&
            (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* ---- mounts ---- */

/* A field of comma-separated values, quoted where it has to be. */
static void add_field(const char *name, const char *value, struct buf *out)
{
    bool is_quoted = strpbrk(value, ",\"\n") != NULL;

    buf_printf(out, ",%s%s=", is_quoted ? "\"" : "", name);
    for (; *value != '\0'; value++) {
        if (*value == '"')
            buf_add_char(out, '"');
        buf_add_char(out, *value);
    }
    if (is_quoted)
        buf_add_char(out, '"');
}

static void add_mounts(const struct container *container, const char *read_only,
                       struct word_list *words)
{
    for (size_t i = 0; i < container->mount_count; i++) {
        const struct container_mount *mount = &container->mounts[i];
        struct buf text = BUF_INIT;

        buf_add_string(&text, "type=bind");
        add_field("source", mount->source, &text);
        add_field("destination", mount->target, &text);
        if (mount->is_read_only)
            buf_printf(&text, ",%s", read_only);
        word_list_copy(words, "--mount");
        word_list_add(words, buf_take(&text));
    }
}

static void add_options(const struct container *container,
                        struct word_list *words)
{
    for (size_t i = 0; i < container->option_count; i++)
        word_list_copy(words, container->options[i]);
}

/* ---- Apptainer ---- */

/* Names of images in files or in a daemon, which have a scheme without //. */
static bool has_local_scheme(const char *image)
{
    static const char *const schemes[] = {
        "docker-archive:", "oci-archive:", "docker-daemon:", "oci:",
        "instance:"};

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (text_begins_with(image, schemes[i]))
            return true;
    return false;
}

bool container_image_is_remote(const char *image)
{
    return !container_image_is_path(image) && !has_local_scheme(image);
}

/* A name without a scheme is one of a registry, as Docker has it. */
static char *apptainer_image(const char *image)
{
    bool has_scheme =
        !container_image_is_remote(image) || strstr(image, "://") != NULL;

    return mem_printf("%s%s", has_scheme ? "" : "docker://", image);
}

static void add_apptainer(const struct container *container,
                          const struct container_site *site,
                          struct word_list *words)
{
    word_list_copy(words, "exec");
    if (container->has_gpus)
        word_list_copy(words, site->has_amd ? "--rocm" : "--nv");
    add_pair(words, "--pwd", site->work_directory);
    add_mounts(container, "ro", words);
    add_options(container, words);
    word_list_add(words, container->kept != NULL
                             ? mem_copy_string(container->kept)
                             : apptainer_image(container->image));
}

char **container_pull_argv(const struct container_program *program,
                           const char *image, const char *path)
{
    struct word_list words = {0};

    word_list_copy(&words, program->path);
    add_pair(&words, "pull", path);
    word_list_add(&words, apptainer_image(image));
    return words.items;
}

/* ---- Podman and Docker ---- */

/* The names of a list of GPUs are those of the whole machine, and the command
 * sees no others, so it counts them anew. */
static void add_gpus(const struct container_site *site, bool is_podman,
                     struct word_list *words)
{
    const char *visible =
        find_variable(site->environment, "CUDA_VISIBLE_DEVICES");

    if (site->has_amd) {
        add_pair(words, "--device", "/dev/kfd");
        add_pair(words, "--device", "/dev/dri");
        return;
    }
    if (!is_podman) {
        word_list_copy(words, "--gpus");
        word_list_add(words, visible != NULL
                                 ? mem_printf("\"device=%s\"", visible)
                                 : mem_copy_string("all"));
        return;
    }
    for (const char *at = visible != NULL ? visible : "all"; *at != '\0';) {
        size_t length = strcspn(at, ",");

        word_list_copy(words, "--device");
        word_list_add(words,
                      mem_printf("nvidia.com/gpu=%.*s", (int)length, at));
        at += length + (at[length] == ',');
    }
}

/* Only the names: the values are in the environment of the runtime. */
static void add_variables(const struct container *container,
                          const struct container_site *site,
                          struct word_list *words)
{
    for (char *const *at = site->environment; *at != NULL; at++) {
        if (!container_passes(container, *at))
            continue;
        word_list_copy(words, "--env");
        word_list_add(words, mem_copy_bytes(*at, strcspn(*at, "=")));
    }
}

/* Files belong to the user outside. A user that the image does not know has no
 * home there. */
static void add_user(const struct container *container,
                     const struct container_site *site, bool is_podman,
                     struct word_list *words)
{
    if (is_podman)
        add_pair(words, "--security-opt", "label=disable");
    if (site->uid == 0)
        return;
    if (is_podman) {
        word_list_copy(words, "--userns=keep-id");
    } else {
        word_list_copy(words, "--user");
        word_list_add(words, mem_printf("%ju:%ju", (uintmax_t)site->uid,
                                        (uintmax_t)site->gid));
    }
    if (!container_passes(container, "HOME="))
        add_pair(words, "--env", "HOME=/tmp");
}

static void add_docker(const struct container *container,
                       const struct container_site *site,
                       struct word_list *words)
{
    bool is_podman = strcmp(site->program->runtime->name, "podman") == 0;
    const char *image = container->image;

    word_list_copy(words, "run");
    word_list_copy(words, "--rm");
    word_list_copy(words, "--init");
    if (site->name != NULL)
        add_pair(words, "--name", site->name);
    if (site->id_file != NULL)
        add_pair(words, "--cidfile", site->id_file);
    add_pair(words, "--network", "host");
    add_pair(words, "--ipc", "host");
    add_pair(words, "--entrypoint", "");
    add_pair(words, "--workdir", site->work_directory);
    add_user(container, site, is_podman, words);
    add_mounts(container, "readonly", words);
    add_variables(container, site, words);
    if (container->has_gpus)
        add_gpus(site, is_podman, words);
    if (container->memory_bytes > 0) {
        word_list_copy(words, "--memory");
        word_list_add(words, mem_printf("%" PRId64, container->memory_bytes));
    }
    if (container->has_tty)
        word_list_copy(words, "--tty");
    add_options(container, words);
    word_list_copy(words, text_begins_with(image, "docker://")
                              ? image + strlen("docker://")
                              : image);
}

void container_site_look(struct container_site *site)
{
    site->uid = geteuid();
    site->gid = getegid();
    site->has_amd =
        access("/dev/kfd", F_OK) == 0 && access("/dev/nvidiactl", F_OK) != 0;
}

char **container_argv(const struct container *container,
                      const struct container_site *site, char *const *command)
{
    struct word_list words = {0};

    word_list_copy(&words, site->program->path);
    if (site->program->runtime->family == FAMILY_APPTAINER)
        add_apptainer(container, site, &words);
    else
        add_docker(container, site, &words);
    for (; *command != NULL; command++)
        word_list_copy(&words, *command);
    return words.items;
}
