/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The claim in an attempt's directory; its other files: test_attempt_file.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "base/fs.h"
#include "executors/attempt/attempt_file.h"
#include "tests/unit/folder.h"

static struct claim some_claim(void)
{
    struct claim claim = {.attempt = 7,
                          .pid = 123,
                          .pid_start = UINT64_C(4567890123),
                          .shim_pid = 99,
                          .shim_start = 42,
                          .time_ms = INT64_C(1790000000123)};

    claim_identify(&claim);
    return claim;
}

static void write_claim(int fd, const struct claim *claim)
{
    char line[CLAIM_LINE_MAX];
    size_t length = claim_format(claim, line);

    assert_int_equal(write(fd, line, length), length);
}

static int open_claim(const char *folder)
{
    char *path = fs_join(folder, "claim");
    int fd = open(path, O_WRONLY | O_TRUNC);

    free(path);
    assert_true(fd >= 0);
    return fd;
}

static void test_claim__is_given_once(void **state)
{
    struct err err;
    int fd;

    assert_false(claim_exists(*state));
    fd = claim_create(*state, NULL);
    assert_true(fd >= 0);
    assert_true(claim_exists(*state));
    assert_int_equal(claim_create(*state, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
    close(fd);
    assert_int_equal(claim_create(*state, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
}

static void test_claim__of_a_missing_directory_fails(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(claim_create("/nowhere/at/all", &err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_non_null(strstr(err.text, "/nowhere/at/all/claim"));
}

static void test_claim__survives_writing_and_reading(void **state)
{
    struct claim claim = some_claim(), read;
    int fd = claim_create(*state, NULL);

    write_claim(fd, &claim);
    assert_false(claim_is_free(*state));
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_HELD);
    assert_int_equal(read.attempt, 7);
    assert_int_equal(read.pid, 123);
    assert_int_equal(read.pid_start, claim.pid_start);
    assert_int_equal(read.shim_pid, 99);
    assert_int_equal(read.shim_start, 42);
    assert_int_equal(read.time_ms, claim.time_ms);
    assert_string_equal(read.boot_id, claim.boot_id);
    assert_string_equal(read.host, claim.host);
    assert_true(strlen(read.boot_id) == 36);
    close(fd);
    assert_true(claim_is_free(*state));
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_FREE);
    assert_int_equal(read.pid, 123);
}

static void test_judge__takes_the_claim_of_what_never_started(void **state)
{
    struct claim claim;
    struct err err;

    assert_int_equal(claim_judge(*state, 7, &claim, NULL), CLAIM_VOID);
    assert_int_equal(claim.pid, 0);
    assert_int_equal(claim_create(*state, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
    assert_int_equal(claim_judge(*state, 7, &claim, NULL), CLAIM_VOID);
}

/* The maker of a claim was killed, or overtaken, before it locked it. */
static void test_judge__takes_an_unlocked_empty_claim(void **state)
{
    struct claim claim;

    put(*state, ".", "claim", "");
    assert_int_equal(claim_judge(*state, 7, &claim, NULL), CLAIM_VOID);
    assert_int_equal(claim_judge(*state, 7, &claim, NULL), CLAIM_VOID);
}

/* A free lock and a pid say nothing of another machine. */
static void test_judge__tells_where_a_claim_is_another_hosts(void **state)
{
    struct claim claim = some_claim(), read;
    int fd = claim_create(*state, NULL);

    snprintf(claim.host, sizeof(claim.host), "%s", "another.host");
    write_claim(fd, &claim);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_HELD);
    close(fd);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_ELSEWHERE);
    assert_string_equal(read.host, "another.host");
}

/* Hosts of a cluster that have one name, or the host as it was before a crash:
 * its node is a matter of whoever runs the cluster. */
static void test_judge__knows_a_node_by_its_boot(void **state)
{
    struct claim claim = some_claim(), read;
    int fd = claim_create(*state, NULL);

    memset(claim.boot_id, '0', 8);
    write_claim(fd, &claim);
    close(fd);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_FREE);
    snprintf(claim.node, sizeof(claim.node), "n3");
    fd = open_claim(*state);
    write_claim(fd, &claim);
    close(fd);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_ELSEWHERE);
    assert_string_equal(read.node, "n3");
    claim_identify(&claim);
    fd = open_claim(*state);
    write_claim(fd, &claim);
    close(fd);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_FREE);
}

/* Void is void, whoever made it so. */
static void test_judge__believes_another_hosts_void_claim(void **state)
{
    struct claim claim = some_claim(), read;
    int fd = claim_create(*state, NULL);

    snprintf(claim.host, sizeof(claim.host), "%s", "another.host");
    claim.pid = 0;
    write_claim(fd, &claim);
    close(fd);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_VOID);
}

