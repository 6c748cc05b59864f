/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executors/machine/process_table.h"
#include "tests/unit/await.h"

/* A child that waits, and whose name is made to confuse. */
static pid_t start_child(void)
{
    int ends[2];
    char ready;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        setsid();
        prctl(PR_SET_NAME, "a) Z 1 (b");
        if (write(ends[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_process__is_read_whatever_its_name(void **state)
{
    struct process self, child;
    pid_t pid = start_child();

    (void)state;
    errno = EAGAIN;
    assert_true(process_read(getpid(), &self));
    assert_int_equal(errno, EAGAIN);
    assert_true(process_read(pid, &child));
    assert_int_equal(child.parent, getpid());
    assert_int_equal(child.session, pid);
    assert_true(child.start >= self.start);
    assert_true(self.rss_bytes > 100000);
    assert_false(child.is_zombie);
    end_child(pid);
    assert_false(process_read(pid, &child));
}

static void test_process__a_zombie_is_known_as_one(void **state)
{
    struct process child;
    siginfo_t info;
    pid_t pid = start_child();

    (void)state;
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(process_read(pid, &child));
    assert_true(child.is_zombie);
    assert_false(process_signal(pid, child.start, SIGKILL));
    end_child(pid);
}

static void test_signal__goes_to_no_other_process_of_that_pid(void **state)
{
    struct process child;
    int status;
    pid_t pid = start_child();

    (void)state;
    assert_true(process_read(pid, &child));
    assert_false(process_signal(pid, child.start + 1, SIGKILL));
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    assert_true(process_signal(pid, child.start, SIGUSR1));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGUSR1);
    assert_false(process_signal(pid, child.start, SIGKILL));
}

static void test_signal__to_a_session_spares_older_processes(void **state)
{
    struct process child;
    pid_t pid = start_child();

    (void)state;
    assert_true(process_read(pid, &child));
    assert_int_equal(process_signal_session(pid, child.start + 1, SIGKILL), 0);
    assert_int_equal(process_signal_session(pid, child.start, SIGKILL), 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_signal__to_descendants_spares_their_ancestor(void **state)
{
    pid_t first = start_child(), second = start_child();
    int status;

    (void)state;
    assert_int_equal(process_signal_descendants(first, SIGKILL), 0);
    assert_int_equal(process_signal_descendants(getpid(), SIGTERM), 2);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(process_signal_descendants(getpid(), SIGTERM), 0);
}

/* -- A pid that is used again ---------------------------------------------*/

/* In a namespace of its own, where the next pid can be chosen. */
static bool choose_next_pid(pid_t pid)
{
    FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "we");
    bool is_chosen;

    if (file == NULL)
        return false;
    is_chosen = fprintf(file, "%d", (int)pid - 1) > 0;
    return fclose(file) == 0 && is_chosen;
}

static pid_t start_sleeper(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        setsid();
        for (;;)
            pause();
    }
    return pid;
}

/* Since boot, as start times are counted. */
static uint64_t ticks_now(void)
{
    uint64_t a_second = (uint64_t)sysconf(_SC_CLK_TCK);
    struct timespec time;

    clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * a_second +
           (uint64_t)time.tv_nsec * a_second / 1000000000;
}

/* Returns what went wrong, 0 if nothing. */
static int signal_a_stranger(void)
{
    struct process first, second;
    pid_t pid, again = 0;

    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", 0, NULL) != 0)
        return 1;
    pid = start_sleeper();
    if (!process_read(pid, &first))
        return 2;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    AWAIT(ticks_now() > first.start);
    for (int i = 0; i < 20 && again != pid; i++) {
        if (!choose_next_pid(pid))
            return 3;
        again = start_sleeper();
    }
    if (again != pid || !process_read(pid, &second) ||
        second.start == first.start)
        return 4;
    while (second.session != pid)
        process_read(pid, &second);
    if (process_signal(pid, first.start, SIGKILL))
        return 5;
    if (process_signal_session(pid, first.start, SIGKILL) != 0)
        return 6;
    if (waitpid(pid, NULL, WNOHANG) != 0)
        return 7;
    return process_signal_session(pid, second.start, SIGKILL) == 1 ? 0 : 8;
}

static void test_signal__spares_a_stranger_with_the_pid(void **state)
{
    pid_t outer, inner;
    int status;

    (void)state;
    if (geteuid() != 0)
        skip();
    outer = fork();
    if (outer == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
            _exit(100);
        inner = fork();
        if (inner == 0)
            _exit(signal_a_stranger());
        waitpid(inner, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 101);
    }
    assert_int_equal(waitpid(outer, &status, 0), outer);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 100) /* a container may forbid it */
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_table__finds_what_runs(void **state)
{
    struct process_table table = {NULL, 0, 0};
    pid_t pid = start_child();

    (void)state;
    assert_null(process_table_find(&table, pid));
    assert_int_equal(process_table_read(&table), 0);
    assert_non_null(process_table_find(&table, getpid()));
    assert_int_equal(process_table_find(&table, pid)->parent, getpid());
    for (size_t i = 1; i < table.count; i++)
        assert_true(table.rows[i - 1].pid < table.rows[i].pid);
    end_child(pid);
    assert_int_equal(process_table_read(&table), 0);
    assert_null(process_table_find(&table, pid));
    process_table_clear(&table);
}

static void test_children__are_counted_until_they_are_reaped(void **state)
{
    ptrdiff_t before = process_count_children();
    pid_t first = start_child(), second = start_child();
    siginfo_t info;

    (void)state;
    assert_true(before >= 0);
    assert_int_equal(process_count_children(), before + 2);
    kill(first, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)first, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(process_count_children(), before + 2);
    assert_int_equal(waitpid(first, NULL, 0), first);
    assert_int_equal(process_count_children(), before + 1);
    end_child(second);
    assert_int_equal(process_count_children(), before);
}

static void test_children__are_killed(void **state)
{
    ptrdiff_t before = process_count_children();
    pid_t pids[] = {start_child(), start_child(), start_child()};
    int status;

    (void)state;
    assert_int_equal(before, 0);
    assert_int_equal(process_kill_children(), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    assert_int_equal(process_kill_children(), 0);
}

static void test_variable__is_found_whole(void **state)
{
    static char sh[] = "/bin/sleep", number[] = "1000", name[] = "NAMEX=1",
                value[] = "NAME=a=b", empty[] = "EMPTY=";
    char *argv[] = {sh, number, NULL};
    char *envp[] = {name, value, empty, NULL};
    char found[8];
    int ends[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        execve(sh, argv, envp);
        _exit(127);
    }
    close(ends[1]); /* its end closes when it executes */
    assert_int_equal(read(ends[0], found, 1), 0);
    close(ends[0]);
    assert_true(process_variable(pid, "NAME", found, sizeof(found)));
    assert_string_equal(found, "a=b");
    assert_true(process_variable(pid, "EMPTY", found, sizeof(found)));
    assert_string_equal(found, "");
    assert_false(process_variable(pid, "NAM", found, sizeof(found)));
    assert_false(process_variable(pid, "NAME", found, 3));
    end_child(pid);
    assert_false(process_variable(pid, "NAME", found, sizeof(found)));
}

static void test_memory__is_counted(void **state)
{
    pid_t pid = start_child();

    (void)state;
    assert_true(process_pss_bytes(getpid()) > 100000);
    end_child(pid);
    assert_int_equal(process_pss_bytes(pid), 0);
}

static void test_open__is_known_by_the_file(void **state)
{
    struct stat status;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_int_equal(fstat(fd, &status), 0);
    assert_true(process_has_open(getpid(), status.st_dev, status.st_ino));
    close(fd);
    assert_false(process_has_open(getpid(), status.st_dev, status.st_ino));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process__is_read_whatever_its_name),
        cmocka_unit_test(test_process__a_zombie_is_known_as_one),
        cmocka_unit_test(test_signal__goes_to_no_other_process_of_that_pid),
        cmocka_unit_test(test_signal__to_a_session_spares_older_processes),
        cmocka_unit_test(test_signal__to_descendants_spares_their_ancestor),
        cmocka_unit_test(test_signal__spares_a_stranger_with_the_pid),
        cmocka_unit_test(test_table__finds_what_runs),
        cmocka_unit_test(test_children__are_counted_until_they_are_reaped),
        cmocka_unit_test(test_children__are_killed),
        cmocka_unit_test(test_variable__is_found_whole),
        cmocka_unit_test(test_memory__is_counted),
        cmocka_unit_test(test_open__is_known_by_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
