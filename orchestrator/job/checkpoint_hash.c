/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/checkpoint_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/mem.h"

enum {
    FILE_BYTES = 256 << 10, /* of one file, and of smaller ones all */
    EDGE_BYTES = 64 << 10,  /* of its beginning and its end */
    PIECE_BYTES = 4 << 10,  /* of what lies between */
    PIECES = (FILE_BYTES - 2 * EDGE_BYTES) / PIECE_BYTES,
    OPEN_BYTES = 16 << 10, /* so many are read while one file is opened */
    FOLDER_BYTES = 16 << 20
};

struct hashing {
    struct digest *digest;
    size_t top_length;    /* of the folder's own path */
    int64_t budget;       /* bytes that may still be read */
    int64_t count;        /* of files */
    unsigned char *bytes; /* [FILE_BYTES] */
};

/* Where it cannot be read, that is what is known of it. */
static void add_range(struct hashing *hashing, int fd, int64_t from,
                      size_t wanted)
{
    size_t length = 0;
    ssize_t got = 1;

    while (length < wanted && got > 0) {
        got = pread(fd, hashing->bytes + length, wanted - length,
                    from + (off_t)length);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            length += (size_t)got;
    }
    digest_add(hashing->digest, hashing->bytes, length);
}

static void add_contents(struct hashing *hashing, int fd, int64_t size)
{
    int64_t between = size - 2 * EDGE_BYTES;

    if (size <= FILE_BYTES) {
        add_range(hashing, fd, 0, (size_t)size);
        return;
    }
    add_range(hashing, fd, 0, EDGE_BYTES);
    for (int64_t i = 0; i < PIECES; i++)
        add_range(hashing, fd, EDGE_BYTES + between / PIECES * i, PIECE_BYTES);
    add_range(hashing, fd, size - EDGE_BYTES, EDGE_BYTES);
}

static void add_file(struct hashing *hashing, const FTSENT *entry)
{
    const struct stat *status = entry->fts_statp;
    int64_t size = status->st_size;
    int64_t cost = OPEN_BYTES + (size < FILE_BYTES ? size : FILE_BYTES);
    int fd = -1;

    digest_add_number(hashing->digest, size);
    if (cost <= hashing->budget)
        fd = open(entry->fts_accpath,
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0) {
        hashing->budget -= cost;
        add_contents(hashing, fd, size);
        close(fd);
    } else {
        digest_add_number(hashing->digest, status->st_mtim.tv_sec);
        digest_add_number(hashing->digest, status->st_mtim.tv_nsec);
    }
}

static void add_link(struct hashing *hashing, const FTSENT *entry)
{
    char text[PATH_MAX];
    ssize_t length = readlink(entry->fts_accpath, text, sizeof(text));

    digest_add(hashing->digest, text, length > 0 ? (size_t)length : 0);
}

static void add_entry(struct hashing *hashing, const FTSENT *entry)
{
    bool is_link = entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE;

    if (entry->fts_info != FTS_F && !is_link)
        return;
    hashing->count++;
    digest_add_text(hashing->digest, entry->fts_path + hashing->top_length);
    if (is_link)
        add_link(hashing, entry);
    else
        add_file(hashing, entry);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

char *checkpoint_hash(const char *directory)
{
    char *top = mem_copy_string(directory);
    char *const paths[] = {top, NULL};
    struct hashing hashing = {.digest = digest_create(),
                              .top_length = strlen(directory),
                              .budget = FOLDER_BYTES,
                              .bytes = mem_alloc(FILE_BYTES)};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    const FTSENT *entry;
    char hex[DIGEST_HEX_SIZE];

    while (tree != NULL && (entry = fts_read(tree)) != NULL)
        add_entry(&hashing, entry);
    digest_hex(hashing.digest, hex);
    if (tree != NULL)
        fts_close(tree);
    digest_destroy(hashing.digest);
    free(hashing.bytes);
    free(top);
    return hashing.count > 0 ? mem_copy_string(hex) : NULL;
}
