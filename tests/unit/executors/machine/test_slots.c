/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "executors/machine/slots.h"
#include "executors/machine/slots_census.h"
#include "tests/unit/folder.h"

/* Two users of the same slots behave as two processes do: each opens the
 * files for itself, and flock goes by open file. */

static const struct gpu gpus[] = {{"0"}, {"1"}, {"GPU-ab12"}};

static bool take(struct slots *slots, int64_t attempt, int cpus, int gpu_count,
                 bool is_turn)
{
    const struct attempt_spec spec = {
        .attempt = attempt, .cpus = cpus, .gpus = gpu_count};
    uint32_t lacks = 0;
    bool has = slots_take(slots, &spec, is_turn, &lacks);

    assert_int_equal(has, lacks == 0);
    return has;
}

static void test_slots__are_limited(void **state)
{
    struct slots *slots = slots_open(*state, 2, gpus, 3);

    assert_true(take(slots, 1, 1, 0, false));
    assert_true(take(slots, 2, 1, 0, false));
    assert_false(take(slots, 3, 1, 0, false));
    slots_release(slots, 1);
    assert_true(take(slots, 3, 1, 0, false));
    slots_close(slots);
}

static bool take_part(struct slots *slots, int64_t attempt, int permille)
{
    const struct attempt_spec spec = {
        .attempt = attempt, .gpus = 1, .gpu_permille = permille};
    uint32_t lacks = 0;

    return slots_take(slots, &spec, true, &lacks);
}

static void assert_names(const struct slots *slots, int64_t attempt,
                         const char *expected)
{
    char names[100];

    slots_gpu_names(slots, attempt, names, sizeof(names));
    assert_string_equal(names, expected);
}

/* Within a process, with or without files, and between two. */
static void test_slots__parts_share_a_gpu(void **state)
{
    const char *const folders[] = {*state, NULL};

    for (size_t i = 0; i < 2; i++) {
        struct slots *slots = slots_open(folders[i], 1, gpus, 2);

        assert_true(take_part(slots, 1, 500));
        assert_true(take_part(slots, 2, 333));
        assert_true(take_part(slots, 3, 333));
        assert_names(slots, 1, "0");
        assert_names(slots, 2, "0");
        assert_names(slots, 3, "1");
        assert_false(take(slots, 4, 0, 1, true));
        assert_false(take_part(slots, 4, 700));
        slots_release(slots, 2);
        assert_true(take_part(slots, 4, 500));
        assert_names(slots, 4, "0");
        slots_release(slots, 3);
        assert_true(take(slots, 5, 0, 1, true));
        assert_names(slots, 5, "1");
        assert_false(take_part(slots, 6, 100));
        slots_give_up(slots);
        slots_close(slots);
    }
}

static void test_slots__parts_are_shared_with_others(void **state)
{
    struct slots *ours = slots_open(*state, 1, gpus, 1);
    struct slots *theirs = slots_open(*state, 1, gpus, 1);
    struct slots_census census;

    assert_true(take_part(ours, 1, 333));
    assert_true(take_part(theirs, 1, 333));
    assert_true(take_part(theirs, 2, 333));
    assert_false(take_part(ours, 2, 100));
    slots_give_up(ours);
    slots_count(*state, &census);
    assert_int_equal(census.gpus_taken, 1);
    slots_release(theirs, 1);
    assert_false(take(ours, 3, 0, 1, true));
    slots_give_up(ours);
    slots_release(theirs, 2);
    assert_false(take(theirs, 3, 0, 1, true));
    slots_give_up(theirs);
    slots_release(ours, 1);
    assert_true(take(theirs, 3, 0, 1, true));
    assert_false(take_part(ours, 2, 100));
    slots_close(theirs);
    assert_true(take_part(ours, 2, 1000));
    slots_close(ours);
}

