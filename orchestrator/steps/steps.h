/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_STEPS_H
#define SMTUNE_ORCHESTRATOR_STEPS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "orchestrator/job/job.h"
#include "orchestrator/job/launch.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "orchestrator/steps/results.h"
#include "orchestrator/steps/temp_results.h"
#include "orchestrator/steps/temps.h"
#include "workflows/matrix.h"

/*
 * A workflow's steps in memory, while an engine has its run: how far they are,
 * what came of them, and what their expressions say now. What it is asked for
 * follows from the file, the record and the paths that a step's matrix finds.
 */

/* Why a step is skipped, or a copy given up, that the run's end left no time
 * for. */
#define STEPS_CUT_OFF "the run ended"

struct steps {
    const struct run *run; /* the engine's, which sets it; NULL: none */
    const struct workflow *workflow;
    const char *run_name;
    struct flow *flow;
    struct results *results;
    struct temps *temps;               /* NULL: no output is temporary */
    struct temp_results *temp_results; /* likewise */
    bool touch_is_over;                /* a job was put back: commands run */
    struct step_now *now;              /* [step_count] */
};

struct step_now {
    struct matrix *matrix; /* once it has begun */
    char *failure;         /* what the first copy that failed said; or NULL */
    int64_t requeued;      /* for the flow they have started: requeue.c */
    int64_t held;          /* likewise: foresee.c */
    bool *is_cached;       /* [copies] its result is a cache hit; NULL: none */
    int64_t cached;        /* how many of them */
};

/* NULL with an error where the needs go round in a circle. */
struct steps *steps_create(const struct workflow *workflow,
                           const char *run_name, struct err *err);
void steps_destroy(struct steps *steps);

/* ---- what its expressions say ---- */

/* Whether the run is to have the step at all: --only. */
bool steps_is_asked_for(const struct steps *steps, size_t step);

/* A step's `if`, asked for the step as a whole or (copy >= 0) for one copy.
 * True without one. -1 in *err where it cannot be told. */
int steps_condition(struct steps *steps, size_t step, int64_t copy,
                    bool *is_true, struct err *err);

/* What the step's axes hold now, as the record keeps it; *axes is NULL where
 * there are none. */
int steps_axes(struct steps *steps, size_t step, json_t **axes,
               struct err *err);

/* Of one axis: a list. NULL with an error where it has none. */
json_t *steps_axis(struct steps *steps, size_t step,
                   const struct matrix_axis *axis, struct err *err);

/* What a STEP_FAIL says; the caller frees. */
char *steps_message(struct steps *steps, const struct job *job);

/* ---- what becomes of them ---- */

/* A step begins with what steps_axes() gave, which is borrowed. -1 where these
 * are too many copies; the step is then as before. */
int steps_begin(struct steps *steps, size_t step, const json_t *axes,
                struct err *err);
/* It cannot begin, and has failed. */
void steps_fail(struct steps *steps, size_t step);
void steps_skip(struct steps *steps, size_t step);
/*
 * A job has come to its end: results learn of it, and flow, unless another
 * round follows. Then that one's values are returned, for the caller to
 * release; else NULL.
 */
json_t *steps_end_job(struct steps *steps, const struct job *job);
void steps_end(struct steps *steps, size_t step, enum flow_state state);
/* Whether a copy's last result is a cache hit, to be counted. */
void steps_set_cached(struct steps *steps, size_t step, int64_t copy,
                      bool is_cached);
/* A copy will never start, and counts as one that failed. */
void steps_give_up(struct steps *steps, size_t step, int64_t copy,
                   const char *why);
/* A job of it that was over runs again; steps that need it have to be told to
 * wait again. */
void steps_reopen(struct steps *steps, size_t step, int64_t copy);
/* How it ended is asked again; its copies stay as they are. */
void steps_look_again(struct steps *steps, size_t step);
void steps_wait_again(struct steps *steps, size_t step);
/* One line on why a step failed; the caller frees. */
char *steps_failure(const struct steps *steps, size_t step);

/* How many copies a step has, once it has begun. */
int64_t steps_copies(const struct steps *steps, size_t step);

/* ---- its jobs ---- */

/* A job's next attempt: as launch_create(). */
struct launch *steps_launch(struct steps *steps, const struct launch_site *site,
                            const struct job *job, struct err *err);

/* The values that scope_fill() gives for a job; the caller frees. */
struct value *steps_values(struct steps *steps, const struct job *job,
                           const struct launch_places *places);

/* An attempt has ended; where it was a child run, that may have had more to say
 * by its exit status. */
void steps_judge(const struct steps *steps, struct job *job);

/* Where a job's outputs are. */
struct steps_site {
    struct launch_places places;
    const char *work_directory; /* the run's */
    bool may_lack_temps;        /* as in struct outputs_site */
};

/*
 * Takes what a job made, whose last attempt has ended well, to job->outputs. -1
 * as outputs_read().
 */
int steps_read_outputs(struct steps *steps, struct job *job,
                       const struct steps_site *where, struct err *err);

#endif
