/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "executors/attempt/backlog.h"

static const struct attempt_pool a = {"/a", 1, 1}, b = {"/b", 1, 1};
static const struct attempt_pool both[] = {{"/b", 1, 1}, {"/a", 1, 1}};

static const struct attempt_spec wants_cpus = {.cpus = 1};
static const struct attempt_spec wants_gpus = {.gpus = 1};
static const struct attempt_spec wants_a = {.pools = &a, .pool_count = 1};
static const struct attempt_spec wants_b = {.pools = &b, .pool_count = 1};
static const struct attempt_spec wants_all = {
    .cpus = 1, .gpus = 1, .pools = both, .pool_count = 2};

static void test_backlog__hold_back_who_wants_what_lacks(void **state)
{
    struct backlog backlog = {.count = 0};

    (void)state;
    assert_false(backlog_hold_back(&backlog, &wants_all));
    assert_true(backlog_add(&backlog, &wants_all, LACKS_POOL << 1));
    assert_true(backlog_hold_back(&backlog, &wants_a));
    assert_true(backlog_hold_back(&backlog, &wants_all));
    assert_false(backlog_hold_back(&backlog, &wants_b));
    assert_false(backlog_hold_back(&backlog, &wants_cpus));
    assert_true(backlog_add(&backlog, &wants_cpus, LACKS_CPUS));
    assert_true(backlog_hold_back(&backlog, &wants_cpus));
    assert_false(backlog_hold_back(&backlog, &wants_gpus));
    assert_true(backlog_add(&backlog, &wants_all, LACKS_GPUS));
    assert_true(backlog_hold_back(&backlog, &wants_gpus));
    assert_false(backlog_hold_back(&backlog, &wants_b));
}

/* Of two sets; of two types, for who does not know the sets; but any GPU is for
 * all. */
static void test_backlog__gpus_of_two_types_are_two_things(void **state)
{
    static const struct slurm_ask a100 = {.gpu_type = "a100"},
                                  t4 = {.gpu_type = "t4"},
                                  card = {.gpu_type = "rtx4090"},
                                  same = {.gpu_type = "RTX_4090"};
    static const struct attempt_spec sets[] = {{.gpus = 1, .gpu_set = 3},
                                               {.gpus = 1, .gpu_set = 4},
                                               {.gpus = 1, .gpu_set = 6}};
    static const struct attempt_spec types[] = {{.gpus = 1, .slurm = &a100},
                                                {.gpus = 1, .slurm = &t4},
                                                {.gpus = 1, .slurm = &card},
                                                {.gpus = 1, .slurm = &same}};
    struct backlog backlog = {.count = 0};

    (void)state;
    assert_true(backlog_add(&backlog, &sets[0], LACKS_GPUS));
    assert_false(backlog_hold_back(&backlog, &sets[1]));
    assert_true(backlog_hold_back(&backlog, &sets[2]));
    assert_true(backlog_hold_back(&backlog, &wants_gpus));
    backlog.count = 0;
    assert_true(backlog_add(&backlog, &types[0], LACKS_GPUS));
    assert_false(backlog_hold_back(&backlog, &types[1]));
    assert_true(backlog_hold_back(&backlog, &types[0]));
    assert_true(backlog_hold_back(&backlog, &wants_gpus));
    backlog.count = 0;
    assert_true(backlog_add(&backlog, &types[2], LACKS_GPUS));
    assert_true(backlog_hold_back(&backlog, &types[3]));
}

static void test_backlog__for_no_reason_hold_back_all(void **state)
{
    struct backlog backlog = {.count = 0};

    (void)state;
    assert_false(backlog_add(&backlog, &wants_a, 0));
}

static void test_backlog__are_bounded(void **state)
{
    struct backlog backlog = {.count = 0};

    (void)state;
    for (int i = 0; i < BACKLOG_MAX; i++)
        assert_true(backlog_add(&backlog, &wants_cpus, LACKS_CPUS));
    assert_false(backlog_add(&backlog, &wants_cpus, LACKS_CPUS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backlog__hold_back_who_wants_what_lacks),
        cmocka_unit_test(test_backlog__gpus_of_two_types_are_two_things),
        cmocka_unit_test(test_backlog__for_no_reason_hold_back_all),
        cmocka_unit_test(test_backlog__are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