static bool take_pinned(struct slots *slots, int64_t attempt, int cpus)
{
    const struct attempt_spec spec = {
        .attempt = attempt, .cpus = cpus, .pins = true};
    uint32_t lacks = 0;

    return slots_take(slots, &spec, true, &lacks);
}

static void assert_cpus(const struct slots *slots, int64_t attempt,
                        uint64_t expected)
{
    cpu_set_t set;
    uint64_t cpus = 0;

    slots_cpu_set(slots, attempt, &set);
    for (int i = 0; i < 64; i++)
        cpus |= CPU_ISSET(i, &set) ? UINT64_C(1) << i : 0;
    assert_int_equal(cpus, expected);
}

static void test_slots__pinned_ones_are_of_one_node(void **state)
{
    static const struct cpu_place places[] = {{0, 0}, {2, 0}, {4, 0},
                                              {1, 1}, {3, 1}, {5, 1}};
    struct slots *slots = slots_open(*state, 6, gpus, 0);

    slots_place(slots, places, 6);
    assert_true(take_pinned(slots, 1, 2));
    assert_cpus(slots, 1, 1 << 0 | 1 << 2);
    assert_true(take_pinned(slots, 2, 2));
    assert_cpus(slots, 2, 1 << 1 | 1 << 3);
    /* One on each node is free: it waits for two on one. */
    assert_false(take_pinned(slots, 3, 2));
    assert_true(take(slots, 4, 2, 0, true));
    assert_cpus(slots, 4, 1 << 4 | 1 << 5);
    slots_release(slots, 1);
    assert_true(take_pinned(slots, 3, 2));
    assert_cpus(slots, 3, 1 << 0 | 1 << 2);
    slots_release(slots, 2);
    slots_release(slots, 3);
    slots_release(slots, 4);
    /* No node has four. */
    assert_true(take_pinned(slots, 5, 4));
    assert_cpus(slots, 5, 1 << 0 | 1 << 2 | 1 << 4 | 1 << 1);
    assert_false(take_pinned(slots, 6, 7));
    slots_give_up(slots);
    slots_close(slots);
}

/* An allocation's are nobody else's, and no file says so. */
static void test_slots__of_a_process_alone_are_in_no_file(void **state)
{
    struct slots *ours = slots_open(NULL, 2, gpus, 3);
    struct slots *theirs = slots_open(NULL, 2, gpus, 3);

    (void)state;
    assert_true(take(ours, 1, 1, 2, false));
    assert_true(take(theirs, 1, 2, 3, false));
    assert_false(take(ours, 2, 1, 2, false));
    slots_release(ours, 1);
    assert_true(take(ours, 2, 1, 3, false));
    assert_false(take(ours, 3, 2, 0, true));
    slots_give_up(ours);
    slots_close(theirs);
    slots_close(ours);
}

static void test_slots__are_shared_with_others(void **state)
{
    struct slots *ours = slots_open(*state, 2, gpus, 3);
    struct slots *theirs = slots_open(*state, 2, gpus, 3);

    assert_true(take(ours, 1, 2, 0, false));
    assert_false(take(theirs, 1, 1, 0, false));
    slots_release(ours, 1);
    assert_true(take(theirs, 1, 2, 0, true));
    slots_close(theirs);
    assert_true(take(ours, 1, 2, 0, false));
    slots_close(ours);
}

static void test_slots__are_taken_all_or_none(void **state)
{
    struct slots *ours = slots_open(*state, 4, gpus, 3);
    struct slots *theirs = slots_open(*state, 4, gpus, 3);

    assert_true(take(ours, 1, 3, 2, false));
    assert_false(take(theirs, 1, 2, 1, true));
    assert_false(take(theirs, 1, 1, 2, true));
    assert_true(take(ours, 2, 1, 1, true));
    slots_close(theirs);
    slots_close(ours);
}

static void test_slots__none_wanted_is_always_there(void **state)
{
    struct slots *slots = slots_open(*state, 0, NULL, 0);

    assert_true(take(slots, 1, 0, 0, false));
    assert_false(take(slots, 2, 1, 0, false));
    slots_close(slots);
}

