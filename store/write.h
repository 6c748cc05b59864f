/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_WRITE_H
#define SMTUNE_STORE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "store/schema/columns.h"

struct store;

/*
 * What changes the record; a part of store.h. All need an open transaction, in
 * which an error may leave half of a change: roll it back then. What returns an
 * int returns 0, or -1 with an error. Ids are > 0.
 * Numbers that are NaN are kept as NULL.
 */

/* The values of a metric with which a trial is feasible. */
struct outcome_bounds {
    const char *metric;
    double min, max; /* infinite: no such bound */
};

/* A rung of a run's schedule as it is planned. */
struct rung_new {
    int64_t bracket, rung; /* 0, 1, 2 ... */
    int64_t resource;
    int64_t trials; /* that reach it, at most; 0: there is no such limit */
};

struct run_new {
    const char *name;      /* unique in the store */
    const char *kind;      /* "experiment", "workflow" */
    const char *spec;      /* the file's text */
    const char *overrides; /* --set assignments, a JSON list of strings */
    const char *spec_path; /* absolute, or "" */
    const char *work_directory;
    uint64_t seed;
    int64_t repeats;            /* trials of each setting; 0: 1 */
    const char *const *metrics; /* objectives */
    const char *const *goals;   /* minimize | maximize */
    size_t objective_count;
    const struct outcome_bounds *outcomes; /* constraints on outcomes */
    size_t outcome_count;
    const char *const *params; /* in order */
    size_t param_count;
    const struct rung_new *rungs; /* by bracket, then rung */
    size_t rung_count;
    const char *const *steps; /* names, of a workflow */
    size_t step_count;
    int64_t parent, parent_job; /* the run and job it is started by; 0: none */
    int64_t time_ms;
};

/* State running, event "run_created". ERR_BUSY when the name is taken. */
int store_add_run(struct store *store, const struct run_new *run, int64_t *id,
                  struct err *err);
/* Any state but running is also its end. Event "run_state". */
int store_set_run_state(struct store *store, int64_t run, const char *state,
                        const char *reason, int64_t time_ms, struct err *err);
/* Who runs it now: pid 0 when nobody does. The first is the run's start. Event
 * "engine_started" or "engine_ended". */
int store_set_run_engine(struct store *store, int64_t run, int64_t pid,
                         const char *boot_id, int64_t time_ms, struct err *err);
/* The wall clock was set forward, or back (below 0), while an engine ran it.
 * Event "clock_jumped". */
int store_add_clock_jump(struct store *store, int64_t run, int64_t by_ms,
                         int64_t time_ms, struct err *err);
/* Engines have worked on it for at least that long, which is all that it had.
 * Event "time_used_up". */
int store_add_time_used_up(struct store *store, int64_t run, int64_t after_ms,
                           int64_t time_ms, struct err *err);
/* Its user pauses it, or lets it go on, if it does not already. Event
 * "run_paused" or "run_resumed". */
int store_set_run_paused(struct store *store, int64_t run, bool is_paused,
                         int64_t time_ms, struct err *err);
/* How many trials and how much time its budget has from now on; 0: as it had.
 * Event "budget_changed". */
int store_set_run_budget(struct store *store, int64_t run, int64_t trials,
                         int64_t budget_ms, int64_t time_ms, struct err *err);

/* A run follows another text of its file from now on. */
struct run_edit_new {
    int64_t run;
    const char *spec, *overrides;
    const char *spec_path; /* NULL: as it was */
    /* What its user gave it before is no matter: the text decides. */
    bool resets_trials, resets_time;
    int64_t retry_base; /* 0: as it was */
    int64_t time_ms;
};

/* Event "edited". */
int store_edit_run(struct store *store, const struct run_edit_new *edit,
                   struct err *err);
/* What git calls the code that it goes on with. Event "revision_changed". */
int store_set_run_revision(struct store *store, int64_t run,
                           const char *revision, int64_t time_ms,
                           struct err *err);
/* With what an engine goes on with it, a JSON object. Event "origin". */
int store_add_origin(struct store *store, int64_t run, const char *detail,
                     int64_t time_ms, struct err *err);
/* With all its jobs and events, and its child runs; the files stay. */
int store_delete_run(struct store *store, int64_t run, struct err *err);

