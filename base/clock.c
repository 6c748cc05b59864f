/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

int64_t clock_monotonic_ms(void)
{
    return read_ms(CLOCK_BOOTTIME);
}

int64_t clock_thread_ms(void)
{
    return read_ms(CLOCK_THREAD_CPUTIME_ID);
}

void clock_format_iso(int64_t wall_ms, char *text, size_t size)
{
    int64_t ms = wall_ms % 1000;
    char day[24] = "";
    struct tm tm = {0};
    time_t seconds;

    if (ms < 0)
        ms += 1000;
    seconds = (time_t)((wall_ms - ms) / 1000);
    gmtime_r(&seconds, &tm);
    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, size, "%s.%03dZ", day, (int)ms);
}

void clock_format_stamp(int64_t wall_ms, char *text, size_t size)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm = {0};

    gmtime_r(&seconds, &tm);
    strftime(text, size, "%Y%m%dT%H%M%SZ", &tm);
}
