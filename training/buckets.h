/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_BUCKETS_H
#define SMTUNE_TRAINING_BUCKETS_H

#include <stddef.h>

/*
 * A flat array of parameters or gradients in pieces that ranks send at a time.
 * Of each bucket every rank has an equal share, a multiple of BUCKETS_BLOCK
 * numbers; the last one's may go beyond the end of the array, by less than
 * buckets_spare. A rank's shares one after the other are its shard.
 */
struct buckets {
    size_t total; /* numbers of the array */
    size_t size;  /* of a full bucket */
    int count;
    int rank, ranks;
};

enum { BUCKETS_BLOCK = 1024 };

/* bytes: of a bucket, about; 0: all in one. */
void buckets_init(struct buckets *buckets, size_t total, size_t bytes, int rank,
                  int ranks);
/* How many numbers must be there behind an array for so many ranks. */
size_t buckets_spare(int ranks);

/* The place of a bucket in the array; how many numbers of the array it has. */
size_t bucket_begin(const struct buckets *buckets, int bucket);
size_t bucket_length(const struct buckets *buckets, int bucket);
/* How many numbers each rank has of it, and where this rank's lie: in the
 * array, and in its shard. */
size_t bucket_share(const struct buckets *buckets, int bucket);
size_t bucket_own(const struct buckets *buckets, int bucket);
size_t bucket_shard(const struct buckets *buckets, int bucket);
/* The length of a shard. */
size_t buckets_shard_count(const struct buckets *buckets);

#endif
