/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/system/process_hold.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/system/calls.h"

/*
 * The calls themselves, since glibc has them from 2.36 on only. A filter
 * answers EPERM where it knows no better, which pidfd_open() itself never does.
 */

/* A thread that waits needs little. */
enum { STACK_BYTES = 128 << 10 };

static int open_descriptor(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool is_refused(int error)
{
    return error == ENOSYS || error == EPERM;
}

int process_hold(struct process_hold *hold, pid_t pid)
{
    hold->pid = pid;
    hold->fd = open_descriptor(pid);
    if (hold->fd >= 0)
        return 0;
    if (!is_refused(errno))
        return -1;
    return kill(pid, 0) == 0 || errno == EPERM ? 0 : -1;
}

int process_hold_signal(const struct process_hold *hold, int signal_number)
{
    if (hold->fd >= 0 &&
        syscall(SYS_pidfd_send_signal, hold->fd, signal_number, NULL, 0) == 0)
        return 0;
    if (hold->fd >= 0 && !is_refused(errno))
        return -1;
    return kill(hold->pid, signal_number);
}

void process_hold_release(struct process_hold *hold)
{
    if (hold->fd >= 0)
        close(hold->fd);
    hold->fd = -1;
}

/* -- A child that a thread waits for --------------------------------------*/

struct wait {
    pid_t child;
    int fd; /* where its end is written */
};

static void *await(void *user)
{
    struct wait *wait = user;
    siginfo_t info;
    ssize_t written;

    while (waitid(P_PID, (id_t)wait->child, &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR)
        continue;
    written = write(wait->fd, "", 1);
    (void)written; /* nobody may read any more: closing says the same */
    close(wait->fd);
    free(wait);
    return NULL;
}

/* Without signals, SIGPIPE among them. */
static int start_thread(struct wait *wait)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int error;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, await, wait);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

int child_watch(pid_t child)
{
    struct wait *wait;
    int fd = open_descriptor(child), ends[2], error;

    if (fd >= 0 || !is_refused(errno))
        return fd;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    wait = mem_alloc(sizeof(*wait));
    *wait = (struct wait){child, ends[1]};
    error = start_thread(wait);
    if (error == 0)
        return ends[0];
    free(wait);
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return -1;
}
