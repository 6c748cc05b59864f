/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "executors/attempt/order_file.h"
#include "tests/unit/folder.h"

/* A string of the caller's own, as in environments. */
#define OWN(text) ((char[]){text})

static char *argv[] = {OWN("train"), OWN("--lr"), OWN("0.1 $(rm -rf /)"),
                       OWN(""), NULL};
static char *envp[] = {OWN("SM_LR=0.1"), OWN("NAME=a b\nc"), NULL};

static struct attempt_spec some_spec(const char *directory)
{
    return (struct attempt_spec){.attempt = -3,
                                 .directory = directory,
                                 .work_directory = "/some where",
                                 .argv = argv,
                                 .envp = envp,
                                 .cpus = 2,
                                 .gpus = 1,
                                 .memory_bytes = INT64_C(1) << 33,
                                 .time_ms = 60000,
                                 .grace_ms = 500,
                                 .warn_signal = SIGUSR1,
                                 .link_exits = {{1, 2, 4, 8}},
                                 .warn_before_ms = 1000};
}

static void assert_strings(char *const *read, char *const *wanted)
{
    for (; *wanted != NULL; read++, wanted++) {
        assert_non_null(*read);
        assert_string_equal(*read, *wanted);
    }
    assert_null(*read);
}

static void free_strings(char **strings)
{
    for (char **at = strings; *at != NULL; at++)
        free(*at);
    free(strings);
}

