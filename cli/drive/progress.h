/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_PROGRESS_H
#define SMTUNE_CLI_DRIVE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cli;

/*
 * What `smtune run` shows while it runs, on stderr. On a terminal a panel of a
 * few lines, redrawn in place at most ten times a second. Elsewhere a line for
 * a trial that ended; where trials end faster than anybody reads, a few lines a
 * second, which say how many more there were, and every new best. With -q
 * nothing but messages. It never waits for a terminal or pipe that takes no
 * more: a frame is then left out, and trials are counted for the next line.
 *
 * Nothing here looks at a clock: the caller says what time it is, on a clock
 * that never goes back.
 */

/* How the run stands. Text is borrowed for the call. */
struct progress_snapshot {
    const char *run, *method;
    const char *metric;     /* of the first objective; NULL: a workflow, whose
                               steps are counted in `done`, and its jobs else */
    const char *steps;      /* those that go on, "train (3 of 8)"; or NULL */
    int64_t done, total;    /* total 0: no limit on trials */
    int64_t running, slots; /* slots 0: not known */
    int64_t queued;         /* on a cluster */
    int64_t succeeded, failed, stopped, cancelled;
    int64_t cached, cached_jobs; /* steps and jobs that are cache hits, of those
                                    that succeeded */
    int64_t paused;              /* by the schedule */
    const char *unit;            /* of its resource; NULL: no schedule */
    int64_t used, budget;        /* of that; budget 0: no limit */
    int64_t nonfinite;           /* ended well without a finite value */
    int64_t infeasible;          /* of those that succeeded */
    int64_t front; /* trials on the Pareto front; 0: one objective */
    int64_t elapsed_ms, eta_ms; /* eta_ms -1: not known */
    int64_t best_trial;         /* 0: none yet */
    int64_t best_count; /* of trials that `best` is the mean of; 0: no mean */
    double best, previous_best; /* NaN: none */
    const char *best_params;    /* "lr=0.012 width=128", or NULL */
    const char *note;           /* what it waits for, or NULL */
};

/* A trial that ended; or that its schedule has promoted, in state "promoted".
 */
struct progress_trial {
    int64_t number;
    const char *job; /* of a workflow: its name, "train[3]"; NULL: a trial */
    const char *state;
    int64_t resource;    /* that it came to, or goes on to; 0: no schedule */
    const char *cause;   /* shown where the trial did not succeed; or NULL */
    const char *text;    /* why, in words, or NULL */
    double value;        /* NaN: none */
    const char *others;  /* other objectives and outcomes, "b=2 c=3"; or NULL */
    int64_t duration_ms; /* of all attempts together; 0: none has ended */
    int64_t last_duration_ms; /* of the last one; 0: not known */
    const char *params;       /* as best_params, or NULL */
    bool is_best;             /* or on the front, now */
    bool is_infeasible, is_cached, will_retry;
    bool is_nonfinite; /* a value of an objective is NaN or infinite */
    const char *again; /* how often it has started so, without a retry; NULL or
                          "": it does not */
};

struct progress;

/* For stderr, as the options and the terminal say. */
struct progress *progress_create(const struct cli *cli);

enum progress_mode { PROGRESS_NONE, PROGRESS_LINES, PROGRESS_PANEL };

struct progress_style {
    enum progress_mode mode;
    bool colour, utf8;
    int columns; /* 0: ask the terminal each time */
};

/* For any file, which is borrowed; fd is the terminal or pipe that it stands
 * for, -1: none. */
struct progress *progress_create_for(FILE *file, int fd,
                                     struct progress_style style);

void progress_trial_ended(struct progress *progress,
                          const struct progress_trial *trial,
                          const struct progress_snapshot *now, int64_t now_ms);
/* The run goes on; call it when something changed, and now and then. */
void progress_update(struct progress *progress,
                     const struct progress_snapshot *now, int64_t now_ms);
/* One line for people ("stopping: ..."), also with -q; above the panel. */
void progress_message(struct progress *progress, const char *text);
/* Says what has not been said yet, takes the panel away, destroys. NULL is
 * allowed, for both. */
void progress_finish(struct progress *progress,
                     const struct progress_snapshot *now);

#endif
