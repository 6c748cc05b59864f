/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/container/runtime.h"
#include "orchestrator/spec/experiment/experiment_impl.h"

/* The keys of `container`. */

static const struct schema_key mount_element = {
    .name = "mount",
    .type = SCHEMA_TEXT,
    .min = 1,
};

static const struct schema_key option_element = {
    .name = "option",
    .type = SCHEMA_TEXT,
    .min = 1,
};

const struct schema_key experiment_container_keys[] = {
    {
        .name = "image",
        .known_as = "name uri",
        .type = SCHEMA_TEXT,
        .min = 1,
        .required = true,
        .doc = "The image, with ${{ }} templates: the name of one in a "
               "registry, with or without docker://, or the path of a file "
               "or folder of Apptainer. A path begins with /, ./, ../ or ~/, "
               "or ends with / or .sif. A relative path starts at the folder "
               "of the file.",
        .example = "images/train.sif",
    },
    {
        .name = "runtime",
        .known_as = "engine program",
        .type = SCHEMA_TEXT,
        .choices = container_runtime_names,
        .doc = "The program that runs the container.",
        .fallback = "the first in PATH of apptainer, singularity, podman and "
                    "docker",
        .example = "podman",
    },
    {
        .name = "mounts",
        .known_as = "binds bind volumes volume mount",
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .element = &mount_element,
        .doc = "Folders and files that the container sees besides those of "
               "the run, of this file, of the command's folder and of the "
               "channels: PATH, PATH:PATH_INSIDE or PATH:PATH_INSIDE:ro, with "
               "${{ }} templates. A relative PATH starts at the folder of the "
               "file.",
        .fallback = "none",
        .example = "[/data, /scratch/cache:/cache:ro]",
    },
    {
        .name = "options",
        .known_as = "args flags extra run_options",
        .type = SCHEMA_LIST,
        .element = &option_element,
        .doc = "Options for the runtime, behind those of smtune: of "
               "`apptainer exec`, `podman run` or `docker run`.",
        .fallback = "none",
        .example = "[--cleanenv, --no-home]",
    },
    {.name = NULL},
};
