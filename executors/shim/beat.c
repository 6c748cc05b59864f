/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/beat.h"

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
#include "base/system/close_from.h"
#include "executors/attempt/pulse.h"
#include "executors/machine/process_table.h"

/*
 * Two processes, neither of them a child of the shim's: one that touches the
 * pulse, and hangs where the file system does; and its parent, which passes on
 * what that one says, touches no file, and ends the shim and all below it
 * should the shim hang as well.
 */

enum { LATE_MS = 1000 };

enum word {
    WORD_BEAT = 'b',
    WORD_CANCELLED = 'c', /* a beat, too */
    WORD_FAILED = 'f',
    WORD_REVOKED = 'r'
};

static int wait_of(int64_t wait_ms)
{
    if (wait_ms < 0)
        return 0;
    return wait_ms < INT_MAX ? (int)wait_ms : INT_MAX;
}

static void say(int fd, char word)
{
    send(fd, &word, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What Slurm sends to all processes of a job shall not end the pulse before
 * those whose pulse it is. Returns what the descriptor is from now on. */
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
    close_from(OWN_FD + 1);
    return OWN_FD;
}

/* Forks a child that is run() alone, with its end of a socket; returns ours, or
 * -1. *child is its pid. */
static int start(void (*run)(int fd, const struct beat *), pid_t *child,
                 const struct beat *beat)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    *child = fork();
    if (*child == 0) {
        close(ends[0]);
        run(ends[1], beat);
        _exit(0);
    }
    close(ends[1]);
    if (*child > 0)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* -- Who touches the pulse ------------------------------------------------*/

static char look(const char *directory)
{
    if (pulse_beat(directory, NULL) != 0)
        return WORD_FAILED;
    if (pulse_is_marked(directory, PULSE_REVOKED))
        return WORD_REVOKED;
    return pulse_is_marked(directory, PULSE_CANCELLED) ? WORD_CANCELLED
                                                       : WORD_BEAT;
}

static void touch(int fd, const struct beat *beat)
{
    struct pollfd polled = {.fd = detach(fd), .events = POLLIN};

    do
        say(polled.fd, look(beat->directory));
    while (poll(&polled, 1, wait_of(beat->heartbeat_ms)) == 0);
}

/* -- Who sees to it -------------------------------------------------------*/

/* The shim should have done so; but it may hang itself. */
static void kill_shim(pid_t shim)
{
    process_signal_descendants(shim, SIGKILL);
    kill(shim, SIGKILL);
}

static void pass_on(int fd, const struct beat *beat)
{
    if (beat->is_revoked)
        say(fd, WORD_REVOKED);
    else if (beat->quiet_ms == 0)
        say(fd, beat->is_cancelled ? WORD_CANCELLED : WORD_BEAT);
}

static void guard(int shim_fd, const struct beat *beat)
{
    struct beat own = *beat;
    struct pollfd polled[2] = {{.events = POLLIN}, {.events = POLLIN}};
    pid_t toucher;

    polled[0].fd = detach(shim_fd);
    own.fd = start(touch, &toucher, beat);
    own.silence_ms += own.heartbeat_ms + LATE_MS; /* the shim comes first */
    own.looked_ms = clock_monotonic_ms();
    while (polled[0].revents == 0) {
        polled[1].fd = own.fd;
        poll(polled, 2, wait_of(beat_due_ms(&own) - clock_monotonic_ms()));
        if (beat_listen(&own, clock_monotonic_ms()) == BEAT_SILENT)
            kill_shim(own.shim);
        pass_on(polled[0].fd, &own);
    }
}

/* An orphan, so that it is no child of the shim. */
static void start_guard(int fd, const struct beat *beat)
{
    if (fork() == 0)
        guard(fd, beat);
}

/* -- In the shim ----------------------------------------------------------*/

int beat_start(struct beat *beat, const char *directory, int64_t heartbeat_ms,
               int64_t silence_ms, struct err *err)
{
    pid_t child;

    *beat = (struct beat){.directory = directory,
                          .shim = getpid(),
                          .heartbeat_ms = heartbeat_ms,
                          .silence_ms = silence_ms,
                          .looked_ms = clock_monotonic_ms()};
    beat->fd = start(start_guard, &child, beat);
    if (beat->fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot start the pulse");
    waitpid(child, NULL, 0);
    return 0;
}

static void hear(struct beat *beat)
{
    char words[64];
    ssize_t length;

    while (beat->fd >= 0 && (length = recv(beat->fd, words, sizeof(words),
                                           MSG_DONTWAIT)) != -1) {
        for (ssize_t i = 0; i < length; i++) {
            if (words[i] == WORD_BEAT || words[i] == WORD_CANCELLED)
                beat->quiet_ms = 0;
            beat->is_cancelled |= words[i] == WORD_CANCELLED;
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
    if (beat->quiet_ms >= beat->silence_ms)
        return BEAT_SILENT;
    return beat->is_cancelled ? BEAT_CANCELLED : BEAT_FINE;
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
