/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * spawn COUNT PARALLEL PROGRAM [ARGUMENT]...
 *
 * What the kernel alone takes: starts PROGRAM so many times, so many of them at
 * once, and keeps nothing of what they do. No other program that starts
 * processes can be faster, so this bounds what a ratio to a peer may come to.
 */

static void wait_for_one(void)
{
    int status;

    if (waitpid(-1, &status, 0) < 0 || status != 0) {
        fputs("spawn: the program failed\n", stderr);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    long count = argc > 3 ? strtol(argv[1], NULL, 10) : 0;
    long parallel = argc > 3 ? strtol(argv[2], NULL, 10) : 0, running = 0;

    if (count <= 0 || parallel <= 0) {
        fputs("usage: spawn COUNT PARALLEL PROGRAM [ARGUMENT]...\n", stderr);
        return 2;
    }
    for (long i = 0; i < count; i++) {
        pid_t pid;
        int error;

        if (running == parallel) {
            wait_for_one();
            running--;
        }
        error = posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, environ);
        if (error != 0) {
            fprintf(stderr, "spawn: %s: %s\n", argv[3], strerror(error));
            return 1;
        }
        running++;
    }
    for (; running > 0; running--)
        wait_for_one();
    return 0;
}