/* What becomes of a workflow's step, which waits until something does. */
struct step_change {
    int64_t run, step; /* its place in the file, from 0 */
    const char *state;
    const char *event;  /* the event's word */
    const char *reason; /* NULL: none */
    /* What it begins with, at "step_began"; it keeps them until it waits
     * again. */
    int64_t copies;
    const char *matrix; /* JSON; NULL: none */
    int64_t first_job;  /* number that the first of its jobs will have */
    int64_t time_ms;
};

int store_change_step(struct store *store, const struct step_change *change,
                      struct err *err);

struct job_new {
    int64_t run;
    int64_t number; /* the trial's id for people: 1, 2, 3 ... in its run */
    const char *state;
    uint64_t cursor;    /* of the strategy */
    int64_t seen;       /* how many results the strategy had been told */
    const char *reason; /* why it suggested it, JSON; NULL: none */
    int64_t same_as;    /* number of the job whose values it takes; 0: none */
    const struct value *params; /* [param_count] of the run; null: inactive */
    size_t param_count;
    /* How its schedule has it begin; resource 0: it has none, and the others
     * are nothing. */
    int64_t bracket, rung, resource;
    int64_t parent; /* number of the job whose checkpoint it takes; 0: none */
    int64_t step;   /* of a workflow; -1: it is a trial, and the others are
                       nothing */
    int64_t copy;   /* 0, 1, 2 ... */
    int64_t round;  /* 1, 2, 3 ... of a step that repeats; 0: it does not */
    const char *rounds; /* the round's values, JSON; NULL: none */
    int64_t enqueued;   /* which enqueued setting it tries; 0: none */
    int64_t time_ms;
};

/* Event "suggested", or of a step "created". */
int store_add_job(struct store *store, const struct job_new *job, int64_t *id,
                  struct err *err);

struct job_change {
    int64_t run, job;
    const char *state;
    const char *cause; /* NULL: none */
    const char *event; /* the event's word */
    int64_t time_ms;
    int64_t started_ms;   /* of its current attempt; 0: as it was */
    int64_t ended_ms;     /* 0: it has not ended */
    const double *values; /* [objective_count], NULL: none */
    size_t value_count;
    const double *outcomes; /* [outcome_count], NULL: none; NaN: not said */
    size_t outcome_count;
    double violation; /* the sum of what bounds are exceeded by; not NaN */
    int64_t due_ms;   /* when a retry may start; 0: none */
    int64_t told;     /* the strategy gets it in this place: 1, 2 ...; 0: not */
    const char *verdict; /* why a schedule stopped it, for the event alone;
                            NULL: none */
    /* Of a step's job; NULL and 0: as it was. */
    const char *outputs;   /* and last metrics, by name, JSON */
    const char *cache_key; /* what its result hangs on */
    int64_t cached_from;   /* id of the job whose result it takes */
};

int store_change_job(struct store *store, const struct job_change *change,
                     struct err *err);

/* What became of a job's temporary outputs, as absolute paths. */
struct temps_removed {
    int64_t run, job;
    const char *const *removed; /* [removed_count], those that were gone, too */
    size_t removed_count;
    const char *const *kept; /* [kept_count] that cannot be removed */
    size_t kept_count;
    int64_t time_ms;
};

/* They are gone from the disk. Event "temps_removed". */
int store_set_temps_removed(struct store *store,
                            const struct temps_removed *temps, struct err *err);

/* Whether the result of a job, or the one that it took over, is that of a job
 * in another run that is running: 1, 0, or -1. */
int store_is_shared(struct store *store, int64_t run, int64_t job,
                    struct err *err);

/* Who ends a job alone, in its column cancel_asked (0: nobody). */
enum cancel_asker {
    CANCEL_BY_USER = 1,
    CANCEL_BY_STEP = 2 /* of which too many copies have failed */
};

struct cancel_request {
    int64_t run, job;
    enum cancel_asker asker;
    int64_t time_ms;
};

/* The job is to end alone. Event "cancel_asked". */
int store_ask_cancel(struct store *store, const struct cancel_request *request,
                     struct err *err);

