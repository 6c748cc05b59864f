/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_STEP_LIST_H
#define SMTUNE_CLI_SHOW_JOBS_STEP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/workflow/workflow.h"

struct buf;

/*
 * The steps of a workflow's run as people see them: a line each, in the order
 * of the graph, the copies of a step folded into counts. Pure; run_steps.h
 * reads it from the record.
 */

/* How the copies of a step stand, each in its last round. */
struct step_jobs {
    int64_t succeeded, failed, running, pending, skipped, cancelled;
    int64_t cached;      /* of those that succeeded, cache hits */
    int64_t interrupted; /* running by the record, whose engine is not there */
};

struct step_line {
    char *name;
    enum flow_state state;
    char *reason;      /* why it failed or was skipped; NULL: not said */
    bool is_hidden;    /* what a list or a group waits for */
    bool is_many;      /* it has copies to be told apart */
    int64_t copies;    /* 0: not known yet, or none */
    int64_t first_job; /* lower numbers are of before it was put back */
    struct step_jobs jobs;
    int64_t round;  /* the last that has begun; 0: it does not repeat */
    int64_t rounds; /* at most; 0: not known */
    int64_t began_ms, ended_ms; /* 0: not yet */
    char *below;                /* how its child run stands, or NULL */
};

struct step_list {
    struct step_line *lines; /* [count], in the file's order; owned */
    size_t count;
    size_t *order;             /* [count], that of the graph; owned */
    const struct graph *graph; /* borrowed; NULL: not known */
    const char *interrupted;   /* the state of active steps where the run lacks
                                  its engine; NULL: it does not */
};

void step_list_clear(struct step_list *list);
/* Takes order and needs from the graph, which is borrowed. */
void step_list_set_graph(struct step_list *list, const struct graph *graph);

/* How many steps there are in each state, hidden ones left out. */
struct step_counts {
    int64_t all, done;
    int64_t of[FLOW_SKIPPED + 1]; /* by enum flow_state */
    int64_t cached;          /* of those that succeeded: all their copies are */
    const char *interrupted; /* the list's */
};

/* The state of a line for people. */
const char *step_list_state(const struct step_list *list,
                            const struct step_line *line);

void step_list_count(const struct step_list *list, struct step_counts *counts);

/*
 * Chooses at most `rows` steps to be shown, by shown[count]: those that are
 * active first, then those that failed, those that wait, in order, and those
 * that have ended well, the last ones. *rest is what is not shown. Hidden steps
 * are in neither. In O(count).
 */
void step_list_choose(const struct step_list *list, size_t rows, bool *shown,
                      struct step_counts *rest);

/* Whether each of its copies that succeeded is a cache hit, and it has, too. */
bool step_line_is_cached(const struct step_line *line);
/* "17/20 succeeded (5 cached), 1 failed, 2 running"; of a single copy "cached",
 * "round 3 of 10", or nothing. */
void step_line_print_jobs(const struct step_line *line, struct buf *out);
/* What it waits for, that its jobs wait their turn, why it was skipped or
 * failed, how the child run stands; or nothing. */
void step_list_print_note(const struct step_list *list, size_t step,
                          struct buf *out);
/* "9120 succeeded (70 cached), 870 waiting"; nothing where there is none. */
void step_counts_print(const struct step_counts *counts, struct buf *out);

/* How long it took, or takes until now; -1: it has not begun, or now_ms is 0,
 * since nobody looks after it any more. */
int64_t step_line_duration_ms(const struct step_line *line, int64_t now_ms);

#endif
