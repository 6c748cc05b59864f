/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_FILE_HASHES_H
#define SMTUNE_WORKFLOWS_FILE_HASHES_H

#include <stdatomic.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"

/*
 * SHA-256 of what files and folders hold. A file is read once, as long as it is
 * the same by its inode, size and time of change; one that was changed in the
 * last two seconds is read again, as it may change within that time's grain.
 * For one thread at a time.
 */

struct file_hashes;

struct file_hashes *file_hashes_create(void);
void file_hashes_destroy(struct file_hashes *hashes);

/*
 * Of a file, as sha256sum prints it; of a folder, by the names and hashes of
 * all files below it, which links are followed to. Errors name the path:
 * ERR_NOT_FOUND where there is nothing, or ERR_FAILED, also once another thread
 * has set *stop.
 */
int file_hashes_of(struct file_hashes *hashes, const char *path,
                   const atomic_bool *stop, char hex[DIGEST_HEX_SIZE],
                   struct err *err);

/* The same; where there is nothing, the hash that a path has in `known` (NULL:
 * none has) is its own. */
int file_hashes_or_known(struct file_hashes *hashes, const char *path,
                         const json_t *known, const atomic_bool *stop,
                         char hex[DIGEST_HEX_SIZE], struct err *err);

#endif
