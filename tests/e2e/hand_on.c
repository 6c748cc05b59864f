/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * A process that never rests, for tests in Python.
 *
 *     hand_on SECONDS
 *         starts its successor, which leads a session of its own, and ends; as
 *         each successor does, for so long
 */

int main(int argc, char **argv)
{
    int64_t seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    int64_t end_ms = clock_monotonic_ms() + 1000 * seconds;

    while (clock_monotonic_ms() < end_ms) {
        pid_t successor = fork();

        if (successor != 0)
            _exit(successor < 0);
        setsid();
    }
    return 0;
}