static void test_claim__says_where_in_the_cluster(void **state)
{
    struct claim claim = some_claim(), read;
    int fd = claim_create(*state, NULL);

    snprintf(claim.node, sizeof(claim.node), "n\"1");
    claim.job = INT64_C(4294967297);
    claim.is_in_pilot = true;
    write_claim(fd, &claim);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_HELD);
    assert_string_equal(read.node, claim.node);
    assert_int_equal(read.job, claim.job);
    assert_true(read.is_in_pilot);
    close(fd);
}

static void test_claim__of_an_older_version_is_read(void **state)
{
    struct claim claim = some_claim(), read;
    char line[CLAIM_LINE_MAX];

    snprintf(line, sizeof(line),
             "{\"attempt\": 7, \"pid\": 123, \"pid_start\": 45, "
             "\"boot_id\": \"%s\", \"host\": \"%s\", \"time_ms\": 1, "
             "\"shim_pid\": 99, \"shim_start\": 42, \"cgroup\": \"\"}\n",
             claim.boot_id, claim.host);
    put(*state, ".", "claim", line);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_FREE);
    assert_int_equal(read.shim_pid, 99);
    assert_string_equal(read.node, "");
    assert_int_equal(read.job, 0);
    assert_false(read.is_in_pilot);
}

/* All fields as long as they may be. */
static void test_claim__fits_into_its_line(void **state)
{
    struct claim claim = some_claim(), read;
    int fd = claim_create(*state, NULL);

    memset(claim.cgroup, 1, sizeof(claim.cgroup) - 1);
    memset(claim.node, 'n', sizeof(claim.node) - 1);
    memset(claim.host, 'h', sizeof(claim.host) - 1);
    claim.pid_start = claim.shim_start = COUNT_MAX;
    claim.attempt = claim.job = claim.time_ms = -COUNT_MAX;
    claim.pid = claim.shim_pid = -COUNT_MAX;
    write_claim(fd, &claim);
    assert_int_equal(claim_judge(*state, 7, &read, NULL), CLAIM_HELD);
    assert_string_equal(read.node, claim.node);
    assert_string_equal(read.cgroup, claim.cgroup);
    close(fd);
}

/* No host is called so, and no field takes another's room. */
static void test_claim__cuts_a_node_of_quotes(void **state)
{
    struct claim claim = some_claim(), read;
    int fd = claim_create(*state, NULL);

    memset(claim.node, '"', sizeof(claim.node) - 1);
    claim.job = 5;
    write_claim(fd, &claim);
    close(fd);
    assert_int_equal(claim_read(*state, &read), 1);
    assert_int_equal(read.job, 5);
    assert_true(strlen(read.node) > 0);
    assert_memory_equal(read.node, claim.node, strlen(read.node));
}

static void test_judge__waits_for_a_locked_empty_claim(void **state)
{
    struct claim claim;
    int fd = claim_create(*state, NULL);

    assert_int_equal(claim_judge(*state, 7, &claim, NULL), CLAIM_HELD);
    assert_int_equal(claim.pid, 0);
    close(fd);
}

static void test_judge__takes_no_damaged_claim(void **state)
{
    char long_line[3 * CLAIM_LINE_MAX] = "{";
    struct claim claim;

    put(*state, ".", "claim", "{\"attempt\": 7, \"pid\": 12");
    assert_int_equal(claim_judge(*state, 7, &claim, NULL), CLAIM_FREE);
    assert_int_equal(claim.pid, 0);
    memset(long_line + 1, ' ', sizeof(long_line) - 2);
    put(*state, ".", "claim", long_line);
    assert_int_equal(claim_judge(*state, 7, &claim, NULL), CLAIM_FREE);
}

static void test_lock__is_held_by_what_inherited_it(void **state)
{
    int fd = claim_create(*state, NULL);
    int inherited = dup(fd);

    close(fd);
    assert_false(claim_is_free(*state));
    close(inherited);
    assert_true(claim_is_free(*state));
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_claim__is_given_once),
        IN_FOLDER(test_claim__of_a_missing_directory_fails),
        IN_FOLDER(test_claim__survives_writing_and_reading),
        IN_FOLDER(test_judge__takes_the_claim_of_what_never_started),
        IN_FOLDER(test_judge__takes_an_unlocked_empty_claim),
        IN_FOLDER(test_judge__tells_where_a_claim_is_another_hosts),
        IN_FOLDER(test_judge__knows_a_node_by_its_boot),
        IN_FOLDER(test_judge__believes_another_hosts_void_claim),
        IN_FOLDER(test_claim__says_where_in_the_cluster),
        IN_FOLDER(test_claim__of_an_older_version_is_read),
        IN_FOLDER(test_claim__fits_into_its_line),
        IN_FOLDER(test_claim__cuts_a_node_of_quotes),
        IN_FOLDER(test_judge__waits_for_a_locked_empty_claim),
        IN_FOLDER(test_judge__takes_no_damaged_claim),
        IN_FOLDER(test_lock__is_held_by_what_inherited_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
