/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * nap SECONDS
 *
 * A trial of one process, which costs next to nothing: sleeps, and says with
 * its last breath when that was, `end=` in seconds since 1970.
 */
int main(int argc, char **argv)
{
    double seconds = argc == 2 ? strtod(argv[1], NULL) : 0.0;
    struct timespec time;

    if (!(seconds > 0.0 && seconds < 1e6)) {
        fputs("usage: nap SECONDS\n", stderr);
        return 2;
    }
    time.tv_sec = (time_t)seconds;
    time.tv_nsec = (long)(1e9 * (seconds - (double)time.tv_sec));
    while (nanosleep(&time, &time) != 0) /* it is what this program does */
        ;
    clock_gettime(CLOCK_REALTIME, &time);
    printf("end=%lld.%09ld\n", (long long)time.tv_sec, time.tv_nsec);
    return 0;
}
