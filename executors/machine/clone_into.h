/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_CLONE_INTO_H
#define SMTUNE_EXECUTORS_MACHINE_CLONE_INTO_H

#include <stddef.h>
#include <sys/types.h>

/*
 * A process that shares our memory and is made right in a control group of
 * version 2. One that moves there by itself has all forks of the machine wait,
 * and waits for milliseconds itself, as the kernel holds a lock that is cheap
 * for them only.
 */

struct clone_into {
    int (*run)(void *argument); /* its result is the exit status */
    void *argument;
    char *stack; /* stack_bytes of it, the child's own */
    size_t stack_bytes;
    /* It runs beside us, and the kernel clears this when it has left our
     * memory; NULL: we stand still until it has. */
    pid_t *busy;
};

/* `group_fd` is open at the group's directory. Returns the child's pid; -1 with
 * errno where the kernel, a filter of system calls or the group refuses. */
pid_t clone_into(int group_fd, const struct clone_into *child);

#endif
