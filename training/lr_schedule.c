/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/lr_schedule.h"

#include <math.h>
#include <stddef.h>

static double constant(const struct lr_schedule *it, double epoch)
{
    (void)it;
    (void)epoch;
    return 1;
}

/* Loshchilov and Hutter, "SGDR", ICLR 2017, eq. 5, without restarts. */
static double cosine(const struct lr_schedule *it, double epoch)
{
    double progress =
        epoch > it->warmup ? (epoch - it->warmup) / (it->end - it->warmup) : 0;

    return 0.5 * (1 + cos(M_PI * progress));
}

/* He et al., "Deep residual learning", CVPR 2016, section 3.4. */
static double steps(const struct lr_schedule *it, double epoch)
{
    return pow(it->decay_factor, floor(epoch / it->decay_every));
}

/* Warmup, stable, decay: Hu et al., "MiniCPM", 2024, section 4.2, with a line
 * for the decay. */
static double wsd(const struct lr_schedule *it, double epoch)
{
    double decay = it->decay_share * it->end;
    double left = it->end - epoch;

    return left < decay ? left / decay : 1;
}

static const struct {
    double (*factor)(const struct lr_schedule *it, double epoch);
    bool has_end;
} schedules[] = {
    {constant, false}, {cosine, true}, {steps, false}, {wsd, true}};

const char *const lr_schedule_names[] = {"constant", "cosine", "step", "wsd",
                                         NULL};

/* The rate goes with the batch to this power. */
static const double scalings[] = {0, 1, 0.5};

const char *const lr_scaling_names[] = {"none", "linear", "sqrt", NULL};

bool lr_schedule_has_end(int schedule)
{
    return schedules[schedule].has_end;
}

double lr_schedule_factor(const struct lr_schedule *schedule, double epoch,
                          double length, double batch)
{
    double scale =
        pow(batch / schedule->base_batch, scalings[schedule->scaling]);
    double start = scale > 1 ? 1 / scale : 0;
    double risen = 1;

    if (epoch < schedule->warmup)
        risen = fmin(1, (epoch + length) / schedule->warmup);
    return schedules[schedule->schedule].factor(schedule, epoch) *
           (start + (1 - start) * risen) * scale;
}
