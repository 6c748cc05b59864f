/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/schedules/scheduler.h"

/* What a schedule of many trials costs the engine, from the first trial to the
 * last that is stopped, with 100 slots. Lines of five fields: name, ms, peer
 * (none), bar, unit. Processor time: one thread that waits for nothing. */

enum { TRIALS = 100000, SLOTS = 100 };

static const struct row {
    const char *name;
    struct schedule_options options;
} rows[] = {
    {"asha", {.method = "asha", .min = 1, .max = 81, .eta = 3}},
    {"asha, 4 brackets",
     {.method = "asha", .min = 1, .max = 81, .eta = 3, .brackets = 4}},
    {"asha, stopping",
     {.method = "asha",
      .min = 1,
      .max = 81,
      .eta = 3,
      .type = SCHEDULE_STOPPING}},
    {"hyperband", {.method = "hyperband", .min = 1, .max = 81, .eta = 3}},
};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

struct slots {
    uint64_t trials[SLOTS]; /* [count] */
    size_t count;
};

/* What a trial had reached: better with more, and some better than others. */
static double value_at(uint64_t trial, uint64_t resource)
{
    struct rng rng;

    rng_init(&rng, 1, trial, 0);
    return rng_uniform(&rng) + 1.0 / (double)resource;
}

/* The next result, of any trial that runs. False: it gives its slot back. */
static bool report(struct scheduler *scheduler, uint64_t trial)
{
    uint64_t resource = scheduler_awaits(scheduler, trial);
    struct observation observation = {.trial = trial,
                                      .resource = resource,
                                      .value = value_at(trial, resource)};
    struct verdict verdict;

    scheduler_observe(scheduler, &observation, &verdict);
    if (verdict.decision == DECIDE_CONTINUE && resource < 81)
        return true;
    if (verdict.decision != DECIDE_PAUSE)
        scheduler_end(scheduler, trial,
                      resource < 81 ? OUTCOME_STOPPED : OUTCOME_COMPLETE);
    return false;
}

static double time_trials_ms(const struct schedule_options *options)
{
    double start = now_ms();
    struct scheduler *scheduler = scheduler_create(options, NULL, NULL);
    struct slots slots = {.count = 0};
    uint64_t trials = 0;
    struct rng rng;

    rng_init(&rng, 1, 0, 0);
    for (;;) {
        struct assignment next = {.kind = NEXT_NONE};
        size_t i;

        if (slots.count < SLOTS)
            scheduler_next(scheduler, trials == TRIALS, &next);
        if (next.kind == NEXT_STOP) {
            scheduler_assign(scheduler, next.trial, &next);
        } else if (next.kind != NEXT_NONE) {
            uint64_t trial = next.kind == NEXT_NEW ? ++trials : next.trial;

            scheduler_assign(scheduler, trial, &next);
            slots.trials[slots.count++] = trial;
        } else if (slots.count > 0) {
            i = rng_below(&rng, slots.count);
            if (!report(scheduler, slots.trials[i]))
                slots.trials[i] = slots.trials[--slots.count];
        } else {
            break;
        }
    }
    scheduler_destroy(scheduler);
    return now_ms() - start;
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        printf("%d trials through %s\t%.4g\t-\t1000\tms\n", TRIALS,
               rows[i].name, time_trials_ms(&rows[i].options));
    return 0;
}
