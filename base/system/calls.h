/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SYSTEM_CALLS_H
#define SMTUNE_BASE_SYSTEM_CALLS_H

#include <sys/syscall.h>

/*
 * Numbers of system calls that headers before Linux 5.9 lack. From 424 on they
 * are the same on all machines that smtune builds for.
 */

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#endif
