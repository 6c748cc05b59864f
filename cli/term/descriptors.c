/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/term/descriptors.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NEEDED = 24 }; /* besides those that are open: what one trial takes */

static bool are_to_be_had(void)
{
    int taken[NEEDED], count = 0;

    while (count < NEEDED &&
           (taken[count] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        close(taken[i]);
    return count == NEEDED;
}

int descriptors_check(struct err *err)
{
    struct rlimit limit = {0};
    rlim_t before;

    if (are_to_be_had())
        return 0;
    getrlimit(RLIMIT_NOFILE, &limit);
    before = limit.rlim_cur;
    limit.rlim_cur = before + NEEDED;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && are_to_be_had())
        return 0;
    return err_set(err, ERR_FAILED,
                   "cannot open %d files at once: the limit of this process "
                   "is %llu (raise it with 'ulimit -n')",
                   NEEDED, (unsigned long long)before);
}
