/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_CONTAINER_CONTAINER_H
#define SMTUNE_EXECUTORS_CONTAINER_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/word_list.h"

/*
 * A container for one command: `smtune-shim --container` gets it as words, on
 * the machine where the command runs, and finds the runtime there.
 */

struct container_mount {
    const char *source, *target; /* absolute */
    bool is_read_only;
};

struct container {
    const char *image;   /* as in the file; a path is absolute */
    const char *runtime; /* NULL: the first that is there */
    const char *folder;  /* of the attempt */
    const char *kept;    /* where Apptainer keeps one of a registry; or NULL */
    struct container_mount *mounts;
    size_t mount_count;
    const char **options; /* for the runtime, behind all others */
    size_t option_count;
    const char **variables; /* names that it gets besides smtune's */
    size_t variable_count;
    int64_t memory_bytes; /* 0: no limit */
    bool has_gpus;
    bool has_tty;
};

void container_add_mount(struct container *container,
                         struct container_mount mount);

/* Appends the words that container_read() reads, without the command. */
void container_print(const struct container *container,
                     struct word_list *words);

/*
 * Reads them from NULL-ended words; the texts stay those of the words, and
 * container_clear() frees the lists. The command, behind "--"; NULL with an
 * error.
 */
char **container_read(char **words, struct container *container,
                      struct err *err);
void container_clear(struct container *container);

#endif
