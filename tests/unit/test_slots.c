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
#include "executors/slots.h"
#include "tests/unit/folder.h"

/* Two users of the same slots behave as two processes do: each opens the
 * files for itself, and flock goes by open file. */

static const struct gpu gpus[] = {{"0"}, {"1"}, {"GPU-ab12"}};

static void test_slots__are_limited(void **state)
{
    struct slots *slots = slots_open(*state, 2, gpus, 3);

    assert_true(slots_take(slots, 1, 1, 0, false));
    assert_true(slots_take(slots, 2, 1, 0, false));
    assert_false(slots_take(slots, 3, 1, 0, false));
    slots_release(slots, 1);
    assert_true(slots_take(slots, 3, 1, 0, false));
    slots_close(slots);
}

static void test_slots__are_shared_with_others(void **state)
{
    struct slots *ours = slots_open(*state, 2, gpus, 3);
    struct slots *theirs = slots_open(*state, 2, gpus, 3);

    assert_true(slots_take(ours, 1, 2, 0, false));
    assert_false(slots_take(theirs, 1, 1, 0, false));
    slots_release(ours, 1);
    assert_true(slots_take(theirs, 1, 2, 0, true));
    slots_close(theirs);
    assert_true(slots_take(ours, 1, 2, 0, false));
    slots_close(ours);
}

static void test_slots__are_taken_all_or_none(void **state)
{
    struct slots *ours = slots_open(*state, 4, gpus, 3);
    struct slots *theirs = slots_open(*state, 4, gpus, 3);

    assert_true(slots_take(ours, 1, 3, 2, false));
    assert_false(slots_take(theirs, 1, 2, 1, true));
    assert_false(slots_take(theirs, 1, 1, 2, true));
    assert_true(slots_take(ours, 2, 1, 1, true));
    slots_close(theirs);
    slots_close(ours);
}

static void test_slots__none_wanted_is_always_there(void **state)
{
    struct slots *slots = slots_open(*state, 0, NULL, 0);

    assert_true(slots_take(slots, 1, 0, 0, false));
    assert_false(slots_take(slots, 2, 1, 0, false));
    slots_close(slots);
}

static void test_slots__whoever_waits_gets_a_turn(void **state)
{
    struct slots *ours = slots_open(*state, 1, gpus, 3);
    struct slots *theirs = slots_open(*state, 1, gpus, 3);

    assert_true(slots_take(ours, 1, 1, 0, false));
    assert_false(slots_take(theirs, 1, 1, 0, false));
    slots_release(ours, 1);
    assert_false(slots_take(ours, 2, 1, 0, false));
    assert_true(slots_take(theirs, 1, 1, 0, true));
    slots_release(theirs, 1);
    assert_true(slots_take(ours, 2, 1, 0, true));
    slots_release(ours, 2);
    assert_true(slots_take(theirs, 2, 1, 0, false));
    slots_close(theirs);
    slots_close(ours);
}

static void test_slots__giving_up_lets_others_go(void **state)
{
    struct slots *ours = slots_open(*state, 1, gpus, 3);
    struct slots *theirs = slots_open(*state, 1, gpus, 3);

    assert_true(slots_take(ours, 1, 1, 0, false));
    assert_false(slots_take(theirs, 1, 1, 0, false));
    slots_release(ours, 1);
    slots_give_up(theirs);
    assert_true(slots_take(ours, 2, 1, 0, false));
    slots_close(theirs);
    slots_close(ours);
}

static void test_slots__names_the_gpus(void **state)
{
    struct slots *slots = slots_open(*state, 1, gpus, 3);
    char names[64], cut[4];

    assert_true(slots_take(slots, 1, 0, 1, false));
    assert_true(slots_take(slots, 2, 0, 2, false));
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

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_slots__are_limited),
        IN_FOLDER(test_slots__are_shared_with_others),
        IN_FOLDER(test_slots__are_taken_all_or_none),
        IN_FOLDER(test_slots__none_wanted_is_always_there),
        IN_FOLDER(test_slots__whoever_waits_gets_a_turn),
        IN_FOLDER(test_slots__giving_up_lets_others_go),
        IN_FOLDER(test_slots__names_the_gpus),
        IN_FOLDER(test_directory__is_private),
        IN_FOLDER(test_directory__that_others_may_write_is_refused),
        IN_FOLDER(test_directory__that_is_a_link_is_refused),
        IN_FOLDER(test_directory__needs_no_runtime_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
