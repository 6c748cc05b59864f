/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes and descriptors where the kernel has all calls, where it lacks the
 * younger ones, and where a filter refuses them: with the same results. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/close_from.h"
#include "base/system/process_hold.h"
#include "base/system/signals.h"
#include "tests/deny.h"
#include "tests/unit/folder.h"

/* Exit statuses of a body; a filter stays, so each runs in a child. */
enum { GOOD = 0, BAD = 1, NO_FILTER = 77 };

static int status_of(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static int run_under(int error, bool (*body)(bool is_denied))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        if (error != 0 && deny_calls("all", error) != 0)
            _exit(NO_FILTER);
        _exit(body(error != 0) ? GOOD : BAD);
    }
    status = status_of(child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void must_hold_everywhere(bool (*body)(bool is_denied))
{
    static const int errors[] = {0, ENOSYS, EPERM};

    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        int result = run_under(errors[i], body);

        if (result == NO_FILTER)
            skip();
        if (result != GOOD)
            fail_msg("calls that are denied with error %d", errors[i]);
    }
}

static pid_t start_sleeper(void)
{
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* where the test fails */
        pause();
        _exit(0);
    }
    return child;
}

static bool signals_what_it_holds(bool is_denied)
{
    pid_t child = start_sleeper();
    struct process_hold hold;
    bool is_good = process_hold(&hold, child) == 0 &&
                   (hold.fd >= 0) == !is_denied &&
                   process_hold_signal(&hold, SIGTERM) == 0 &&
                   WTERMSIG(status_of(child)) == SIGTERM &&
                   process_hold_signal(&hold, SIGTERM) == -1 && errno == ESRCH;

    process_hold_release(&hold);
    return is_good && process_hold(&hold, child) == -1 && errno == ESRCH;
}

static void test_system__a_process_is_held(void **state)
{
    (void)state;
    must_hold_everywhere(signals_what_it_holds);
}

/* pidfd_open() alone is there, as before Linux 5.1 with patches. */
static bool signals_by_descriptor_alone(bool is_denied)
{
    return deny_calls("pidfd_send_signal", ENOSYS) == 0 &&
           signals_what_it_holds(is_denied);
}

static void test_system__a_signal_goes_by_pid_otherwise(void **state)
{
    (void)state;
    must_hold_everywhere(signals_by_descriptor_alone);
}

static bool sees_the_end_of_a_child(bool is_denied)
{
    enum { STATUS = 3, SOON_MS = 60000 };
    int ends[2];
    struct pollfd polled = {.events = POLLIN};
    bool is_good;
    pid_t child;
    char byte;

    (void)is_denied;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? STATUS : BAD);
    }
    polled.fd = child_watch(child);
    is_good = polled.fd >= 0 && (fcntl(polled.fd, F_GETFD) & FD_CLOEXEC) != 0 &&
              poll(&polled, 1, 0) == 0;
    close(ends[1]);
    return is_good && poll(&polled, 1, SOON_MS) == 1 &&
           (polled.revents & POLLIN) != 0 &&
           WEXITSTATUS(status_of(child)) == STATUS && close(polled.fd) == 0;
}

static void test_system__a_child_is_watched(void **state)
{
    (void)state;
    must_hold_everywhere(sees_the_end_of_a_child);
}

enum { LOW = 100, FIRST = 200, HIGH = 900 };

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static bool open_three(void)
{
    return dup2(STDERR_FILENO, LOW) >= 0 && dup2(STDERR_FILENO, FIRST) >= 0 &&
           dup2(STDERR_FILENO, HIGH) >= 0;
}

static bool closes_from(bool is_denied)
{
    bool is_good = open_three();

    (void)is_denied;
    close_from(FIRST);
    return is_good && is_open(LOW) && !is_open(FIRST) && !is_open(HIGH);
}

static bool closes_from_on_exec(bool is_denied)
{
    bool is_good = open_three();

    (void)is_denied;
    close_from_on_exec(FIRST);
    return is_good && fcntl(LOW, F_GETFD) == 0 &&
           fcntl(FIRST, F_GETFD) == FD_CLOEXEC &&
           fcntl(HIGH, F_GETFD) == FD_CLOEXEC;
}

static bool closes_in_what_it_spawns(bool is_denied)
{
    char shell[] = "/bin/sh", option[] = "-c",
         look[] = "test -e /proc/self/fd/100 -a ! -e /proc/self/fd/200 "
                  "-a ! -e /proc/self/fd/900";
    char *argv[] = {shell, option, look, NULL};
    posix_spawn_file_actions_t actions;
    bool is_good = open_three();
    pid_t child;

    (void)is_denied;
    posix_spawn_file_actions_init(&actions);
    is_good = is_good && spawn_close_from(&actions, FIRST) == 0 &&
              posix_spawn(&child, shell, &actions, NULL, argv, environ) == 0 &&
              status_of(child) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return is_good && is_open(HIGH);
}

static void test_system__descriptors_are_closed(void **state)
{
    (void)state;
    must_hold_everywhere(closes_from);
    must_hold_everywhere(closes_from_on_exec);
    must_hold_everywhere(closes_in_what_it_spawns);
}

/* ---- files ---- */

static char *folder_of_copies;

static bool copies_a_file(bool is_denied)
{
    enum { LENGTH = (3 << 20) + 17 };
    char *from = fs_join(folder_of_copies, is_denied ? "a" : "b");
    char *to = fs_join(folder_of_copies, is_denied ? "a2" : "b2");
    char *file = fs_join(from, "f"), *copy = fs_join(to, "f");
    struct buf bytes = BUF_INIT, read = BUF_INIT;
    bool is_good;

    for (int i = 0; i < LENGTH; i++)
        buf_add_char(&bytes, (char)(i * 31 + i / 257));
    fs_remove_tree(to, NULL);
    is_good = fs_make_directories(from, NULL) == 0 &&
              fs_write_atomic(file, bytes.data, LENGTH, 0600, NULL) == 0 &&
              fs_copy_tree(from, to, NULL) == 0 &&
              fs_read_regular(copy, LENGTH + 1, &read, NULL) == 0 &&
              read.length == LENGTH &&
              memcmp(read.data, bytes.data, LENGTH) == 0;
    buf_clear(&bytes);
    buf_clear(&read);
    free(from);
    free(to);
    free(file);
    free(copy);
    return is_good;
}

static void test_system__files_are_copied(void **state)
{
    folder_of_copies = *state;
    must_hold_everywhere(copies_a_file);
}

/* ---- signals ---- */

static void test_system__signals_have_the_words_of_the_library(void **state)
{
    (void)state;
#if __GLIBC_PREREQ(2, 32)
    for (int i = 1; i <= SIGNAL_NAMES; i++) {
        assert_string_equal(signal_name(i), sigabbrev_np(i));
        assert_string_equal(signal_meaning(i), sigdescr_np(i));
    }
#endif
    assert_string_equal(signal_name(SIGSEGV), "SEGV");
    assert_null(signal_name(0));
    assert_null(signal_name(SIGNAL_NAMES + 1));
    assert_null(signal_meaning(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_system__a_process_is_held),
        cmocka_unit_test(test_system__a_signal_goes_by_pid_otherwise),
        cmocka_unit_test(test_system__a_child_is_watched),
        cmocka_unit_test(test_system__descriptors_are_closed),
        cmocka_unit_test_setup_teardown(test_system__files_are_copied,
                                        make_folder, remove_folder),
        cmocka_unit_test(test_system__signals_have_the_words_of_the_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