static void test_slots__whoever_waits_gets_a_turn(void **state)
{
    struct slots *ours = slots_open(*state, 1, gpus, 3);
    struct slots *theirs = slots_open(*state, 1, gpus, 3);

    assert_true(take(ours, 1, 1, 0, false));
    assert_false(take(theirs, 1, 1, 0, false));
    slots_release(ours, 1);
    assert_false(take(ours, 2, 1, 0, false));
    assert_true(take(theirs, 1, 1, 0, true));
    slots_release(theirs, 1);
    assert_true(take(ours, 2, 1, 0, true));
    slots_release(ours, 2);
    assert_true(take(theirs, 2, 1, 0, false));
    slots_close(theirs);
    slots_close(ours);
}

static void test_slots__giving_up_lets_others_go(void **state)
{
    struct slots *ours = slots_open(*state, 1, gpus, 3);
    struct slots *theirs = slots_open(*state, 1, gpus, 3);

    assert_true(take(ours, 1, 1, 0, false));
    assert_false(take(theirs, 1, 1, 0, false));
    slots_release(ours, 1);
    slots_give_up(theirs);
    assert_true(take(ours, 2, 1, 0, false));
    slots_close(theirs);
    slots_close(ours);
}

static void test_slots__names_the_gpus(void **state)
{
    struct slots *slots = slots_open(*state, 1, gpus, 3);
    char names[64], cut[4];

    assert_true(take(slots, 1, 0, 1, false));
    assert_true(take(slots, 2, 0, 2, false));
    slots_gpu_names(slots, 1, names, sizeof(names));
    assert_string_equal(names, "0");
    slots_gpu_names(slots, 2, names, sizeof(names));
    assert_string_equal(names, "1,GPU-ab12");
    slots_gpu_names(slots, 3, names, sizeof(names));
    assert_string_equal(names, "");
    slots_gpu_names(slots, 2, cut, sizeof(cut));
    assert_int_equal(strlen(cut), 3);
    slots_close(slots);
}

static void test_slots__only_gpus_of_its_set_are_an_attempts(void **state)
{
    struct slots *slots = slots_open(*state, 1, gpus, 3);
    struct attempt_spec spec = {.attempt = 1, .gpus = 2, .gpu_set = 1 | 4};
    uint32_t lacks = 0;
    char names[64];

    assert_true(slots_take(slots, &spec, false, &lacks));
    slots_gpu_names(slots, 1, names, sizeof(names));
    assert_string_equal(names, "0,GPU-ab12");
    spec = (struct attempt_spec){.attempt = 2, .gpus = 1, .gpu_set = 1 | 4};
    assert_false(slots_take(slots, &spec, true, &lacks));
    assert_int_equal(lacks, LACKS_GPUS);
    slots_give_up(slots);
    assert_true(take(slots, 3, 0, 1, false));
    slots_close(slots);
}

/* -- Pools ----------------------------------------------------------------*/

/* A spec that takes so much of the pools `a`, which has 2 slots, and `b`, which
 * has 3. */
struct wish {
    struct attempt_pool pools[2];
    struct attempt_spec spec;
    char *a, *b;
};

static void wish_init(struct wish *wish, const char *folder, int64_t of_a,
                      int64_t of_b)
{
    size_t count = 0;

    memset(wish, 0, sizeof(*wish));
    wish->a = fs_join(folder, "a");
    wish->b = fs_join(folder, "b");
    if (of_a > 0)
        wish->pools[count++] = (struct attempt_pool){wish->a, of_a, 2};
    if (of_b > 0)
        wish->pools[count++] = (struct attempt_pool){wish->b, of_b, 3};
    wish->spec.pools = wish->pools;
    wish->spec.pool_count = count;
}

static void wish_clear(struct wish *wish)
{
    free(wish->a);
    free(wish->b);
}

