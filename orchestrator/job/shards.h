/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_SHARDS_H
#define SMTUNE_ORCHESTRATOR_JOB_SHARDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * The files of a channel, split over the copies of a step: each copy gets a
 * folder of symbolic links to its share. Which files there are is written down
 * when the first copy asks, so that all copies, and all their attempts, share
 * out the same ones, whatever comes and goes meanwhile. To have it looked up
 * anew, remove the list.
 *
 * A file's key is its path below the folder, and keys are in the order of their
 * bytes (matrix_shard). A symbolic link counts as a file and is not followed;
 * what is neither file nor link counts for nothing. A channel that is one file
 * is that file, by its name.
 */

/* Where a job's channels that are shared out are, in SAGEMAKER_BASE_DIR. */
#define SHARDS_FOLDER "input/data"

enum { SHARD_FILES_MAX = 1000000, SHARD_LIST_BYTES_MAX = 256 << 20 };

struct shard {
    const char *channel; /* its name, for errors; borrowed */
    char *source;        /* absolute: a folder or a file */
    char *list;          /* the list's file; its folder is made */
    char *target;        /* absolute: the folder of links; what is there goes */
    int64_t copy, copies;
    bool allows_empty; /* a source without a file */
};

/* ERR_FILE where the source is not there, empty or too large, ERR_FAILED also
 * once another thread has set *stop (NULL: none will). The error names the
 * channel.
 */
int shards_link(const struct shard *shard, const atomic_bool *stop,
                struct err *err);

#endif
