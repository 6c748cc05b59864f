/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program beside the supervisor, not the driver's library within it: a driver
 * that hangs must not hang what enforces the limits of attempts. It starts with
 * the first attempt that asks for GPUs and lives as long as the supervisor,
 * because its start costs more than all its looks. One that fails is not
 * started again. What it writes is read as far as there is something, a line at
 * a time, and longer lines are dropped.
 */
#include "executors/shim/gpu_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/compiler.h"

enum { LOW_PRIORITY = 19 };

#define TEXT_OF(number)  TEXT_OF_(number)
#define TEXT_OF_(number) #number

/* Signals are blocked in a supervisor; its end is the program's. */
NORETURN static void become(int out)
{
    static char program[] = "nvidia-smi", query[] = GPU_SAMPLE_QUERY,
                format[] = GPU_SAMPLE_FORMAT, loop[] = "-l",
                seconds[] = TEXT_OF(GPU_WATCH_SECONDS);
    char *argv[] = {program, query, format, loop, seconds, NULL};
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpriority(PRIO_PROCESS, 0, LOW_PRIORITY);
    setsid();
    dup2(null_fd, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(null_fd, STDERR_FILENO);
    execvp(argv[0], argv);
    _exit(127);
}

void gpu_watch_start(struct gpu_watch *watch)
{
    int ends[2];

    if (watch->was_tried)
        return;
    watch->was_tried = true;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    watch->pid = fork();
    if (watch->pid == 0)
        become(ends[1]);
    close(ends[1]);
    if (watch->pid > 0) {
        watch->fd = ends[0];
        return;
    }
    watch->pid = 0;
    close(ends[0]);
}

/* Takes the whole lines out of what has been read. */
static void take_lines(struct gpu_watch *watch,
                       void (*sample)(void *user, const struct gpu_sample *),
                       void *user)
{
    const char *from = watch->line, *end = watch->line + watch->length, *to;
    struct gpu_sample one;

    while ((to = memchr(from, '\n', (size_t)(end - from))) != NULL) {
        if (gpu_sample_read(from, (size_t)(to - from), &one))
            sample(user, &one);
        from = to + 1;
    }
    watch->length = (size_t)(end - from);
    memmove(watch->line, from, watch->length);
    if (watch->length == sizeof(watch->line))
        watch->length = 0;
}

void gpu_watch_read(struct gpu_watch *watch,
                    void (*sample)(void *user, const struct gpu_sample *),
                    void *user)
{
    /* One that writes without end must not keep the supervisor. */
    enum { READS_MAX = 64 };
    ssize_t length = 1;

    for (int i = 0; i < READS_MAX && length > 0; i++) {
        length = read(watch->fd, watch->line + watch->length,
                      sizeof(watch->line) - watch->length);
        if (length > 0) {
            watch->length += (size_t)length;
            take_lines(watch, sample, user);
        }
    }
    if (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    close(watch->fd);
    watch->fd = -1;
}

void gpu_watch_stop(struct gpu_watch *watch)
{
    if (watch->pid > 0)
        kill(watch->pid, SIGKILL);
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
}