static void test_order__survives_writing_and_reading(void **state)
{
    const struct attempt_spec spec = some_spec(*state);
    struct attempt_request *request;
    char *path = fs_join(*state, "order");
    struct stat status;

    assert_int_equal(order_write(&spec, NULL), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    request = order_read(*state, NULL);
    assert_non_null(request);
    assert_int_equal(request->spec.attempt, -3);
    assert_string_equal(request->spec.directory, *state);
    assert_string_equal(request->spec.work_directory, "/some where");
    assert_strings(request->spec.argv, argv);
    assert_strings(request->spec.envp, envp);
    assert_int_equal(request->spec.cpus, 2);
    assert_int_equal(request->spec.gpus, 1);
    assert_int_equal(request->spec.memory_bytes, INT64_C(1) << 33);
    assert_int_equal(request->spec.time_ms, 60000);
    assert_int_equal(request->spec.grace_ms, 500);
    assert_int_equal(request->spec.warn_signal, SIGUSR1);
    assert_int_equal(request->spec.link_exits.bits[3], 8);
    assert_int_equal(request->spec.warn_before_ms, 1000);
    attempt_request_destroy(request);
    free(path);
}

static void test_order__that_is_not_there_is_not_found(void **state)
{
    struct err err;

    assert_null(order_read(*state, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void test_order__cut_short_is_damaged(void **state)
{
    const struct attempt_spec spec = some_spec(*state);
    char *path = fs_join(*state, "order");
    struct stat status;
    struct err err;

    assert_int_equal(order_write(&spec, NULL), 0);
    assert_int_equal(stat(path, &status), 0);
    for (off_t length = status.st_size - 1; length >= 0; length--) {
        assert_int_equal(truncate(path, length), 0);
        assert_null(order_read(*state, &err));
        assert_int_equal(err.kind, ERR_FAILED);
        assert_non_null(strstr(err.text, "damaged"));
    }
    free(path);
}

static void test_order__with_more_behind_is_damaged(void **state)
{
    const struct attempt_spec spec = some_spec(*state);
    char *path = fs_join(*state, "order");
    struct stat status;

    assert_int_equal(order_write(&spec, NULL), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size + 1), 0);
    assert_null(order_read(*state, NULL));
    free(path);
}

static void test_order__of_another_version_is_refused(void **state)
{
    struct buf bytes = BUF_INIT;
    const struct attempt_spec spec = some_spec(*state);
    char *path = fs_join(*state, "order");
    struct err err;

    assert_int_equal(order_write(&spec, NULL), 0);
    assert_int_equal(fs_read(path, 1 << 20, &bytes, NULL), 0);
    bytes.data[strlen("smtune order ")]++;
    assert_int_equal(
        fs_write_atomic(path, bytes.data, bytes.length, 0600, NULL), 0);
    assert_null(order_read(*state, &err));
    assert_non_null(strstr(err.text, "another version"));
    buf_clear(&bytes);
    free(path);
}

static void test_order__cannot_be_written_nowhere(void **state)
{
    const struct attempt_spec spec = some_spec("/nowhere/at/all");
    struct err err;

    (void)state;
    assert_int_equal(order_write(&spec, &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/at/all/order"));
}

/* Its own name fits, and perhaps not that of what is to become it. */
static void test_order__has_a_path_that_fits(void **state)
{
    static const size_t lengths[] = {PATH_MAX - sizeof("/order"),
                                     PATH_MAX - sizeof("/order") + 1};
    char directory[PATH_MAX];
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        const struct attempt_spec spec = some_spec(directory);

        memset(directory, '/', lengths[i]);
        directory[lengths[i]] = '\0';
        assert_int_equal(order_write(&spec, &err), -1);
        assert_non_null(strstr(err.text, "File name too long"));
        assert_null(order_read(directory, &err));
    }
    assert_non_null(strstr(err.text, "File name too long"));
}

static void test_order__that_nobody_takes_is_not_written(void **state)
{
    struct attempt_spec spec = some_spec(*state);
    char *word = mem_alloc(AGENT_MESSAGE_MAX_BYTES + 1);
    char *path = fs_join(*state, "order");
    char *words[] = {word, NULL};
    struct err err;

    memset(word, 'x', AGENT_MESSAGE_MAX_BYTES);
    word[AGENT_MESSAGE_MAX_BYTES] = '\0';
    spec.argv = words;
    assert_int_equal(order_write(&spec, &err), -1);
    assert_non_null(strstr(err.text, "more than any system accepts"));
    assert_int_equal(access(path, F_OK), -1);
    free(path);
    free(word);
}

static void test_order__leaves_nothing_half_done(void **state)
{
    const struct attempt_spec spec = some_spec(*state);
    char *path = fs_join(*state, "order");
    char *temporary = fs_join(*state, "order.tmp");
    struct err err;

    assert_int_equal(fs_make_directories(path, NULL), 0); /* in its place */
    assert_int_equal(order_write(&spec, &err), -1);
    assert_non_null(strstr(err.text, "cannot write '"));
    assert_int_equal(access(temporary, F_OK), -1);
    free(temporary);
    free(path);
}

static void test_own_variables__are_those_that_differ(void **state)
{
    char *inherited[] = {OWN("HOME=/h"), OWN("SM_LR=0.2"), OWN("SHELL=/bin/sh"),
                         NULL};
    char *all[] = {OWN("HOME=/h"), OWN("SM_LR=0.1"), OWN("NEW="), NULL};
    char *wanted[] = {OWN("SM_LR=0.1"), OWN("NEW="), NULL};
    const char *const names[] = {"HOM", "NONE", "HOME", NULL};
    char **own = order_own_variables(all, inherited, NULL);

    (void)state;
    assert_strings(own, wanted);
    free(own);
    own = order_own_variables(all, inherited, names);
    assert_strings(own, all);
    free(own);
}

static void test_environment__is_the_nodes_with_the_orders(void **state)
{
    char *node[] = {OWN("HOME=/h"),
                    OWN("SMTUNE_TRIAL=9"),
                    OWN("SM_OLD=1"),
                    OWN("PATH=/modules/bin:/bin"),
                    OWN("LANG=C"),
                    OWN("LAN=1"),
                    OWN("PATHS=2"),
                    OWN("CUDA_VISIBLE_DEVICES=3"),
                    NULL};
    char *own[] = {
        OWN("SM_LR=0.1"),      OWN("PATH=/laptop"),           OWN("LANG=de"),
        OWN("SMTUNE_TRIAL=1"), OWN("CUDA_VISIBLE_DEVICES=0"), NULL};
    char *wanted[] = {OWN("PATH=/programs:/modules/bin:/bin"),
                      OWN("HOME=/h"),
                      OWN("LAN=1"),
                      OWN("PATHS=2"),
                      OWN("CUDA_VISIBLE_DEVICES=3"),
                      OWN("SM_LR=0.1"),
                      OWN("LANG=de"),
                      OWN("SMTUNE_TRIAL=1"),
                      NULL};
    char **all = order_environment(own, node, "/programs");

    (void)state;
    assert_strings(all, wanted);
    free_strings(all);
}

static void test_environment__has_a_path_where_the_node_has_none(void **state)
{
    char *none[] = {NULL};
    char *wanted[] = {OWN("PATH=/programs:/usr/local/bin:/usr/bin:/bin"), NULL};
    char **all = order_environment(none, none, "/programs");

    (void)state;
    assert_strings(all, wanted);
    free_strings(all);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_order__survives_writing_and_reading),
        IN_FOLDER(test_order__that_is_not_there_is_not_found),
        IN_FOLDER(test_order__cut_short_is_damaged),
        IN_FOLDER(test_order__with_more_behind_is_damaged),
        IN_FOLDER(test_order__of_another_version_is_refused),
        cmocka_unit_test(test_order__cannot_be_written_nowhere),
        cmocka_unit_test(test_order__has_a_path_that_fits),
        IN_FOLDER(test_order__that_nobody_takes_is_not_written),
        IN_FOLDER(test_order__leaves_nothing_half_done),
        cmocka_unit_test(test_own_variables__are_those_that_differ),
        cmocka_unit_test(test_environment__is_the_nodes_with_the_orders),
        cmocka_unit_test(test_environment__has_a_path_where_the_node_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
