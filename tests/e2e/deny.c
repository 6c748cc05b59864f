/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/deny.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/*
 * A program on an older kernel, for tests in Python.
 *
 *     deny CALLS ENOSYS|EPERM|EINVAL COMMAND...
 *         runs the command, for which the system calls of tests/deny.h that
 *         are named, or all of them, fail with that error
 */

static int error_named(const char *name)
{
    if (strcmp(name, "EPERM") == 0)
        return EPERM;
    return strcmp(name, "EINVAL") == 0 ? EINVAL : ENOSYS;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    if (deny_calls(argv[1], error_named(argv[2])) != 0) {
        perror("deny: no filter of system calls");
        return 77;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 127;
}
