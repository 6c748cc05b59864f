/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: clone */
/* Starts where processes are emulated, as by qemu: a child has a copy of its
 * parent's memory, and one that would share it and run beside its parent is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "base/mem.h"
#include "executors/machine/process_table.h"
#include "executors/shim/spawn.h"
#include "tests/unit/folder.h"

static int refused; /* starts */

int __real_clone(int (*run)(void *argument), void *stack, int flags,
                 void *argument, ...);
int __wrap_clone(int (*run)(void *argument), void *stack, int flags,
                 void *argument, ...);
int __wrap_clone(int (*run)(void *argument), void *stack, int flags,
                 void *argument, ...)
{
    if ((flags & CLONE_VM) != 0 && (flags & CLONE_VFORK) == 0) {
        refused++;
        errno = EINVAL;
        return -1;
    }
    return __real_clone(run, stack, flags & ~(CLONE_VM | CLONE_VFORK),
                        argument);
}

static pid_t start_yes(struct spawner *spawner, const char *directory,
                       bool overlaps, uint64_t *start)
{
    static char program[] = "/usr/bin/yes";
    char *argv[] = {program, NULL}, *envp[] = {NULL};
    const struct attempt_spec spec = {.attempt = 1,
                                      .directory = directory,
                                      .work_directory = directory,
                                      .argv = argv,
                                      .envp = envp};
    const struct spawn_place place = {.overlaps = overlaps};

    return spawn_command(spawner, &spec, &place, start, NULL);
}

static void expect_start(const char *folder, bool overlaps)
{
    struct spawner spawner;
    struct process process;
    uint64_t start = 0;
    int status;
    pid_t pid;

    assert_int_equal(spawner_init(&spawner, NULL), 0);
    pid = start_yes(&spawner, folder, overlaps, &start);
    assert_true(pid > 0);
    spawn_await(&spawner, pid);
    assert_true(process_read(pid, &process));
    assert_int_equal(start, process.start);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(spawn_result(&spawner, pid, NULL), 0);
    spawner_clear(&spawner);
}

static void test_spawn_copied__runs_where_it_cannot_overlap(void **state)
{
    refused = 0;
    expect_start(*state, true);
    assert_int_equal(refused, 1);
}

static void test_spawn_copied__knows_the_start_time(void **state)
{
    expect_start(*state, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_spawn_copied__runs_where_it_cannot_overlap),
        FOLDER_TEST(test_spawn_copied__knows_the_start_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