/* What a job had reached on its way, and what its schedule decided. */
struct observation_new {
    int64_t run, job;
    int64_t attempt; /* its id */
    int64_t resource;
    int64_t told;         /* its place among what the strategy is told */
    int64_t rung;         /* that it belongs to; -1: none */
    const double *values; /* [value_count], as job_change's */
    size_t value_count;
    const double *outcomes; /* [outcome_count] */
    size_t outcome_count;
    double last, best; /* of the metric that decides; NaN: none */
    const char *decision, *reason;
    int64_t time_ms;
};

/* Event "observed". */
int store_add_observation(struct store *store,
                          const struct observation_new *observation,
                          struct err *err);

/* A paused job is given more. */
struct job_promotion {
    int64_t run, job;
    int64_t at_resource; /* of its last observation, from which this follows */
    int64_t resource;    /* up to which it may run now */
    int64_t told;        /* as that of an observation */
    int64_t rung;        /* to which it goes */
    const char *reason, *state, *event;
    int64_t time_ms;
};

int store_promote_job(struct store *store,
                      const struct job_promotion *promotion, struct err *err);

/*
 * A job that is over is put back into a state in which it is not: what came of
 * it, and its place in what the strategy was told, go to the superseded
 * results (store_each_superseded), where it had such a place. Its attempts,
 * metrics and observations stay, and where its schedule had it begin; but it
 * has left that, and its resource is 0. A step's outputs and cache key go; its
 * events keep them.
 */
int store_reopen_job(struct store *store, int64_t job, const char *state,
                     const char *event, int64_t time_ms, struct err *err);

/* An engine that was killed ended when it was last heard of: before anything is
 * done to its run without another one. */
int store_end_dead_engine(struct store *store, int64_t run, struct err *err);

struct attempt_new {
    int64_t run, job;
    int64_t number;        /* 1, 2, 3 ... in its job */
    const char *directory; /* relative to the store's directory */
    int64_t resource;      /* up to which it may run; 0: no schedule */
    int64_t resource_from; /* its checkpoint's, 0: none */
    const char *cache_key; /* of its job, from now on; NULL: as it was */
    int64_t time_ms;
};

/* What is learnt of one that has not ended. */
struct attempt_change {
    int64_t run, job, attempt;
    int64_t pid;        /* 0: not known; -1: it has none yet */
    const char *node;   /* NULL: as it was */
    const char *handle; /* likewise: what the cluster calls it */
    int64_t time_ms;
};

/* State starting. At most one attempt of a job has not ended. Events
 * "attempt_starting", "attempt_queued" (which may come again, and is of one
 * that is starting), "attempt_running", "attempt_ended". */
int store_add_attempt(struct store *store, const struct attempt_new *attempt,
                      int64_t *id, struct err *err);
int store_set_attempt_queued(struct store *store,
                             const struct attempt_change *change,
                             struct err *err);
int store_set_attempt_running(struct store *store,
                              const struct attempt_change *change,
                              struct err *err);

struct attempt_end {
    int64_t run, job, attempt;
    const char *cause;
    int exit_code;      /* -1: none */
    int signal;         /* 0: none */
    int64_t started_ms; /* 0: it never began, whatever was told before */
    int64_t ended_ms, cpu_ms, max_rss_bytes;
    bool has_gpu_use;                 /* what follows was looked at */
    int64_t gpu_ms, gpu_memory_bytes; /* -1: not known */
    const char *text;                 /* NULL or why */
    int rule;               /* the retry rule that matched, from 0; -1: none */
    int64_t resource_used;  /* 0: none, or not known */
    const char *checkpoint; /* a hash of its checkpoints; NULL: none */
    const char *node;       /* NULL: as it was */
    bool is_displaced;      /* it starts again, and that is no retry */
    bool is_outside;        /* others than smtune cancelled it */
    bool is_shortage;       /* the machine had no room for it */
};

int store_end_attempt(struct store *store, const struct attempt_end *end,
                      struct err *err);

struct metric_new {
    int64_t job;
    int64_t attempt; /* its id */
    const char *name;
    double step;
    double value; /* may be NaN or infinite */
    int64_t time_ms;
};