/* What it lacks; 0: it has all. */
static uint32_t ask(struct slots *slots, struct wish *wish, int64_t attempt,
                    bool is_turn)
{
    uint32_t lacks = 0;

    wish->spec.attempt = attempt;
    slots_take(slots, &wish->spec, is_turn, &lacks);
    return lacks;
}

static void test_pools__are_shared_and_taken_all_or_none(void **state)
{
    struct slots *ours = slots_open(*state, 1, NULL, 0);
    struct slots *theirs = slots_open(*state, 1, NULL, 0);
    struct wish one_a, two_b, both;

    wish_init(&one_a, *state, 1, 0);
    wish_init(&two_b, *state, 0, 2);
    wish_init(&both, *state, 1, 2);
    both.spec.cpus = 1;
    assert_int_equal(ask(ours, &two_b, 1, false), 0);
    assert_int_equal(ask(theirs, &one_a, 1, false), 0);
    assert_int_equal(ask(theirs, &both, 2, true), LACKS_POOL << 1);
    assert_int_equal(ask(ours, &one_a, 2, true), 0);
    assert_int_equal(ask(theirs, &both, 2, true), LACKS_POOL | LACKS_POOL << 1);
    slots_release(ours, 1);
    assert_int_equal(ask(theirs, &both, 2, true), LACKS_POOL);
    slots_close(ours);
    assert_int_equal(ask(theirs, &both, 2, true), 0);
    slots_close(theirs);
    wish_clear(&one_a);
    wish_clear(&two_b);
    wish_clear(&both);
}

static void test_pools__lack_nothing_that_only_others_wait_for(void **state)
{
    struct slots *ours = slots_open(*state, 1, NULL, 0);
    struct slots *theirs = slots_open(*state, 1, NULL, 0);
    struct wish all_a, one_b;

    wish_init(&all_a, *state, 2, 0);
    wish_init(&one_b, *state, 0, 1);
    assert_int_equal(ask(ours, &all_a, 1, false), 0);
    assert_int_equal(ask(theirs, &all_a, 1, false), LACKS_POOL);
    assert_int_equal(ask(ours, &one_b, 2, false), 0);
    assert_true(take(ours, 3, 1, 0, false));
    slots_release(ours, 1);
    assert_int_equal(ask(ours, &all_a, 4, false), LACKS_POOL);
    assert_int_equal(ask(theirs, &all_a, 1, true), 0);
    slots_close(ours);
    slots_close(theirs);
    wish_clear(&all_a);
    wish_clear(&one_b);
}

static void test_pools__may_grow(void **state)
{
    struct slots *slots = slots_open(*state, 0, NULL, 0);
    struct wish two;

    wish_init(&two, *state, 2, 0);
    assert_int_equal(ask(slots, &two, 1, false), 0);
    assert_int_equal(ask(slots, &two, 2, false), LACKS_POOL);
    two.pools[0].size = 4;
    assert_int_equal(ask(slots, &two, 2, false), 0);
    slots_close(slots);
    wish_clear(&two);
}

/* -- The directory --------------------------------------------------------*/

static void test_directory__is_private(void **state)
{
    char path[SLOTS_PATH_MAX], *expected = fs_join(*state, "smtune/slots");
    struct stat status;

    setenv("XDG_RUNTIME_DIR", *state, 1);
    assert_int_equal(slots_directory(path, NULL), 0);
    assert_string_equal(path, expected);
    free(expected);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(slots_directory(path, NULL), 0);
}

static void test_directory__that_others_may_write_is_refused(void **state)
{
    char path[SLOTS_PATH_MAX], *folder = fs_join(*state, "smtune");
    struct err err;

    setenv("XDG_RUNTIME_DIR", *state, 1);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0770), 0);
    assert_int_equal(slots_directory(path, &err), -1);
    assert_non_null(strstr(err.text, folder));
    free(folder);
}

