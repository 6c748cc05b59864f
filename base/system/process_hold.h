/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SYSTEM_PROCESS_HOLD_H
#define SMTUNE_BASE_SYSTEM_PROCESS_HOLD_H

#include <sys/types.h>

/*
 * A process by a descriptor, through which no signal reaches another that has
 * its pid later. Linux before 5.3 has none, and a filter of system calls may
 * refuse it: then the pid itself is used.
 */

struct process_hold {
    pid_t pid;
    int fd; /* readable when the process has ended; -1: there is none here */
};

/* 0; -1 with errno, ESRCH where there is no such process. Without a descriptor
 * the caller checks what the process is right before it signals. */
int process_hold(struct process_hold *hold, pid_t pid);
/* kill(2). */
int process_hold_signal(const struct process_hold *hold, int signal_number);
void process_hold_release(struct process_hold *hold);

/* A descriptor that becomes readable when this child has ended, which the
 * caller then reaps; -1 with errno. Where the kernel has none, a thread waits
 * for the child. */
int child_watch(pid_t child);

#endif
