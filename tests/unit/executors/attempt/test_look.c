/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "executors/attempt/look.h"
#include "executors/machine/process_table.h"
#include "tests/unit/folder.h"

enum { ATTEMPT = 7 };

static struct attempt_look look_at(const char *folder)
{
    struct attempt_look look;

    attempt_look(folder, ATTEMPT, &look);
    return look;
}

/* Of this process, which looks after it as well. */
static struct claim own_claim(void)
{
    struct claim claim = {.attempt = ATTEMPT, .pid = getpid()};
    struct process self;

    assert_true(process_read(getpid(), &self));
    claim_identify(&claim);
    claim.pid_start = self.start;
    claim.shim_pid = claim.pid;
    claim.shim_start = claim.pid_start;
    return claim;
}

/* Its descriptor, which holds the lock. */
static int make_claim(const char *folder, const struct claim *claim)
{
    char line[CLAIM_LINE_MAX];
    int fd = claim_create(folder, NULL);

    assert_true(fd >= 0);
    assert_int_equal(fs_write_all(fd, line, claim_format(claim, line)), 0);
    return fd;
}

static void test_look__nothing_is_there_and_stays_so(void **state)
{
    const char *folder = *state;

    assert_int_equal(look_at(folder).sight, SIGHT_UNCLAIMED);
    assert_false(claim_exists(folder));
    assert_int_equal(look_at("/nonexistent/folder").sight, SIGHT_UNCLAIMED);
}

/* Whoever looks must not take the lock of a claim that its maker writes next.
 */
static void test_look__an_empty_claim_is_left_alone(void **state)
{
    const char *folder = *state;

    put(folder, ".", "claim", "");
    assert_int_equal(look_at(folder).sight, SIGHT_UNKNOWN);
    put(folder, ".", "claim", "{\"attempt\": 7, \"pid\"");
    assert_int_equal(look_at(folder).sight, SIGHT_UNKNOWN);
}

static void test_look__it_runs_as_long_as_the_lock_is_held(void **state)
{
    const char *folder = *state;
    struct claim claim = own_claim();
    struct attempt_look look;
    int fd = make_claim(folder, &claim);

    look = look_at(folder);
    assert_int_equal(look.sight, SIGHT_RUNS);
    assert_int_equal(look.claim.pid, getpid());
    assert_false(look.is_orphan);
    close(fd);
    /* until its shim has written how it ended */
    assert_int_equal(look_at(folder).sight, SIGHT_RUNS);
}

static void test_look__it_runs_without_its_shim(void **state)
{
    const char *folder = *state;
    struct claim claim = own_claim();
    struct attempt_look look;
    int fd;

    claim.shim_start++;
    fd = make_claim(folder, &claim);
    look = look_at(folder);
    assert_int_equal(look.sight, SIGHT_RUNS);
    assert_true(look.is_orphan);
    close(fd);
}

static void test_look__nothing_of_it_is_left(void **state)
{
    const char *folder = *state;
    struct claim claim = own_claim();

    claim.pid_start++;
    claim.shim_start++;
    close(make_claim(folder, &claim));
    assert_int_equal(look_at(folder).sight, SIGHT_GONE);
}

static void test_look__after_the_machine_has_started_again(void **state)
{
    const char *folder = *state;
    struct claim claim = own_claim();

    snprintf(claim.boot_id, sizeof(claim.boot_id), "another");
    close(make_claim(folder, &claim));
    assert_int_equal(look_at(folder).sight, SIGHT_GONE);
}

static void test_look__what_other_hosts_do_is_not_seen(void **state)
{
    const char *folder = *state;
    struct claim claim = own_claim();
    struct attempt_look look;

    snprintf(claim.host, sizeof(claim.host), "elsewhere");
    close(make_claim(folder, &claim));
    look = look_at(folder);
    assert_int_equal(look.sight, SIGHT_UNKNOWN);
    assert_string_equal(look.claim.host, "elsewhere");
}

static void test_look__its_end_counts_most(void **state)
{
    const char *folder = *state;
    struct claim claim = own_claim();
    const struct attempt_exit end = {
        .attempt = ATTEMPT, .cause = CAUSE_EXIT, .exit_code = 3};
    int fd = make_claim(folder, &claim);
    struct attempt_look look;

    assert_int_equal(exit_write(folder, &end, NULL), 0);
    look = look_at(folder);
    assert_int_equal(look.sight, SIGHT_ENDED);
    assert_int_equal(look.end.exit_code, 3);
    close(fd);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_look__nothing_is_there_and_stays_so),
        IN_FOLDER(test_look__an_empty_claim_is_left_alone),
        IN_FOLDER(test_look__it_runs_as_long_as_the_lock_is_held),
        IN_FOLDER(test_look__it_runs_without_its_shim),
        IN_FOLDER(test_look__nothing_of_it_is_left),
        IN_FOLDER(test_look__after_the_machine_has_started_again),
        IN_FOLDER(test_look__what_other_hosts_do_is_not_seen),
        IN_FOLDER(test_look__its_end_counts_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
