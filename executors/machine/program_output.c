/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/program_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { STEP_MS = 20 /* between two looks whether the program has ended */ };

static void keep(struct program_output *output, const char *bytes,
                 size_t length)
{
    size_t over = output->length + length > PROGRAM_OUTPUT_MAX - 1
                      ? output->length + length - (PROGRAM_OUTPUT_MAX - 1)
                      : 0;

    memmove(output->text, output->text + over, output->length - over);
    output->length -= over;
    memcpy(output->text + output->length, bytes, length);
    output->length += length;
    output->text[output->length] = '\0';
}

static void hear(int fd, struct program_output *output)
{
    char bytes[PROGRAM_OUTPUT_MAX / 4];
    ssize_t length;

    while ((length = read(fd, bytes, sizeof(bytes))) > 0)
        keep(output, bytes, (size_t)length);
}

/* In a session of its own, so that all of it can be killed. An error number. */
static int start(char *const *argv, int out, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    int error;

    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
    error = posix_spawnp(pid, argv[0], &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Until it has ended or its time is over; the wait status, -1 for no end. */
static int attend(pid_t pid, int fd, int64_t limit_ms,
                  struct program_output *output)
{
    int64_t end_ms = clock_monotonic_ms() + limit_ms;
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int status = -1;
    pid_t ended = 0;

    while (ended == 0 && clock_monotonic_ms() < end_ms) {
        poll(&polled, 1, STEP_MS);
        if ((polled.revents & POLLHUP) != 0)
            polled.fd = -1;
        hear(fd, output);
        ended = waitpid(pid, &status, WNOHANG);
    }
    hear(fd, output);
    kill(-pid, SIGKILL);
    if (ended != 0)
        return status;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return -1;
}

int program_run(char *const *argv, int64_t limit_ms,
                struct program_output *output)
{
    int ends[2], status = -1, error;
    pid_t pid;

    output->length = 0;
    output->text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    error = start(argv, ends[1], &pid);
    close(ends[1]);
    if (error == ENOENT)
        status = W_EXITCODE(PROGRAM_MISSING, 0);
    else if (error == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        status = attend(pid, ends[0], limit_ms, output);
    close(ends[0]);
    return status;
}
