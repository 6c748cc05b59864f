/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/file_hashes.h"

#include <errno.h>
#include <fts.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"

enum { FRESH_S = 2 };

/* Compared as bytes: all of it is set, and there is nothing between. */
struct identity {
    uint64_t device, inode;
    int64_t size, changed_s, changed_ns;
};

struct known {
    struct identity identity;
    char hex[DIGEST_HEX_SIZE];
};

struct file_hashes {
    void *known; /* tsearch tree */
};

static int compare(const void *a, const void *b)
{
    return memcmp(&((const struct known *)a)->identity,
                  &((const struct known *)b)->identity,
                  sizeof(struct identity));
}

struct file_hashes *file_hashes_create(void)
{
    return mem_zero(sizeof(struct file_hashes));
}

void file_hashes_destroy(struct file_hashes *hashes)
{
    if (hashes == NULL)
        return;
    tdestroy(hashes->known, free);
    free(hashes);
}

static struct identity identity_of(const struct stat *status)
{
    return (struct identity){.device = status->st_dev,
                             .inode = status->st_ino,
                             .size = status->st_size,
                             .changed_s = status->st_ctim.tv_sec,
                             .changed_ns = status->st_ctim.tv_nsec};
}

static void remember(struct file_hashes *hashes, const struct known *key)
{
    struct known *known;

    if (time(NULL) - key->identity.changed_s < FRESH_S)
        return;
    known = mem_alloc(sizeof(*known));
    *known = *key;
    if (tsearch(known, &hashes->known, compare) == NULL)
        abort();
}

static int hash_file(struct file_hashes *hashes, const char *path,
                     const struct stat *status, const atomic_bool *stop,
                     char hex[DIGEST_HEX_SIZE], struct err *err)
{
    struct known key = {.identity = identity_of(status)};
    void *found = tfind(&key, &hashes->known, compare);

    if (found == NULL) {
        if (digest_file(path, stop, key.hex, err) != 0)
            return -1;
        remember(hashes, &key);
        memcpy(hex, key.hex, DIGEST_HEX_SIZE);
    } else {
        memcpy(hex, (*(struct known **)found)->hex, DIGEST_HEX_SIZE);
    }
    return 0;
}

/* -- Folders --------------------------------------------------------------*/

struct walk {
    struct file_hashes *hashes;
    struct digest *digest;
    size_t top_length; /* of the folder's own path */
    const atomic_bool *stop;
};

static int add_entry(struct walk *walk, const FTSENT *entry, struct err *err)
{
    char hex[DIGEST_HEX_SIZE];

    switch (entry->fts_info) {
    case FTS_F:
        if (hash_file(walk->hashes, entry->fts_accpath, entry->fts_statp,
                      walk->stop, hex, err) != 0)
            return -1;
        digest_add_text(walk->digest, entry->fts_path + walk->top_length);
        digest_add_text(walk->digest, hex);
        return 0;
    case FTS_SLNONE: /* to nowhere, which is all there is to know */
        digest_add_text(walk->digest, entry->fts_path + walk->top_length);
        return 0;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return err_set_errno(err, ERR_FAILED, entry->fts_errno,
                             "cannot read '%s'", entry->fts_path);
    default: /* folders themselves; sockets and their like */
        return 0;
    }
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int hash_folder(struct walk *walk, const char *path, struct err *err)
{
    char *top = mem_copy_string(path);
    char *const paths[] = {top, NULL};
    FTS *tree = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    const FTSENT *entry;
    int result = 0;

    if (tree == NULL)
        result =
            err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'", path);
    while (result == 0 && (entry = fts_read(tree)) != NULL)
        result = add_entry(walk, entry, err);
    if (tree != NULL)
        fts_close(tree);
    free(top);
    return result;
}

int file_hashes_of(struct file_hashes *hashes, const char *path,
                   const atomic_bool *stop, char hex[DIGEST_HEX_SIZE],
                   struct err *err)
{
    struct walk walk = {.hashes = hashes,
                        .digest = NULL,
                        .top_length = strlen(path),
                        .stop = stop};
    struct stat status;
    int result;

    if (stat(path, &status) != 0)
        return err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
                             errno, "cannot read '%s'", path);
    if (!S_ISDIR(status.st_mode))
        return hash_file(hashes, path, &status, stop, hex, err);
    walk.digest = digest_create();
    result = hash_folder(&walk, path, err);
    digest_hex(walk.digest, hex);
    digest_destroy(walk.digest);
    return result;
}

int file_hashes_or_known(struct file_hashes *hashes, const char *path,
                         const json_t *known, const atomic_bool *stop,
                         char hex[DIGEST_HEX_SIZE], struct err *err)
{
    const char *its = json_string_value(json_object_get(known, path));
    struct stat status;

    if (its == NULL || stat(path, &status) == 0 || errno != ENOENT)
        return file_hashes_of(hashes, path, stop, hex, err);
    snprintf(hex, DIGEST_HEX_SIZE, "%s", its);
    return 0;
}
