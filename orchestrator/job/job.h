/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_JOB_H
#define SMTUNE_ORCHESTRATOR_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/json.h"
#include "base/value.h"
#include "executors/executor.h"
#include "orchestrator/job/curve.h"
#include "orchestrator/job/links.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/job/states.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * A job that is not over yet, in memory: a trial of an experiment, or a copy of
 * a workflow's step, whose experiment has no parameters and no objectives. What
 * is over is in the store alone, so that the engine's memory follows what runs,
 * not what ran.
 */

/* What to make of the attempt's end when it was us who ended it. */
enum job_wish {
    WISH_NONE,
    WISH_INTERRUPT, /* the user stops the run: it starts again on resume */
    WISH_STOP,      /* the run's end: it is over, unless it has just ended */
    WISH_PAUSE,     /* it has used the resource it was given */
    WISH_CANCEL,    /* its user ends it alone */
    WISH_GIVE_UP    /* its schedule's decision: it is over in any case */
};

/* What it made is hashed before it is over, for others to take. */
enum job_seal { SEAL_NONE, SEAL_WAITS, SEAL_DONE };

enum { JOB_MAX_CURVES = 1000, JOB_HANDLE_MAX = 32 };

struct held_points;
struct launch;
struct metric_files;

struct job {
    int64_t number; /* for people: 1, 2, 3 ... */
    int64_t id;     /* in the store */
    enum job_state state;
    const struct job_spec *spec;
    struct value *point; /* in the order of the space's parameters */
    int64_t step;        /* of its workflow; -1: it is a trial */
    int64_t copy, round; /* of its step; round 0: that does not repeat */
    json_t *rounds;      /* its round's values by name; NULL: none */
    json_t *outputs;     /* what it made, by name; NULL: nothing, or not yet */
    char *cache_key;     /* NULL: none, or not known yet */
    int64_t cached_from; /* id of the job whose result it takes */
    char *cache_note;    /* why it runs, or why its result will not be reused */
    json_t *cache_parts; /* of the key; NULL: as that */
    bool was_asked;      /* whether there is one */
    char *held_for;      /* the job whose result lacks temporary outputs, for
                            people; NULL: it was not held */
    bool is_foreseen;    /* held: a forecast has begun since, */
    bool was_unforeseen; /* and one did not have it */
    bool takes_lacking;  /* no step needs what its result lacks */
    bool is_shared;      /* the files of its next attempt are shared out, or */
    struct err *unshared; /* why they are not; NULL */
    enum job_seal seal;
    const struct link_rule *link_rule; /* NULL: it is no chain */
    struct links links;
    int64_t reserve; /* number of its next attempt, or the current one, among
                        the reserves of the one before; 0: it was none */
    struct executor *executor;
    int64_t attempt; /* the current one's id, 0: none */
    int64_t attempt_number;
    struct launch *launch;             /* until the executor has taken it */
    uint32_t lacks;                    /* what the executor refused it for */
    struct metric_files *metric_files; /* from then on */
    struct free_starts free_starts;    /* that spent no retry */
    char **avoid;                      /* nodes, NULL-ended; NULL: none */
    int64_t *retries_used;      /* [retry_count + 1]; the last: retry_default */
    struct resources resources; /* of its next attempt, or the current one */
    bool *said;                 /* [objective_count] its metric was said */
    double *last, *best;        /* [objective_count]; NaN: none */
    int64_t resource; /* up to which it may run; 0: there is no schedule */
    int64_t bracket, rung, parent; /* as it began: see store.h */
    int64_t paused_at;             /* resource that its checkpoint is of */
    int64_t from;                  /* resource at which its attempt began */
    int64_t reached;               /* resource that it has used, as it said */
    int64_t overrun_ms;            /* monotonic: when it was beyond; 0: not */
    double overrun_step;           /* at which */
    struct held_points *held;      /* that wait; NULL */
    bool has_begun;                /* its attempt has a point that decides */
    bool begins_at_zero;           /* its steps: the first one is 0 */
    bool is_scheduled;             /* its schedule is told of it */
    bool is_given_up;              /* by its schedule */
    bool is_told_to_end;           /* its attempt, for whatever reason */
    bool has_lost_checkpoint;
    bool was_cancelled;  /* its last attempt, by smtune */
    int64_t first_ms;    /* when its attempt's first value was read; 0: none */
    int64_t value_count; /* of its attempt's first objective */
    bool is_promoted;    /* which nobody was told of yet */
    double *outcomes;    /* [outcome_count] the last values; NaN: none */
    bool *outcomes_said; /* [outcome_count] */
    struct job_curve *curves;
    size_t curve_count, curve_capacity;
    int64_t points_left_out; /* of metrics beyond JOB_MAX_CURVES */
    int retry_rule;          /* that matched its last attempt's end; -1: none */
    char again[48];          /* its last end spent no retry: which of how many
                                such, in words; or "" */
    int64_t due_ms;  /* waiting: when it may start, clock_monotonic_ms() */
    int64_t wait_ms; /* how long its last retry was to wait */
    int64_t started_ms;
    int64_t ran_ms; /* all of its attempts that have ended, together */
    enum job_wish wish;
    bool is_ended_by_step; /* WISH_CANCEL is of its step, not of its user */
    bool has_ended; /* `end` holds; its files may not be read to the end yet */
    bool has_more;  /* to be read at once */
    bool is_new_best;
    bool is_reopened; /* its user put it back, */
    bool runs_again;  /* though it had succeeded */
    bool is_adopted;  /* its attempt was started by an earlier engine */
    bool is_queued;   /* its attempt waits in a queue of the executor's */
    char handle[JOB_HANDLE_MAX];  /* what it is called there, or "" */
    char node[EXECUTOR_NODE_MAX]; /* where it started, or "" */
    struct attempt_exit end;
    TAILQ_ENTRY(job) link; /* in one list of the engine's */
};

