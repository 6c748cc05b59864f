/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_SITE_H
#define SMTUNE_TESTS_FAULT_SIM_SITE_H

#include "executors/executor.h"
#include "tests/fault/sim/world.h"

/*
 * The processes of a world: attempts begin, write their log and end, whether
 * an engine looks or not. The site checks what no engine may do (begin an
 * attempt twice, two of one trial at once, more than `parallel`), and knows
 * what really happened to each attempt, which the record is compared with.
 */

enum { SITE_METRICS = 2, SITE_CAUSES = CAUSE_COUNT };

/* How attempts fare, by the scenario. Percentages are of attempts. */
struct site_habits {
    int64_t min_ms, max_ms;   /* how long they run */
    int weights[SITE_CAUSES]; /* how they end; CAUSE_NO_METRIC: say nothing */
    int parallel;
    int metric_count;     /* loss and size */
    bool is_stepless;     /* lines do not say of which epoch they are */
    int overshoot;        /* % that go on for longer than they may */
    int64_t max_epochs;   /* up to which; 0: there is no schedule */
    int ignore_term;      /* % that SIGTERM does not end */
    int full;             /* % of starts that are refused for a while */
    int error;            /* % of starts that are an error */
    int saves;            /* % that leave a checkpoint; 0: there are none */
    int break_every;      /* an agent breaks after so many starts; 0: never */
    int64_t max_delay_ms; /* of what is told to the engine */
};

enum site_phase {
    SITE_QUEUED,
    SITE_RUNNING,
    SITE_ENDED,
    SITE_VOID /* never began, and never will */
};

struct site_attempt {
    struct site_attempt *next;
    struct site *site;
    int64_t id, trial;
    enum site_phase phase;
    bool began;
    int64_t engine; /* which one has it, counted from 1 */
    int64_t agent;  /* whose agent has begun it */

    /* When it was handed over, began, ends or ended, and an engine learnt of
     * its end (0: not yet), in the world's time; and by which wall clock. */
    int64_t handed_ms, begun_ms, end_ms, told_ms;
    int64_t handed_wall_offset_ms, told_wall_offset_ms;
    int64_t handed_engine, told_engine;

    bool is_slow_to_end;      /* SIGTERM does not end it */
    int64_t cancelled_engine; /* which told it to end, in time or not */
    bool has_exit;            /* its `exit` is on the disk */
    bool has_claim;           /* so is its claim */
    struct attempt_exit end;
    double values[SITE_METRICS];
    char *directory, *setting, *log;
    char *checkpoints; /* of its trial, or its job; NULL: it keeps none */
    bool saves;        /* leaves one of its own */
    char *temp;        /* the temporary output that it makes; NULL: none */
    int64_t made_ms, removed_ms; /* it was there, in the world's time; 0: not */
    int64_t level;               /* epochs that are done by its checkpoint */
    int64_t steps;               /* up to which it speaks */
    int64_t found, held; /* the attempt whose checkpoint it began with; and
                            whose it has left; 0: none */
    size_t log_length, log_written;
    bool has_spoken; /* an engine may have read what no disk has any more */
    bool is_silent;
    int64_t time_ms, grace_ms;
    struct world_event *next_event; /* its begin or its end */
    struct world_event *next_write;
    struct world_event *next_word; /* to the engine */
};

struct site *site_create(struct world *world, const struct site_habits *habits);
void site_destroy(struct site *site);

/* The engine's process is gone: nobody is told any more. With `power`, all
 * processes are. */
void site_lose_engine(struct site *site, bool power);
/* Fails where something still runs or waits to run. */
void site_check_idle(const struct site *site);
/* The first; then ->next, in the order in which they were handed over. */
const struct site_attempt *site_attempts(const struct site *site);
const struct site_attempt *site_find(const struct site *site, int64_t id);

/* ---- for executor.c ---- */

/* Who is told: always from the world, never from inside a call. */
struct site_events {
    void (*started)(void *user, int64_t attempt);
    void (*ended)(void *user, const struct attempt_exit *end);
    void *user;
};

/* An engine comes, with an agent of its own; events NULL: it goes. */
void site_attach(struct site *site, const struct site_events *events);
const struct site_habits *site_habits_of(const struct site *site);
void site_start(struct site *site, const struct attempt_spec *spec);
void site_cancel(struct site *site, int64_t attempt, enum cancel_mode mode);
/* As executor_reattach. */
int site_reattach(struct site *site, const struct attempt_spec *spec);

#endif
