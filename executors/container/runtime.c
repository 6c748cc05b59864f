/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/container/runtime.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/fs.h"
#include "base/text.h"

const struct container_runtime container_runtimes[] = {
    {"apptainer", FAMILY_APPTAINER}, {"singularity", FAMILY_APPTAINER},
    {"podman", FAMILY_DOCKER},       {"docker", FAMILY_DOCKER},
    {NULL, FAMILY_APPTAINER},
};

const char *const container_runtime_names[] = {"apptainer", "singularity",
                                               "podman", "docker", NULL};

bool container_image_is_path(const char *image)
{
    static const char *const endings[] = {"/", ".sif", ".simg", ".img",
                                          ".sqsh"};

    if (text_begins_with(image, "/") || text_begins_with(image, "./") ||
        text_begins_with(image, "../"))
        return true;
    if (strstr(image, "://") != NULL)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (strlen(image) > strlen(endings[i]) &&
            text_ends_with(image, endings[i]))
            return true;
    return false;
}

const struct container_runtime *container_runtime_find(const char *name)
{
    for (size_t i = 0; container_runtimes[i].name != NULL; i++)
        if (name != NULL && strcmp(container_runtimes[i].name, name) == 0)
            return &container_runtimes[i];
    return &container_runtimes[0];
}

static bool is_program(const char *path)
{
    struct stat status;

    return access(path, X_OK) == 0 && stat(path, &status) == 0 &&
           S_ISREG(status.st_mode);
}

bool container_find_program(const char *name, const char *search_path,
                            char path[PATH_MAX])
{
    for (const char *at = search_path; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ":");
        int used = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name);

        if (*at == '/' && used < PATH_MAX && is_program(path))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static int refuse_missing(const char *runtime, const char *image,
                          struct err *err)
{
    if (runtime != NULL)
        return err_set(err, ERR_NOT_FOUND, "no program '%s' in PATH", runtime);
    if (container_image_is_path(image))
        return err_set(err, ERR_NOT_FOUND,
                       "'%s' needs Apptainer, and PATH has neither "
                       "apptainer nor singularity",
                       image);
    return err_set(err, ERR_NOT_FOUND,
                   "PATH has none of apptainer, singularity, podman "
                   "and docker");
}

int container_check_image(const char *image, struct err *err)
{
    if (image[0] != '/' || fs_exists(image))
        return 0;
    return err_set(err, ERR_NOT_FOUND, "no such file: '%s'", image);
}

int container_find(const char *runtime, const char *image,
                   const char *search_path, struct container_program *program,
                   struct err *err)
{
    bool is_path = container_image_is_path(image);
    const struct container_runtime *each = container_runtimes;

    for (; each->name != NULL; each++) {
        if (runtime != NULL ? strcmp(runtime, each->name) != 0
                            : is_path && each->family == FAMILY_DOCKER)
            continue;
        program->runtime = each;
        if (container_find_program(each->name, search_path, program->path))
            return 0;
    }
    return refuse_missing(runtime, image, err);
}
