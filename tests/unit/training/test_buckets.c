/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/buckets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Counts how many ranks own each number. */
static void check(size_t total, size_t bytes, int ranks)
{
    unsigned char *owners = calloc(total + buckets_spare(ranks), 1);

    assert_non_null(owners);
    for (int rank = 0; rank < ranks; rank++) {
        struct buckets buckets;
        size_t shard = 0;

        buckets_init(&buckets, total, bytes, rank, ranks);
        for (int i = 0; i < buckets.count; i++) {
            size_t own = bucket_own(&buckets, i);
            size_t share = bucket_share(&buckets, i);

            assert_int_equal(bucket_shard(&buckets, i), shard);
            assert_int_equal(share % BUCKETS_BLOCK, 0);
            assert_true(own + share <= total + buckets_spare(ranks));
            for (size_t k = own; k < own + share; k++)
                owners[k]++;
            shard += share;
        }
        assert_int_equal(buckets_shard_count(&buckets), shard);
    }
    for (size_t i = 0; i < total; i++)
        assert_int_equal(owners[i], 1);
    free(owners);
}

static void test_buckets__give_each_number_to_one_rank(void **state)
{
    const size_t bytes[] = {0, 1, 20000, 100000, 1 << 20};

    (void)state;
    for (int ranks = 1; ranks <= 5; ranks++) {
        for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
            check(1024, bytes[i], ranks);
            check((size_t)51 * 1024, bytes[i], ranks);
            check((size_t)64 * 1024, bytes[i], ranks);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets__give_each_number_to_one_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
