/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_STOPWATCH_H
#define SMTUNE_TRAINING_UTIL_STOPWATCH_H

#include <time.h>

/* For the parts of a step, which take less than a millisecond. */
static inline double stopwatch_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#endif
