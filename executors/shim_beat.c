/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim_beat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "executors/pulse.h"

enum word { WORD_BEAT = 'b', WORD_FAILED = 'f', WORD_REVOKED = 'r' };

/* -- In the other process -------------------------------------------------*/

static char look(const char *directory)
{
    if (pulse_beat(directory, NULL) != 0)
        return WORD_FAILED;
    return pulse_is_marked(directory, PULSE_REVOKED) ? WORD_REVOKED : WORD_BEAT;
}

/* What Slurm sends to all processes of a job shall not end the pulse before
 * those whose pulse it is. */
static int detach(int fd)
{
    enum { OWN_FD = STDERR_FILENO + 1 };
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    for (int i = 0; i <= STDERR_FILENO && null_fd >= 0; i++)
        dup2(null_fd, i);
    dup2(fd, OWN_FD);
    close_range(OWN_FD + 1, ~0U, 0);
    return OWN_FD;
}

NORETURN static void beat_on(int fd, const char *directory,
                             int64_t heartbeat_ms)
{
    struct pollfd polled = {.fd = detach(fd), .events = POLLIN};
    int wait_ms = heartbeat_ms < INT_MAX ? (int)heartbeat_ms : INT_MAX;

    do {
        char word = look(directory);

        send(polled.fd, &word, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (poll(&polled, 1, wait_ms) == 0);
    _exit(0);
}

/* -- In the shim ----------------------------------------------------------*/

int beat_start(struct beat *beat, const char *directory, int64_t heartbeat_ms,
               int64_t silence_ms, struct err *err)
{
    int ends[2];
    pid_t pid;

    *beat = (struct beat){.fd = -1,
                          .heartbeat_ms = heartbeat_ms,
                          .silence_ms = silence_ms,
                          .looked_ms = clock_monotonic_ms()};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot open a socket");
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        if (fork() != 0)
            _exit(0);
        beat_on(ends[1], directory, heartbeat_ms);
    }
    close(ends[1]);
    beat->fd = ends[0];
    if (pid < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot fork");
    waitpid(pid, NULL, 0);
    return 0;
}

static void hear(struct beat *beat)
{
    char words[64];
    ssize_t length;

    while (beat->fd >= 0 && (length = recv(beat->fd, words, sizeof(words),
                                           MSG_DONTWAIT)) != -1) {
        for (ssize_t i = 0; i < length; i++) {
            if (words[i] == WORD_BEAT)
                beat->quiet_ms = 0;
            beat->is_revoked |= words[i] == WORD_REVOKED;
        }
        if (length == 0)
            beat_stop(beat);
    }
}

/* Between two looks the whole job may have been stopped. Then the other process
 * was, too, and has had no time yet. */
enum beat_state beat_listen(struct beat *beat, int64_t now_ms)
{
    int64_t passed_ms = now_ms - beat->looked_ms;

    beat->quiet_ms +=
        passed_ms < beat->heartbeat_ms ? passed_ms : beat->heartbeat_ms;
    beat->looked_ms = now_ms;
    hear(beat);
    if (beat->is_revoked)
        return BEAT_REVOKED;
    return beat->quiet_ms >= beat->silence_ms ? BEAT_SILENT : BEAT_FINE;
}

int64_t beat_due_ms(const struct beat *beat)
{
    int64_t left_ms = beat->silence_ms - beat->quiet_ms;

    if (left_ms > beat->heartbeat_ms)
        left_ms = beat->heartbeat_ms;
    return beat->looked_ms + (left_ms > 0 ? left_ms : beat->heartbeat_ms);
}

void beat_stop(struct beat *beat)
{
    if (beat->fd >= 0)
        close(beat->fd);
    beat->fd = -1;
}
