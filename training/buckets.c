/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/buckets.h"

#include "training/util/real.h"

static size_t round_up(size_t number, size_t step)
{
    return (number + step - 1) / step * step;
}

size_t buckets_spare(int ranks)
{
    return (size_t)ranks * BUCKETS_BLOCK;
}

void buckets_init(struct buckets *buckets, size_t total, size_t bytes, int rank,
                  int ranks)
{
    size_t wanted = bytes / sizeof(real);

    buckets->total = total;
    buckets->rank = rank;
    buckets->ranks = ranks;
    if (wanted == 0 || wanted > total)
        wanted = total;
    buckets->size = round_up(wanted, buckets_spare(ranks));
    buckets->count = (int)((total + buckets->size - 1) / buckets->size);
}

size_t bucket_begin(const struct buckets *buckets, int bucket)
{
    return (size_t)bucket * buckets->size;
}

size_t bucket_length(const struct buckets *buckets, int bucket)
{
    size_t left = buckets->total - bucket_begin(buckets, bucket);

    return left < buckets->size ? left : buckets->size;
}

size_t bucket_share(const struct buckets *buckets, int bucket)
{
    return round_up(bucket_length(buckets, bucket),
                    buckets_spare(buckets->ranks)) /
           (size_t)buckets->ranks;
}

size_t bucket_own(const struct buckets *buckets, int bucket)
{
    return bucket_begin(buckets, bucket) +
           (size_t)buckets->rank * bucket_share(buckets, bucket);
}

size_t bucket_shard(const struct buckets *buckets, int bucket)
{
    return bucket_begin(buckets, bucket) / (size_t)buckets->ranks;
}

size_t buckets_shard_count(const struct buckets *buckets)
{
    int last = buckets->count - 1;

    return bucket_shard(buckets, last) + bucket_share(buckets, last);
}
