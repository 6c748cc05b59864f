/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_CONTAINER_RUNTIME_H
#define SMTUNE_EXECUTORS_CONTAINER_RUNTIME_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

/*
 * The programs that run containers, and the images that they take. Needs no
 * library but libc, for the shim's sake.
 */

/* How its command line and its processes are. */
enum container_family {
    FAMILY_APPTAINER, /* the command is a child of the runtime */
    FAMILY_DOCKER     /* the command is elsewhere, and has a name */
};

struct container_runtime {
    const char *name; /* also of its program */
    enum container_family family;
};

/* By preference; one without a name ends them. */
extern const struct container_runtime container_runtimes[];
/* Their names, NULL-ended, in the same order. */
extern const char *const container_runtime_names[];

/* The one of this name; NULL: the first of all. */
const struct container_runtime *container_runtime_find(const char *name);

struct container_program {
    const struct container_runtime *runtime;
    char path[PATH_MAX];
};

/* Whether the image is a file or a folder, not the name of one in a registry:
 * it begins with /, ./ or ../, or it ends with /, .sif, .simg, .img or .sqsh
 * and has no scheme. */
bool container_image_is_path(const char *image);

/* The absolute path of a program, in the absolute folders of search_path (of
 * $PATH; NULL: none). */
bool container_find_program(const char *name, const char *search_path,
                            char path[PATH_MAX]);

/*
 * The program of the runtime, looked for in search_path.
 * Without a runtime, the first of all that can run the image. 0, or -1 with a
 * message that names what is missing.
 */
int container_find(const char *runtime, const char *image,
                   const char *search_path, struct container_program *program,
                   struct err *err);

/* -1 with ERR_NOT_FOUND where the image is an absolute path and nothing is
 * there. */
int container_check_image(const char *image, struct err *err);

#endif
