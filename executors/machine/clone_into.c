/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/clone_into.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>

#include "base/system/calls.h"

/* Of clone3(2), as Linux 5.7 has it; <linux/sched.h> may be older. */
struct clone_args {
    uint64_t flags;
    uint64_t pidfd;
    uint64_t child_tid;
    uint64_t parent_tid;
    uint64_t exit_signal;
    uint64_t stack;
    uint64_t stack_size;
    uint64_t tls;
    uint64_t set_tid;
    uint64_t set_tid_size;
    uint64_t cgroup;
};

static const uint64_t into_cgroup = UINT64_C(0x200000000);

/*
 * clone3() as no C library has it: the child goes on behind the call with an
 * empty stack, so it must not return from here, and what it needs is kept in
 * registers. Returns the pid, or a negative errno.
 */
#if defined(__x86_64__)
static long clone_and_run(const struct clone_args *args,
                          int (*run)(void *argument), void *argument)
{
    register int (*function)(void *) __asm__("r8") = run;
    register void *its_argument __asm__("r9") = argument;
    long result;

    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "movq %%r9, %%rdi\n\t"
                     "callq *%%r8\n\t"
                     "movl %%eax, %%edi\n\t"
                     "movl %[exit], %%eax\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "a"((long)SYS_clone3), "D"(args), "S"(sizeof(*args)),
                       "r"(function), "r"(its_argument), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static long clone_and_run(const struct clone_args *args,
                          int (*run)(void *argument), void *argument)
{
    register const void *first __asm__("x0") = args;
    register size_t second __asm__("x1") = sizeof(*args);
    register int (*function)(void *) __asm__("x2") = run;
    register void *its_argument __asm__("x3") = argument;
    register long code __asm__("x8") = SYS_clone3;

    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x30, xzr\n\t"
                     "mov x0, x3\n\t"
                     "blr x2\n\t"
                     "mov x8, %[exit]\n\t"
                     "svc 0\n"
                     "1:"
                     : "+r"(first)
                     : "r"(second), "r"(function), "r"(its_argument),
                       "r"(code), [exit] "i"(SYS_exit)
                     : "memory", "cc");
    return (long)first;
}
#else
static long clone_and_run(const struct clone_args *args,
                          int (*run)(void *argument), void *argument)
{
    (void)args, (void)run, (void)argument;
    return -ENOSYS;
}
#endif

pid_t clone_into(int group_fd, const struct clone_into *child)
{
    struct clone_args args = {
        .flags = CLONE_VM | into_cgroup |
                 (child->busy != NULL ? CLONE_CHILD_CLEARTID : CLONE_VFORK),
        .child_tid = (uint64_t)(uintptr_t)child->busy,
        .exit_signal = SIGCHLD,
        .stack = (uint64_t)(uintptr_t)child->stack,
        .stack_size = child->stack_bytes,
        .cgroup = (uint64_t)group_fd,
    };
    long pid = clone_and_run(&args, child->run, child->argument);

    if (pid < 0) {
        errno = (int)-pid;
        return -1;
    }
    return (pid_t)pid;
}
