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
    struct shares shares;

    (void)state;
    assert_int_equal(shares_init(&shares, 8, 2, false, NULL), 0);
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
        int count, size;
        bool fits, fits_in_turns;
    } cases[] = {
        {1, 1, true, true},   {1, 2, false, false}, {4, 2, true, true},
        {4, 3, false, false}, {6, 3, true, false},  {6, 2, false, true},
        {6, 1, true, true},   {6, 6, true, true},   {3, 1, true, true},
        {12, 3, true, false}, {12, 4, false, true}, {12, 6, true, false}};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
        bool in_turns = i % 2 == 1;
        bool fits = in_turns ? cases[i / 2].fits_in_turns : cases[i / 2].fits;
        struct shares shares;
        struct err err;
        int status = shares_init(&shares, cases[i / 2].count, cases[i / 2].size,
                                 in_turns, &err);

        assert_int_equal(status == 0, fits);
        if (status != 0)
            assert_int_equal(err.kind, ERR_USAGE);
    }
}

static void test_shares__name_the_sizes_that_fit(void **state)
{
    struct shares shares;
    struct err err;

    (void)state;
    assert_int_equal(shares_init(&shares, 12, 5, false, &err), -1);
    assert_non_null(strstr(err.text, "5 ranks"));
    assert_non_null(strstr(err.text, "ranks: 1, 3, 6, 12"));
    assert_int_equal(shares_init(&shares, 12, 5, true, &err), -1);
    assert_non_null(strstr(err.text, "ranks: 1, 2, 4, 12"));
}

static void test_shares__are_one_ranks_or_in_turns(void **state)
{
    static const int turns[2][3] = {{0, 2, 4}, {1, 3, 5}};
    struct shares shares;

    (void)state;
    assert_int_equal(shares_init(&shares, 6, 2, true, NULL), 0);
    for (int rank = 0; rank < 2; rank++) {
        for (int i = 0; i < 3; i++)
            assert_int_equal(shares_of(&shares, rank, i), turns[rank][i]);
    }
    assert_int_equal(shares_init(&shares, 4, 2, false, NULL), 0);
    assert_int_equal(shares_of(&shares, 1, 0), 2);
    for (int in_turns = 0; in_turns < 2; in_turns++) {
        assert_int_equal(shares_init(&shares, 8, 4, in_turns == 1, NULL), 0);
        for (int place = 0; place < 8; place++) {
            int share = shares_of(&shares, place / 2, place % 2);

            assert_int_equal(shares_place(&shares, share), place);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares__cover_the_whole_in_order),
        cmocka_unit_test(test_shares__keep_to_the_tree),
        cmocka_unit_test(test_shares__name_the_sizes_that_fit),
        cmocka_unit_test(test_shares__are_one_ranks_or_in_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
