/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/term/guarded_file.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"

/* A terminal that passes every byte as it is. */
struct terminal {
    int ours, theirs;
    char shown[4096];
};

static int open_terminal(void **state)
{
    static struct terminal terminal;
    struct termios modes;

    terminal.ours = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal.ours >= 0);
    assert_int_equal(grantpt(terminal.ours), 0);
    assert_int_equal(unlockpt(terminal.ours), 0);
    terminal.theirs = open(ptsname(terminal.ours), O_RDWR | O_NOCTTY);
    assert_true(terminal.theirs >= 0);
    assert_int_equal(tcgetattr(terminal.theirs, &modes), 0);
    cfmakeraw(&modes);
    assert_int_equal(tcsetattr(terminal.theirs, TCSANOW, &modes), 0);
    *state = &terminal;
    return 0;
}

static int close_terminal(void **state)
{
    struct terminal *terminal = *state;

    close(terminal->ours);
    close(terminal->theirs);
    return 0;
}

/* The kernel passes on what was written in a turn of its own. */
static const char *read_terminal(struct terminal *terminal, size_t length)
{
    size_t used = 0;
    ssize_t got = 1;

    assert_true(length < sizeof(terminal->shown));
    while (used < length && got > 0) {
        struct pollfd poll_fd = {.fd = terminal->ours, .events = POLLIN};

        poll(&poll_fd, 1, 10000);
        got = poll_fd.revents & POLLIN
                  ? read(terminal->ours, terminal->shown + used,
                         sizeof(terminal->shown) - 1 - used)
                  : 0;
        used += got > 0 ? (size_t)got : 0;
    }
    terminal->shown[used] = '\0';
    return terminal->shown;
}

static void assert_shown(struct terminal *terminal, const char *expected)
{
    assert_string_equal(read_terminal(terminal, strlen(expected)), expected);
}

static void test_guarded_file__lets_colours_alone_through(void **state)
{
    struct terminal *terminal = *state;
    FILE *file = guarded_file_open(terminal->theirs);

    assert_non_null(file);
    fprintf(file, "\033[31ma\033[0m\033[2J\xe2\x80\xae\t\n");
    fflush(file);
    assert_shown(terminal, "\033[31ma\033[0m\\x1b[2J\\xe2\\x80\\xae\t\n");
    fputs("\033[3", file);
    fflush(file);
    assert_shown(terminal, "");
    fputs("2mb\xc3", file);
    fflush(file);
    assert_shown(terminal, "\033[32mb");
    fclose(file);
    assert_shown(terminal, "\\xc3\033[0m");
}

static void test_guarded_file__leaves_the_bytes_of_a_file(void **state)
{
    char path[] = "/tmp/smtune-guarded.XXXXXX";
    struct terminal *terminal = *state;
    FILE *file = guarded_file_open(terminal->theirs);
    int fd = mkstemp(path);
    char bytes[16] = "";

    assert_non_null(file);
    assert_true(fd >= 0);
    fputs("x", file);
    fflush(file);
    assert_shown(terminal, "x");
    dup2(fd, terminal->theirs);
    fputs("\033[2J\xff", file);
    fclose(file);
    assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), 5);
    assert_memory_equal(bytes, "\033[2J\xff", 5);
    close(fd);
    unlink(path);
}

static void test_guarded_file__can_be_bypassed(void **state)
{
    struct terminal *terminal = *state;
    FILE *file = guarded_file_bypass(terminal->theirs);

    assert_non_null(file);
    fputs("\033[2J", file);
    fclose(file);
    assert_shown(terminal, "\033[2J");
    assert_null(guarded_file_bypass(-1));
}

/* stdout is guarded only where it is a terminal, and is itself again. */
static void test_guarded_file__guards_the_standard_files(void **state)
{
    struct terminal *terminal = *state;
    FILE *out = stdout, *err = stderr;
    int saved_out, saved_err;
    struct guarded_output output;

    fflush(stdout);
    saved_out = dup(STDOUT_FILENO);
    saved_err = dup(STDERR_FILENO);
    dup2(terminal->theirs, STDOUT_FILENO);
    dup2(terminal->theirs, STDERR_FILENO);
    guarded_output_begin(&output);
    fputs("a\033[2Jb\n", stdout);
    fputs("c\033[2Jd", stderr);
    guarded_output_end(&output);
    dup2(saved_out, STDOUT_FILENO);
    dup2(saved_err, STDERR_FILENO);
    close(saved_out);
    close(saved_err);
    assert_ptr_equal(stdout, out);
    assert_ptr_equal(stderr, err);
    assert_shown(terminal, "a\\x1b[2Jb\nc\\x1b[2Jd");
}

static void test_guarded_file__leaves_other_standard_files_alone(void **state)
{
    FILE *out = stdout;
    struct guarded_output output;
    int saved, null = open("/dev/null", O_WRONLY);

    (void)state;
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    dup2(null, STDOUT_FILENO);
    guarded_output_begin(&output);
    assert_ptr_equal(stdout, out);
    assert_null(output.out);
    guarded_output_end(&output);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_guarded_file__lets_colours_alone_through, open_terminal,
            close_terminal),
        cmocka_unit_test_setup_teardown(
            test_guarded_file__leaves_the_bytes_of_a_file, open_terminal,
            close_terminal),
        cmocka_unit_test_setup_teardown(test_guarded_file__can_be_bypassed,
                                        open_terminal, close_terminal),
        cmocka_unit_test_setup_teardown(
            test_guarded_file__guards_the_standard_files, open_terminal,
            close_terminal),
        cmocka_unit_test(test_guarded_file__leaves_other_standard_files_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
