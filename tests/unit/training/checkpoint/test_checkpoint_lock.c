/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "training/checkpoint/checkpoint.h"

enum { RUNS = 4, TURNS = 200 };

static char directory[] = "/tmp/smtune-test-lock-XXXXXX";

static int make_directory(void **state)
{
    *state = directory;
    memset(directory + sizeof(directory) - 7, 'X', 6);
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
    return fs_remove_tree(*state, NULL);
}

/* -1 where another run has it. */
static int take(struct checkpoint_lock **lock)
{
    struct buf notes = BUF_INIT;
    struct err err = {0};
    int status = checkpoint_lock(directory, lock, &notes, &err);

    assert_int_equal(notes.length, 0);
    if (status != 0) {
        assert_null(*lock);
        assert_int_equal(err.kind, ERR_BUSY);
        assert_non_null(strstr(err.text, "another training uses '/tmp/"));
        assert_non_null(strstr(err.text, "/lock')"));
    }
    return status;
}

static void test_checkpoint_lock__keeps_a_second_run_out(UNUSED void **state)
{
    char *path = fs_join(directory, "lock");
    struct checkpoint_lock *lock, *second;

    assert_int_equal(take(&lock), 0);
    assert_true(fs_exists(path));
    assert_int_equal(take(&second), -1);
    assert_true(fs_exists(path));
    checkpoint_unlock(lock);
    assert_false(fs_exists(path));
    assert_int_equal(take(&lock), 0);
    checkpoint_unlock(lock);
    free(path);
}

/* As by a user where the holder's machine is gone. */
static void test_checkpoint_lock__goes_with_its_file(UNUSED void **state)
{
    char *path = fs_join(directory, "lock");
    struct checkpoint_lock *lost, *lock, *second;

    assert_int_equal(take(&lost), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(take(&lock), 0);
    checkpoint_unlock(lost);
    assert_int_equal(take(&second), -1);
    checkpoint_unlock(lock);
    free(path);
}

static void test_checkpoint_lock__ends_with_its_process(UNUSED void **state)
{
    struct checkpoint_lock *lock;
    char *path = fs_join(directory, "lock");
    pid_t child = fork();

    if (child == 0)
        _exit(checkpoint_lock(directory, &lock, NULL, NULL) != 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(fs_exists(path));
    assert_int_equal(take(&lock), 0);
    checkpoint_unlock(lock);
    free(path);
}

/* Who opens the file just before it is removed has no right to go on. */
static void be_run(atomic_int *inside)
{
    for (int turn = 0; turn < TURNS;) {
        struct checkpoint_lock *lock;

        if (checkpoint_lock(directory, &lock, NULL, NULL) != 0)
            continue;
        if (atomic_fetch_add(inside, 1) != 0)
            _exit(1);
        atomic_fetch_sub(inside, 1);
        checkpoint_unlock(lock);
        turn++;
    }
    _exit(0);
}

static void test_checkpoint_lock__is_one_runs_at_any_moment(UNUSED void **state)
{
    atomic_int *inside = mmap(NULL, sizeof(*inside), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[RUNS];

    assert_ptr_not_equal(inside, MAP_FAILED);
    for (int i = 0; i < RUNS; i++) {
        children[i] = fork();
        if (children[i] == 0)
            be_run(inside);
    }
    for (int i = 0; i < RUNS; i++) {
        int status = -1;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    munmap(inside, sizeof(*inside));
}

static void test_checkpoint_lock__what_cannot_be_locked_is_noted(
    UNUSED void **state)
{
    char *missing = fs_join(directory, "missing");
    struct checkpoint_lock *lock;
    struct buf notes = BUF_INIT;

    assert_int_equal(checkpoint_lock(missing, &lock, &notes, NULL), 0);
    assert_null(lock);
    assert_non_null(strstr(buf_text(&notes),
                           "/missing/lock': No such file or directory; do not "
                           "start another training with this folder\n"));
    checkpoint_unlock(lock);
    buf_clear(&notes);
    free(missing);
}

int main(void)
{
#define IN_DIRECTORY(test)                                                     \
    cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_checkpoint_lock__keeps_a_second_run_out),
        IN_DIRECTORY(test_checkpoint_lock__goes_with_its_file),
        IN_DIRECTORY(test_checkpoint_lock__ends_with_its_process),
        IN_DIRECTORY(test_checkpoint_lock__is_one_runs_at_any_moment),
        IN_DIRECTORY(test_checkpoint_lock__what_cannot_be_locked_is_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
