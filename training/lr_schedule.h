/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_LR_SCHEDULE_H
#define SMTUNE_TRAINING_LR_SCHEDULE_H

#include <stdbool.h>

/* How the learning rate changes in the course of a run. */

/* NULL-ended; a schedule and a rule are indexes into them. */
extern const char *const lr_schedule_names[];
extern const char *const lr_scaling_names[];

/* All times are in epochs. */
struct lr_schedule {
    int schedule;
    double end;          /* of the run; see lr_schedule_has_end */
    double warmup;       /* how long it rises at first */
    double decay_every;  /* step: after how long it is multiplied ... */
    double decay_factor; /* ... by this */
    double decay_share;  /* wsd: of the run, that in which it falls to 0 */
    int scaling;         /* how it goes with the batch ... */
    double base_batch;   /* ... relative to this */
};

/* Whether its course depends on when the run ends. */
bool lr_schedule_has_end(int schedule);

/*
 * What --lr is multiplied by in a step that begins at `epoch` (from 0) and
 * takes `length` of one, on so many samples.
 *
 * scaling: Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.1
 * (linear) and Krizhevsky, "One weird trick", 2014, section 5 (sqrt). The
 * warmup as in section 2.2 of the former: from the rate that is not scaled to
 * the one that is, or from 0 where scaling makes none greater.
 */
double lr_schedule_factor(const struct lr_schedule *schedule, double epoch,
                          double length, double batch);

#endif