TAILQ_HEAD(job_list, job);

/* task: what it does; borrowed, as the experiment is. */
struct job *job_create(const struct experiment *experiment,
                       const struct job_spec *spec, int64_t number);
void job_destroy(struct job *job);

/*
 * Takes a point of a metric: follows the objectives and constraints. Returns
 * its curve, which the caller tells of the point; NULL: the job has
 * JOB_MAX_CURVES others, and the metric is neither an objective nor a
 * constraint, which always have a place. Valid until the next call.
 */
struct job_curve *job_add_metric(struct job *job,
                                 const struct experiment *experiment,
                                 const char *name, double value);

/* The objectives' values as the file asks for them, [objective_count]; NaN:
 * never said. The caller frees. */
double *job_objectives(const struct job *job,
                       const struct experiment *experiment);
/* Whether every objective's metric was said. */
bool job_has_objectives(const struct job *job,
                        const struct experiment *experiment);
/* The first metric, of an objective or of a constraint on outcomes, that was
 * not said yet; of the experiment. NULL: all were. */
const char *job_missing_metric(const struct job *job,
                               const struct experiment *experiment);

/* Its later attempts keep away from a node. */
void job_avoid(struct job *job, const char *node);

/* Whether a cause of the record is CAUSE_NO_METRIC; NULL is none. */
bool job_cause_is_no_metric(const char *cause);

/* Whether it ended because nothing could be written or started. */
bool job_had_no_chance(const struct attempt_exit *end);

/* Whether its result is a cache hit. */
bool job_is_cached(const struct job *job);

/* What an end means for the trial; `failed`, and `cancelled` without a wish,
 * where a rule may give another try. free_start: retry_free_start()'s. */
enum job_event job_judge_end(const struct attempt_exit *end, enum job_wish wish,
                             enum retry_free free_start);

#endif