static void test_directory__that_is_a_link_is_refused(void **state)
{
    char path[SLOTS_PATH_MAX], *folder = fs_join(*state, "smtune");

    setenv("XDG_RUNTIME_DIR", *state, 1);
    assert_int_equal(symlink("/tmp", folder), 0);
    assert_int_equal(slots_directory(path, NULL), -1);
    free(folder);
}

static void test_directory__needs_no_runtime_directory(void **state)
{
    char path[SLOTS_PATH_MAX], expected[64];

    (void)state;
    snprintf(expected, sizeof(expected), "/tmp/smtune-%u/slots",
             (unsigned int)geteuid());
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(slots_directory(path, NULL), 0);
    assert_string_equal(path, expected);
    setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
    assert_int_equal(slots_directory(path, NULL), 0);
    assert_string_equal(path, expected);
}

/* The name of a driver before 470 is no path. */
static void test_slots__of_mig_devices_are_files(void **state)
{
    static const struct gpu devices[] = {{"MIG-GPU-9de3/2/0"},
                                         {"MIG-c6d4f1ef"}};
    struct slots *ours = slots_open(*state, 1, devices, 2);
    struct slots *theirs = slots_open(*state, 1, devices, 2);
    struct slots_census census;

    assert_true(take(ours, 1, 0, 1, true));
    assert_names(ours, 1, "MIG-GPU-9de3/2/0");
    slots_count(*state, &census);
    assert_int_equal(census.gpus_taken, 1);
    assert_string_equal(census.gpus[0].name, "MIG-GPU-9de3/2/0");
    assert_true(take(theirs, 2, 0, 1, true));
    assert_names(theirs, 2, "MIG-c6d4f1ef");
    assert_false(take(theirs, 3, 0, 1, true));
    slots_give_up(theirs);
    slots_close(ours);
    slots_close(theirs);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

/* The kernel names the process that took the lock. */
static void test_census__names_the_holders(void **state)
{
    struct slots *slots = slots_open(*state, 2, gpus, 3);
    struct slots_census census;

    slots_count(*state, &census);
    assert_int_equal(census.cpus_taken + census.gpus_taken, 0);
    assert_int_equal(census.holder_count, 0);
    assert_true(take(slots, 1, 2, 1, false));
    slots_count(*state, &census);
    assert_int_equal(census.cpus_taken, 2);
    assert_int_equal(census.gpus_taken, 1);
    assert_string_equal(census.gpus[0].name, gpus[0].name);
    assert_int_equal(census.holder_count, 1);
    assert_int_equal(census.holders[0], getpid());
    slots_close(slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_census__names_the_holders,
                                        make_folder, remove_folder),
        IN_FOLDER(test_slots__are_limited),
        cmocka_unit_test(test_slots__of_a_process_alone_are_in_no_file),
        IN_FOLDER(test_slots__pinned_ones_are_of_one_node),
        IN_FOLDER(test_slots__of_mig_devices_are_files),
        IN_FOLDER(test_slots__parts_share_a_gpu),
        IN_FOLDER(test_slots__parts_are_shared_with_others),
        IN_FOLDER(test_slots__are_shared_with_others),
        IN_FOLDER(test_slots__are_taken_all_or_none),
        IN_FOLDER(test_slots__none_wanted_is_always_there),
        IN_FOLDER(test_slots__whoever_waits_gets_a_turn),
        IN_FOLDER(test_slots__giving_up_lets_others_go),
        IN_FOLDER(test_slots__names_the_gpus),
        IN_FOLDER(test_slots__only_gpus_of_its_set_are_an_attempts),
        IN_FOLDER(test_pools__are_shared_and_taken_all_or_none),
        IN_FOLDER(test_pools__lack_nothing_that_only_others_wait_for),
        IN_FOLDER(test_pools__may_grow),
        IN_FOLDER(test_directory__is_private),
        IN_FOLDER(test_directory__that_others_may_write_is_refused),
        IN_FOLDER(test_directory__that_is_a_link_is_refused),
        IN_FOLDER(test_directory__needs_no_runtime_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