/* One point of a metric's curve; the same (job, name, step) again replaces. */
int store_add_metric(struct store *store, const struct metric_new *metric,
                     struct err *err);
/* Removes every second point of a job's curve; its first, smallest and largest
 * ones stay. */
int store_thin_metric(struct store *store, int64_t job, const char *name,
                      struct err *err);

/* A result of an earlier run that the strategy knew from the beginning. */
struct earlier_row {
    COLUMN_MEMBERS(EARLIER_COLUMNS)
};

int store_add_earlier(struct store *store, int64_t run,
                      const struct earlier_row *earlier, struct err *err);

/* Something for people, of a run, which keeps the last. Event "note". */
int store_add_note(struct store *store, int64_t run, const char *text,
                   int64_t time_ms, struct err *err);

/* What people add to a run, or to one of its jobs (job 0: to the run itself),
 * at any time. An event says how it is then; of what was so already none. */

enum {
    STORE_COMMENT_MAX_BYTES = 16 << 10,
    STORE_TAG_MAX_BYTES = 64,
    STORE_TAGS_MAX = 64 /* of one thing */
};

/* What they note of it; NULL or "": nothing any more. ERR_USAGE where it is too
 * long, not UTF-8, or has control characters other than line ends and tabs.
 * Event "commented". */
int store_set_comment(struct store *store, int64_t run, int64_t job,
                      const char *text, int64_t time_ms, struct err *err);

struct tag_change {
    int64_t run, job;
    const char *const *add; /* [add_count] */
    size_t add_count;
    const char *const *remove; /* [remove_count]: those that it has */
    size_t remove_count;
    int64_t time_ms;
};

/* ERR_USAGE where one to be added is empty, too long, not UTF-8, has control
 * characters, or blanks at an end; or where there would be too many. Event
 * "tagged". */
int store_change_tags(struct store *store, const struct tag_change *change,
                      struct err *err);

/* A setting that a person has the run try, the index-th one from 1: params is a
 * JSON object of what they named. Event "enqueued". */
int store_add_enqueued(struct store *store, int64_t run, int64_t index,
                       const char *params, int64_t time_ms, struct err *err);

/* What an engine answers to a request that it has done in this transaction: a
 * JSON object, with the request's `id`. Event "answered". */
int store_add_answer(struct store *store, int64_t run, const char *answer,
                     int64_t time_ms, struct err *err);

/* What was seen of a node of a cluster, which is of no run alone: its engines
 * keep away from it for a while. Event "node_avoided" of the run. */
struct node_new {
    int64_t run, attempt; /* 0: of none in particular */
    const char *name;
    const char *trouble; /* died, unhealthy, refused */
    const char *text;
    int64_t time_ms;
    int64_t until_ms; /* one that is avoided for longer already stays so */
};

int store_report_node(struct store *store, const struct node_new *node,
                      struct err *err);
/* A person's word, of no run. until_ms 0: until they say otherwise. text NULL:
 * as it was. */
int store_avoid_node(struct store *store, const char *name, const char *text,
                     int64_t until_ms, struct err *err);
/* ERR_NOT_FOUND where nothing is known of the node. */
int store_clear_node(struct store *store, const char *name, struct err *err);

/* A message to a receiver of the run's, to be sent at once. */
struct notification_new {
    int64_t run;
    const char *delivery; /* unique */
    int64_t receiver;     /* its place in the run's file, from 0 */
    const char *event;
    const char *body;
    int64_t time_ms;
};

int store_add_notification(struct store *store,
                           const struct notification_new *notification,
                           int64_t *id, struct err *err);

struct notification_try {
    int64_t id;
    int64_t tries;                     /* in all */
    int64_t due_ms;                    /* of the next one */
    int64_t delivered_ms, given_up_ms; /* 0: not */
    const char *error;                 /* NULL: none */
};

int store_set_notification(struct store *store,
                           const struct notification_try *result,
                           struct err *err);

/* Another receiver for a message, after an edit of the file. */
struct notification_address {
    int64_t id;
    int64_t receiver;    /* its place in the edited file; -1: it has none */
    int64_t given_up_ms; /* the message is given up; 0: it stays as it is */
};

int store_address_notification(struct store *store,
                               const struct notification_address *address,
                               struct err *err);

#endif
