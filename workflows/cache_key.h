/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_CACHE_KEY_H
#define SMTUNE_WORKFLOWS_CACHE_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "workflows/file_hashes.h"

/*
 * `cache`: what a job's result hangs on, as one hash. Two jobs with the same
 * key would do the same.
 */

/* The files a job reads. */
struct cache_inputs {
    const char *work_directory; /* that relative paths start from */
    const char *const *paths;   /* [count]: files, folders, globs */
    size_t count;
    bool allows_empty; /* globs that match nothing */
    /* The hash of inputs that may be missing, by absolute path; NULL: none. */
    const json_t *known;
    /* Gets the hash of each part of the key by its name for people; NULL: these
     * are not wanted. Of many inputs the first are kept. */
    json_t *parts;
};

/*
 * The key of a job: of `facts`, everything about it that is no file's contents,
 * as one JSON object whose keys are always in the same order; and of each input
 * by its name, as it is written in the file, and its hash. A glob stands for
 * all that it matches, in the order of their bytes; the work directory itself
 * does not count. -1 where an input is not there or cannot be read, or a glob
 * matches nothing, also once another thread has set *stop.
 */
int cache_key(const json_t *facts, const struct cache_inputs *inputs,
              struct file_hashes *hashes, const atomic_bool *stop,
              char hex[DIGEST_HEX_SIZE], struct err *err);

#endif
