/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_SCENARIO_H
#define SMTUNE_TESTS_FAULT_SIM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/fault/sim/site.h"

/* What a seed is about: the experiment, how its trials fare, and what goes
 * wrong. The numbers are what the checks go by; the text is what the engine
 * gets. */

enum { SCENARIO_MAX_RULES = 2, SCENARIO_MAX_CAUSES = 3 };

struct scenario_rule {
    uint32_t causes; /* bits 1 << enum attempt_cause */
    bool exit_75;
    int64_t max, delay_ms, max_delay_ms; /* max_delay_ms 0: none */
    double backoff;
    bool has_jitter;
};

enum { SCENARIO_MAX_EPOCHS = 9 };

/* One of a few, up to so many epochs. */
struct scenario_schedule {
    const char *text;
    bool pauses;
    bool clones;
    bool may_end_early; /* with fewer trials than the budget has */
};

enum {
    SCENARIO_MAX_STEPS = 12,
    SCENARIO_MAX_COPIES = 5,
    SCENARIO_ROUNDS = 2,
    SCENARIO_POOLS = 2
};

/* `continue`, and the time limit of each link. */
struct scenario_chain {
    int64_t max;       /* links behind the first; 0: there is no such thing */
    int64_t total_ms;  /* of all together; 0: no limit */
    int64_t before_ms; /* the limit, a signal comes; 0: none */
    int64_t time_ms;
};

/* A step of a workflow, called s0, s1 ... */
struct scenario_step {
    uint32_t needs; /* bits 1 << step */
    struct scenario_chain chain;
    int64_t copies, parallel; /* parallel 0: no limit */
    int64_t refused;          /* a copy whose condition says no; -1: none */
    int64_t success_count;    /* 0: all */
    int condition;            /* a step of which one copy must have succeeded;
                                 -1: none */
    bool is_always, may_fail, repeats;
    bool has_temp;                  /* a temporary output */
    int64_t claims[SCENARIO_POOLS]; /* what each copy takes; 0: nothing */
};

struct scenario {
    char *text; /* the file */
    struct scenario_step steps[SCENARIO_MAX_STEPS];
    int step_count;                /* 0: it is an experiment */
    int64_t pools[SCENARIO_POOLS]; /* their sizes, p0, p1 ...; 0: none */
    bool learns;
    bool has_checkpoints;
    bool is_finite;  /* the space may have fewer settings than trials */
    int64_t trials;  /* of the budget */
    int64_t time_ms; /* likewise; 0: no limit */
    bool has_target;
    double target;
    bool gives_up; /* may end for want of improvement */
    const struct scenario_schedule *schedule; /* NULL: none */
    int64_t resource;                         /* of the budget; 0: no limit */
    int64_t grace_ms;
    struct scenario_rule rules[SCENARIO_MAX_RULES];
    int rule_count;
    struct site_habits habits;

    int crashes;  /* at most */
    int power;    /* % of the crashes */
    int signals;  /* % of the sessions that get one */
    int faults;   /* % of the sessions in which a write fails */
    int denials;  /* % of the sessions in which a query fails */
    int full;     /* % of the sessions in which the disk is full for a while */
    int jumps;    /* % of the sessions in which the wall clock jumps */
    int calls;    /* % of the calls to a session's engine that are made */
    int reopens;  /* % of the times without an engine: a trial is put back */
    int enqueues; /* likewise: a setting is enqueued */
    int changes;  /* likewise: its number of trials is changed */
    bool is_new_disk; /* the store, too, is made in the history */
    bool is_thorough; /* costly checks at the end */
};

void scenario_draw(struct scenario *scenario, uint64_t seed);
/* The file of a workflow, and what the checks have to know of it. */
void scenario_draw_flow(struct scenario *scenario, struct rng *rng,
                        struct rng *temps, struct buf *text);
/* `resources` and `retry` of whatever runs. */
void scenario_draw_task(struct scenario *scenario, struct rng *rng,
                        struct buf *text);
void scenario_clear(struct scenario *scenario);

#endif
