/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/lr_schedule.h"

#include <math.h>
#include <stddef.h>

static double constant(double progress)
{
    (void)progress;
    return 1;
}

/* Loshchilov and Hutter, "SGDR", ICLR 2017, eq. 5, without restarts. */
static double cosine(double progress)
{
    return 0.5 * (1 + cos(M_PI * progress));
}

static const struct {
    double (*factor)(double progress);
    bool has_end;
} schedules[] = {{constant, false}, {cosine, true}};

const char *const lr_schedule_names[] = {"constant", "cosine", NULL};

bool lr_schedule_has_end(int schedule)
{
    return schedules[schedule].has_end;
}

double lr_schedule_factor(int schedule, uint64_t step, uint64_t total_steps)
{
    return schedules[schedule].factor((double)step / (double)total_steps);
}
