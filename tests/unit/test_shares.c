/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_shares__cover_the_whole_in_order(void **state)
{
    const size_t totals[] = {0, 1, 5, 64, 1001};
    const struct ranks ranks = {.rank = 1, .size = 2};
    struct shares shares;

    (void)state;
    assert_int_equal(shares_init(&shares, 8, &ranks, NULL), 0);
    assert_int_equal(shares.first, 4);
    assert_int_equal(shares.own, 4);
    for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++) {
        assert_int_equal(shares_begin(&shares, 0, totals[i]), 0);
        assert_int_equal(shares_begin(&shares, 8, totals[i]), totals[i]);
        for (int share = 0; share < 8; share++) {
            size_t begin = shares_begin(&shares, share, totals[i]);
            size_t end = shares_begin(&shares, share + 1, totals[i]);

            assert_in_range(end, begin,
                            begin + shares_most(&shares, totals[i]));
        }
    }
}

static void test_shares__keep_to_the_tree(void **state)
{
    const struct {
        int count, size, fits;
    } cases[] = {{1, 1, 1}, {1, 2, 0},  {4, 2, 1},  {4, 3, 0},
                 {6, 3, 1}, {6, 2, 0},  {6, 1, 1},  {6, 6, 1},
                 {3, 1, 1}, {12, 3, 1}, {12, 4, 0}, {12, 6, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct ranks ranks = {.size = cases[i].size};
        struct shares shares;
        struct err err;
        int status = shares_init(&shares, cases[i].count, &ranks, &err);

        assert_int_equal(status == 0, cases[i].fits);
        if (status != 0)
            assert_int_equal(err.kind, ERR_USAGE);
    }
}

static void test_shares__name_the_sizes_that_fit(void **state)
{
    const struct ranks ranks = {.size = 5};
    struct shares shares;
    struct err err;

    (void)state;
    assert_int_equal(shares_init(&shares, 12, &ranks, &err), -1);
    assert_non_null(strstr(err.text, "5 ranks"));
    assert_non_null(strstr(err.text, "can: 1, 3, 6, 12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares__cover_the_whole_in_order),
        cmocka_unit_test(test_shares__keep_to_the_tree),
        cmocka_unit_test(test_shares__name_the_sizes_that_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
