/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "executors/attempt/pulse.h"
#include "tests/unit/folder.h"

static void test_beat__makes_and_changes_the_pulse(void **state)
{
    int64_t before;

    assert_int_equal(pulse_read(*state), 0);
    assert_int_equal(pulse_beat(*state, NULL), 0);
    before = pulse_read(*state);
    assert_true(before > 0);
    while (pulse_read(*state) == before)
        assert_int_equal(pulse_beat(*state, NULL), 0);
}

static void test_beat__says_what_is_in_its_way(void **state)
{
    char *path = fs_join(*state, "pulse");
    struct err err;

    assert_int_equal(pulse_beat("/nowhere/at/all", &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(pulse_beat(*state, &err), -1);
    assert_non_null(strstr(err.text, "/pulse"));
    free(path);
}

static void test_mark__is_there_once_it_is_made(void **state)
{
    assert_false(pulse_is_marked(*state, PULSE_REVOKED));
    assert_int_equal(pulse_mark(*state, PULSE_REVOKED, NULL), 0);
    assert_int_equal(pulse_mark(*state, PULSE_REVOKED, NULL), 0);
    assert_true(pulse_is_marked(*state, PULSE_REVOKED));
    assert_false(pulse_is_marked(*state, PULSE_GO));
    assert_false(pulse_is_marked("/nowhere/at/all", PULSE_GO));
    assert_int_equal(pulse_mark("/nowhere/at/all", PULSE_GO, NULL), -1);
}

/* On the watcher's own clock, and not before it has watched for so long. */
static void test_watch__counts_from_the_last_change(void **state)
{
    struct pulse_watch watch = {0, 0};
    int64_t before;

    assert_int_equal(pulse_beat(*state, NULL), 0);
    assert_int_equal(pulse_silence_ms(&watch, *state, 5000), 0);
    assert_int_equal(pulse_silence_ms(&watch, *state, 5700), 700);
    before = pulse_read(*state);
    while (pulse_read(*state) == before)
        assert_int_equal(pulse_beat(*state, NULL), 0);
    assert_int_equal(pulse_silence_ms(&watch, *state, 6000), 0);
    assert_int_equal(pulse_silence_ms(&watch, *state, 6100), 100);
}

static void test_watch__hears_the_first_beat(void **state)
{
    struct pulse_watch watch = {0, 0};

    assert_int_equal(pulse_silence_ms(&watch, *state, 10), 0);
    assert_int_equal(pulse_silence_ms(&watch, *state, 60), 50);
    assert_int_equal(pulse_beat(*state, NULL), 0);
    assert_int_equal(pulse_silence_ms(&watch, *state, 70), 0);
}

/* A folder that cannot be looked into is no sign of death. */
static void test_watch__takes_the_unseen_for_alive(void **state)
{
    char *path = fs_join(*state, "pulse");
    struct pulse_watch watch = {0, 0};

    assert_int_equal(pulse_beat(*state, NULL), 0);
    assert_int_equal(pulse_silence_ms(&watch, *state, 10), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("pulse", path), 0);
    assert_int_equal(pulse_read(*state), -1);
    assert_int_equal(pulse_silence_ms(&watch, *state, 90), 0);
    free(path);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_beat__makes_and_changes_the_pulse),
        IN_FOLDER(test_beat__says_what_is_in_its_way),
        IN_FOLDER(test_mark__is_there_once_it_is_made),
        IN_FOLDER(test_watch__counts_from_the_last_change),
        IN_FOLDER(test_watch__hears_the_first_beat),
        IN_FOLDER(test_watch__takes_the_unseen_for_alive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
