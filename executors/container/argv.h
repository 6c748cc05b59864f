/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_CONTAINER_ARGV_H
#define SMTUNE_EXECUTORS_CONTAINER_ARGV_H

#include <sys/types.h>

#include "executors/container/container.h"
#include "executors/container/runtime.h"

/* Where the container is started: what no file says. */
struct container_site {
    const struct container_program *program;
    const char *work_directory;
    char *const *environment;
    const char *name;    /* of the container, or NULL: it needs none */
    const char *id_file; /* which the runtime makes once it has one, or NULL */
    uid_t uid;
    gid_t gid;
    bool has_amd; /* its GPUs are AMD's */
};

/* Fills in the user, and whose GPUs this machine has. */
void container_site_look(struct container_site *site);

/* The words that run the command in the container, NULL-ended, to be freed by
 * words_free(). */
char **container_argv(const struct container *container,
                      const struct container_site *site, char *const *command);

/* Those of Apptainer that put the image of a registry into a file. */
char **container_pull_argv(const struct container_program *program,
                           const char *image, const char *path);

/* Whether Apptainer takes the image from a registry. */
bool container_image_is_remote(const char *image);

/*
 * Whether the variable `NAME=...` is for the command, also where the container
 * has an environment of its own: those of smtune, of its ranks and of the file.
 */
bool container_passes(const struct container *container, const char *variable);

/* What begins the name of a variable that goes before the image's own one, for
 * Apptainer; NULL for the others, whose every option --env does. */
const char *container_variable_prefix(const struct container_runtime *runtime);

#endif
