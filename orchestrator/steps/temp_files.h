/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_TEMP_FILES_H
#define SMTUNE_ORCHESTRATOR_STEPS_TEMP_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/*
 * Removes temporary outputs in a thread of the loop's pool, for a folder may
 * hold a million files. For one engine.
 */
struct temp_files;

/* The outputs of one job. Absolute paths; those that are kept come behind the
 * others once it is done. */
struct temp_job {
    int64_t id;
    char **paths; /* [count] */
    size_t count, removed_count;
};

/*
 * Those of one step. A path is kept that is, or has in it, one of what is to
 * stay: by name, or because a link there leads to it.
 */
struct temp_order {
    size_t step;
    struct temp_job *jobs; /* [job_count] */
    size_t job_count, job_capacity;
    char **stay; /* [stay_count] absolute paths */
    size_t stay_count, stay_capacity;
    char *why; /* why the first that is kept is kept; NULL: none is */
};

/* From the loop, never from inside the call. */
typedef void temp_files_fn(void *owner, const struct temp_order *order);

struct temp_files *temp_files_create(uv_loop_t *loop, void *owner,
                                     temp_files_fn *done);
/* Tells nothing any more; the loop is held until the thread has stopped, and
 * what it has not begun stays. NULL is fine. */
void temp_files_destroy(struct temp_files *files);

/* Takes the order, with all in it, from malloc. */
void temp_files_remove(struct temp_files *files, struct temp_order *order);
void temp_order_destroy(struct temp_order *order);

#endif
