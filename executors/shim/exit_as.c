/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/exit_as.h"

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "executors/attempt/shim_status.h"

int exit_as(int status)
{
    const struct rlimit no_core = {0, 0};
    int number;
    sigset_t set;

    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    number = WTERMSIG(status);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    return SHIM_SIGNAL + number;
}
