/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "orchestrator/job/checkpoint_hash.h"

/* Whether it is as it was; it becomes that which is remembered. */
static bool is_equal(const char *folder, char **last)
{
    char *hash = checkpoint_hash(folder);
    bool equal = *last != NULL && hash != NULL && strcmp(hash, *last) == 0;

    free(*last);
    *last = hash;
    return equal;
}

static void touch(const char *folder, const char *name, int64_t time_s)
{
    const struct timespec times[] = {{.tv_sec = time_s}, {.tv_sec = time_s}};
    char *path = fs_join(folder, name);

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static void put_bytes(const char *folder, const char *name, off_t at,
                      const char *bytes)
{
    char *path = fs_join(folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ssize_t length = (ssize_t)strlen(bytes);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, (size_t)length, at), length);
    close(fd);
    free(path);
}

static void test_hash__is_none_where_there_is_no_file(void **state)
{
    char *folder = fs_join(*state, "checkpoints");

    assert_null(checkpoint_hash(folder));
    assert_int_equal(fs_make_directories(folder, NULL), 0);
    assert_null(checkpoint_hash(folder));
    free(folder);
}

static void test_hash__goes_by_names_and_contents(void **state)
{
    char *last = NULL, *link = fs_join(*state, "last");

    put(*state, "step", "a", "one");
    is_equal(*state, &last);
    assert_non_null(last);
    assert_true(is_equal(*state, &last));
    touch(*state, "step/a", 1000);
    assert_true(is_equal(*state, &last));
    put(*state, "step", "a", "one");
    assert_true(is_equal(*state, &last));
    put(*state, "step", "a", "two");
    assert_false(is_equal(*state, &last));
    put(*state, "step", "b", "two");
    assert_false(is_equal(*state, &last));
    assert_int_equal(symlink("step/a", link), 0);
    assert_false(is_equal(*state, &last));
    unlink(link);
    assert_int_equal(symlink("step/b", link), 0);
    assert_false(is_equal(*state, &last));
    assert_true(is_equal(*state, &last));
    free(link);
    free(last);
}

/* The same wherever the folder lies. */
static void test_hash__is_of_what_is_below(void **state)
{
    char *here = fs_join(*state, "1"), *there = fs_join(*state, "22");
    char *last = NULL;

    put(here, ".", "a", "one");
    put(there, ".", "a", "one");
    is_equal(here, &last);
    assert_true(is_equal(there, &last));
    free(last);
    free(here);
    free(there);
}

static void test_hash__of_large_files_sees_ends_and_pieces(void **state)
{
    enum { SIZE = 64 << 20 };
    char *last = NULL;

    put_bytes(*state, "model", SIZE - 1, "x");
    is_equal(*state, &last);
    put_bytes(*state, "model", 100, "x");
    assert_false(is_equal(*state, &last));
    put_bytes(*state, "model", SIZE - 60000, "x");
    assert_false(is_equal(*state, &last));
    put_bytes(*state, "model", SIZE, "x");
    assert_false(is_equal(*state, &last));
    for (off_t at = 65536; at < SIZE; at += 4096)
        put_bytes(*state, "model", at, "y");
    assert_false(is_equal(*state, &last));
    touch(*state, "model", 1000);
    assert_true(is_equal(*state, &last));
    free(last);
}

/* Beyond what is read, times tell. */
static void test_hash__of_many_files_is_bounded(void **state)
{
    char name[16], *last = NULL;

    for (int i = 0; i < 70; i++) {
        snprintf(name, sizeof(name), "%03d", i);
        put_bytes(*state, name, 300000, "x");
    }
    is_equal(*state, &last);
    assert_true(is_equal(*state, &last));
    touch(*state, "001", 1000);
    assert_true(is_equal(*state, &last));
    touch(*state, "069", 1000);
    assert_false(is_equal(*state, &last));
    free(last);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_hash__is_none_where_there_is_no_file),
        IN_FOLDER(test_hash__goes_by_names_and_contents),
        IN_FOLDER(test_hash__is_of_what_is_below),
        IN_FOLDER(test_hash__of_large_files_sees_ends_and_pieces),
        IN_FOLDER(test_hash__of_many_files_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
