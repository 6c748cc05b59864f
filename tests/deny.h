/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_DENY_H
#define SMTUNE_TESTS_DENY_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "base/system/calls.h"

/* Younger system calls, which an old kernel lacks. */
static const struct {
    const char *name;
    int number;
} young_calls[] = {
    {"clone3", SYS_clone3},
    {"close_range", SYS_close_range},
    {"copy_file_range", SYS_copy_file_range},
    {"pidfd_open", SYS_pidfd_open},
    {"pidfd_send_signal", SYS_pidfd_send_signal},
};

/*
 * From now on these calls of this process and of all that it starts fail with
 * `error`, as on a kernel that lacks them (ENOSYS) or in a container whose
 * filter does not know them (EPERM; never clone3, without which glibc then
 * starts no thread). `names`: "clone3,pidfd_open", or "all"; or "subreaper",
 * what a process that qemu emulates cannot be (EINVAL). -1 where there can be
 * no filter.
 */
static inline int deny_calls(const char *names, int error)
{
    struct sock_filter code[2 * ARRAY_LEN(young_calls) + 6];
    struct sock_fprog filter = {.filter = code};
    unsigned short count = 0;

    code[count++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ARRAY_LEN(young_calls); i++) {
        if ((strcmp(names, "all") != 0 &&
             strstr(names, young_calls[i].name) == NULL) ||
            (error == EPERM && young_calls[i].number == SYS_clone3))
            continue;
        code[count++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)young_calls[i].number, 0, 1);
        code[count++] = (struct sock_filter)BPF_STMT(
            BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error);
    }
    if (strcmp(names, "subreaper") == 0) {
        code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                     SYS_prctl, 0, 3);
        code[count++] = (struct sock_filter)BPF_STMT(
            BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
        code[count++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, PR_SET_CHILD_SUBREAPER, 0, 1);
        code[count++] = (struct sock_filter)BPF_STMT(
            BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error);
    }
    code[count++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter.len = count;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

#endif
