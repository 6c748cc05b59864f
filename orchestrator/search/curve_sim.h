/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_CURVE_SIM_H
#define SMTUNE_ORCHESTRATOR_SEARCH_CURVE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scheduler;

/*
 * Trials whose learning curves are known, run once more under a scheduler, in
 * virtual time: the same trials in the same order, as many at a time, each as
 * quick as it was. Pure. No value is made up: where a curve ends because
 * something ended the trial, and the scheduler would have let it go on, the
 * trial ends there, and is counted.
 */

struct curve_point {
    uint64_t resource;
    double value; /* lower is better */
};

enum curve_end {
    CURVE_COMPLETE, /* the trial came to its own end, more changes nothing */
    CURVE_FAILED,
    CURVE_CUT /* how it would have gone on is not known */
};

struct curve {
    int64_t number;                   /* of its trial */
    const struct curve_point *points; /* [count], by resource */
    size_t count;                     /* 0: it said nothing */
    enum curve_end end;
    bool is_feasible;
    uint64_t resource; /* that it used; where it began again, counted twice */
    double seconds;    /* that this took; without points, until it ended */
};

struct curve_sim {
    const struct curve *curves; /* [count], by number */
    size_t count;
    size_t parallel;      /* how many run at once; 1 or more */
    bool takes_best;      /* of a curve up to a point, not its last value */
    bool has_checkpoints; /* what was paused goes on where it was */
    int64_t winner;       /* the trial whose fate is asked for; 0: none */
};

/* X(symbol, word) */
#define FATES(X)                                                               \
    X(FATE_NONE, "not started")                                                \
    X(FATE_RUNNING, "running")                                                 \
    X(FATE_COMPLETE, "completed")                                              \
    X(FATE_STOPPED, "stopped")                                                 \
    X(FATE_PAUSED, "paused")                                                   \
    X(FATE_FAILED, "failed")                                                   \
    X(FATE_CUT, "unknown")

enum fate {
#define X(symbol, word) symbol,
    FATES(X)
#undef X
        FATE_COUNT
};

extern const char *const fate_names[FATE_COUNT];

struct curve_sim_result {
    uint64_t resource;         /* used in all */
    double seconds;            /* of all trials together */
    double elapsed;            /* seconds until the last one ended */
    size_t counts[FATE_COUNT]; /* of trials */
    int64_t best;              /* of those complete and feasible; 0: none */
    double best_value;         /* lower is better */
    uint64_t best_resource;

    enum fate fate;         /* of the winner; FATE_PAUSED: it was never
                               promoted again */
    uint64_t fate_resource; /* that it had come to */
    int64_t fate_rung;      /* of the last decision on it; -1: none */
    char fate_reason[160];  /* of that decision; may be empty */
};

/* scheduler is new; after this it is used up. */
void curve_sim_run(const struct curve_sim *sim, struct scheduler *scheduler,
                   struct curve_sim_result *result);

#endif
