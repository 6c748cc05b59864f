/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CHECKPOINT_CHECKPOINT_IMPL_H
#define SMTUNE_TRAINING_CHECKPOINT_CHECKPOINT_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "training/checkpoint/checkpoint.h"

/*
 * What the files of *.c share: names and formats.
 *
 * A shard is the numbers of its pieces, one after the other, and then lines of
 * text: how far the run is, the pieces, and last
 *
 *     text bytes=0000000123
 *     crc32=89abcdef
 *
 * where the first is how long the text before it is and the checksum is of all
 * bytes before its own line. A manifest is text alone: the version, the
 * caller's settings, the shapes, the position, the shards with their lengths
 * and checksums, each with its pieces, and such a checksum.
 */

/* Numbers of an array that a shard has. */
struct checkpoint_extent {
    int array;
    size_t first, count;
    size_t shard, at; /* which one; the offset there, in bytes */
};

struct checkpoint_shard {
    char *path;
    size_t bytes;
    uint32_t crc32;
};

struct checkpoint {
    char *folder;
    char *header; /* settings, shapes and position */
    size_t number_bytes;
    struct checkpoint_shard *shards;
    size_t shard_count, shard_capacity;
    struct checkpoint_extent *extents; /* by array, then by first */
    size_t extent_count, extent_capacity;
    size_t next_at; /* while it is read: in the last shard, in bytes */
};

/* Names; the caller's to free. */
char *checkpoint_folder(const char *directory, uint64_t step);
/* By the epoch besides: after the last step of an epoch a run may be saved
 * before its measurement and after it, and the first of the two stays whole
 * until the second is. */
char *checkpoint_shard_name(int rank, int size, const struct position *at);

/* Lines that tell a checkpoint from those before it. */
void checkpoint_print_progress(const struct position *at, struct buf *out);
/* Lines that must be the same in who restores it, beside the settings. */
void checkpoint_print_shapes(const struct checkpoint_parts *parts,
                             struct buf *out);
/* What a manifest has before its shards. */
void checkpoint_print_head(const struct checkpoint_parts *parts,
                           struct buf *out);
void checkpoint_print_shard(const char *name, size_t bytes, uint32_t crc32,
                            struct buf *out);
void checkpoint_print_piece(int array, size_t first, size_t count,
                            struct buf *out);
void checkpoint_print_crc32(uint32_t crc32, struct buf *out);
void checkpoint_print_text_bytes(size_t bytes, struct buf *out);

void checkpoint_read_position(const char *header, struct position *at);

/* The value behind "name=" at the start of a line, or NULL. */
const char *checkpoint_find_line(const char *lines, const char *name,
                                 size_t length);

/*
 * The text of a shard, its length, and its checksum, which is not compared.
 * ERR_NOT_FOUND where there is none; ERR_FAILED where it is no whole one.
 */
int checkpoint_read_tail(const char *path, struct buf *text, size_t *bytes,
                         uint32_t *crc32, struct err *err);

/* Reads so many bytes from there on. */
int checkpoint_read_at(int fd, const char *path, void *out, size_t count,
                       size_t at, struct err *err);

/* Compares all of a shard with what the manifest says of it. */
int checkpoint_verify_shard(const struct checkpoint_shard *shard,
                            struct err *err);

/* Reads the manifest in a folder: the caller's to destroy. NULL with an error
 * that names the file; ERR_FILE where it is one of another version. */
struct checkpoint *checkpoint_read_manifest(const char *folder,
                                            struct err *err);

/* The steps of what is in a directory, whole or not, newest first; the
 * caller's to free. How many; -1 with an error. */
int checkpoint_list(const char *directory, uint64_t **steps, struct err *err);

/* Removes what is not whole or is newer than that step. No rank writes. */
int checkpoint_remove_unfinished(const char *directory, uint64_t step,
                                 struct err *err);
/* Removes all but the newest whole ones, and of the newest, which is of that
 * position, the files that are not its own. */
int checkpoint_remove_old(const char *directory, const struct position *at,
                          int size, struct err *err);

#endif
