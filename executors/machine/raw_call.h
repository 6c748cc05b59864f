/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_RAW_CALL_H
#define SMTUNE_EXECUTORS_MACHINE_RAW_CALL_H

/*
 * A system call without errno, for a child that shares all memory with its
 * parent, errno too, while both run. Returns what the kernel does: a negative
 * errno when it failed. HAS_RAW_CALLS is 0 where none is known; then errno is
 * used, and no such child may run beside its parent.
 */

#if defined(__x86_64__)
#define HAS_RAW_CALLS 1

static inline long raw_call(long number, long a, long b, long c, long d)
{
    register long fourth __asm__("r10") = d;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
#define HAS_RAW_CALLS 1

static inline long raw_call(long number, long a, long b, long c, long d)
{
    register long code __asm__("x8") = number;
    register long first __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;

    __asm__ volatile("svc 0"
                     : "+r"(first)
                     : "r"(code), "r"(second), "r"(third), "r"(fourth)
                     : "memory");
    return first;
}
#else
#include <errno.h>
#include <unistd.h>

#define HAS_RAW_CALLS 0

static inline long raw_call(long number, long a, long b, long c, long d)
{
    long result = syscall(number, a, b, c, d);

    return result < 0 ? -errno : result;
}
#endif

#endif
