/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_STORE_H
#define SMTUNE_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"

/*
 * The record: one SQLite file, smtune.db, in the store's directory, with
 * runs/NAME/ beside it for each run's files. docs/database.md describes the
 * tables for people with sqlite3 at hand.
 *
 * Writing: one connection a process, STORE_WRITE. Between store_begin and
 * store_commit, changes gather in one transaction, under a file lock
 * (smtune.lock) that every writer of any process takes; what store_commit
 * acknowledged survives a power cut (WAL, synchronous=FULL). Readers never
 * wait for writers and never make them wait.
 *
 * Whoever changes a state appends the event row in the same call: each
 * function below that changes a state does so itself.
 *
 * The states' and causes' words are given by the caller (orchestrator/states.h,
 * executors/executor.h); the tables check them.
 */

enum store_mode {
    STORE_READ,  /* ERR_NOT_FOUND when there is no store */
    STORE_WRITE, /* migrates an older schema; refuses a newer one */
    STORE_CREATE /* as STORE_WRITE, and makes the directory and file */
};

struct store;

struct store *store_open(const char *directory, enum store_mode mode,
                         struct err *err);
void store_close(struct store *store);
/* The absolute path of the store's directory. */
const char *store_directory(const struct store *store);
/* The version of the SQLite in use: "3.40.1". */
const char *store_sqlite_version(void);
/* "<directory>/runs/<name>"; the caller's to free. */
char *store_run_directory(const struct store *store, const char *run_name);

/* ---- writing ---- */

/* Opens the transaction if it is not open yet. ERR_BUSY when another writer
 * holds it for over 10 s; the error names its process. */
int store_begin(struct store *store, struct err *err);
bool store_in_transaction(const struct store *store);
/* Durable when it returns 0; nothing of it is kept when it returns -1. With
 * nothing open: 0 at once. */
int store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);

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

/* All need an open transaction, in which an error may leave half of a change:
 * roll it back then. Ids are > 0. Numbers that are NaN are kept as NULL. */

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
/* Its user pauses it, or lets it go on, if it does not already. Event
 * "run_paused" or "run_resumed". */
int store_set_run_paused(struct store *store, int64_t run, bool is_paused,
                         int64_t time_ms, struct err *err);
/* With all its jobs and events, and the runs below it; the files stay. */
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
    int exit_code; /* -1: none */
    int signal;    /* 0: none */
    int64_t started_ms, ended_ms, cpu_ms, max_rss_bytes;
    const char *text;       /* NULL or why */
    int rule;               /* the retry rule that matched, from 0; -1: none */
    int64_t resource_used;  /* 0: none, or not known */
    const char *checkpoint; /* a hash of its checkpoints; NULL: none */
    const char *node;       /* NULL: as it was */
    bool is_displaced;      /* it starts again, and that is no retry */
};

int store_end_attempt(struct store *store, const struct attempt_end *end,
                      struct err *err);

struct metric_new {
    int64_t job;
    int64_t attempt; /* its id */
    const char *name;
    int64_t step;
    double value; /* may be NaN or infinite */
    int64_t time_ms;
};

/* One point of a metric's curve; the same (job, name, step) again replaces. */
int store_add_metric(struct store *store, const struct metric_new *metric,
                     struct err *err);

/* A result of an earlier run that the strategy knew from the beginning. */
struct earlier_row {
    int64_t index;      /* 0, 1, 2 ... in its run */
    const char *source; /* the earlier run's name */
    int64_t number;     /* of its trial */
    const char *state;  /* of its trial */
    const char *params; /* a JSON object */
    const char *values; /* JSON lists, as the strategy got them */
    const char *outcomes;
};

int store_add_earlier(struct store *store, int64_t run,
                      const struct earlier_row *earlier, struct err *err);

/* Something for people, of a run, which keeps the last. Event "note". */
int store_add_note(struct store *store, int64_t run, const char *text,
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

/* ---- reading ---- */

/* Rows are handed to a callback as they are read; text lives until it returns.
 * A callback that returns anything but 0 ends the reading, which returns it; it
 * may read, not write. */

/* What is read between these two is of one moment. Within a transaction, or
 * within another such pair, they do nothing. */
int store_read_begin(struct store *store, bool *began, struct err *err);
void store_read_end(struct store *store, bool began);

struct run_row {
    int64_t id;
    const char *name, *kind, *state, *reason, *spec, *overrides, *spec_path;
    const char *work_directory, *boot_id;
    uint64_t seed;
    int64_t pid;                              /* of the engine, 0: none */
    int64_t created_ms, started_ms, ended_ms; /* 0: not yet */
    int64_t paused_ms;                        /* since when; 0: it is not */
    const char *metric, *goal; /* the first objective's, "": none */
    int64_t objective_count;
    int64_t trials;                     /* all jobs */
    int64_t succeeded, failed, running; /* of them */
    int64_t pending;                    /* waiting, ready */
    int64_t paused, stopped;            /* by the schedule */
    int64_t other;                      /* stopped, skipped, cancelled */
    int64_t outcome_count;              /* metrics with bounds */
    int64_t infeasible;                 /* of those that succeeded */
    bool is_scheduled;  /* its trials are given their resource bit by bit */
    double best;        /* finite, of a feasible succeeded trial; NaN: none */
    int64_t best_trial; /* number, 0: none */
    int64_t steps;      /* of a workflow */
    int64_t parent_id;  /* the run that it was started by; 0: a person */
    int64_t parent_job; /* and the job there, by id */
    const char *note;   /* what was last said of it for people, or "" */
    int64_t queued;     /* of the pending, those that wait on a cluster */
};

/* By id, but those that a run has started come right behind it. */
int store_each_run(struct store *store,
                   int (*row)(void *user, const struct run_row *run),
                   void *user, struct err *err);
/* The runs that a run has started, and those that they have, by id. */
int store_each_run_below(struct store *store, int64_t run,
                         int (*row)(void *user, const struct run_row *run),
                         void *user, struct err *err);
/* By name, by id, or "last", which is the last that a person started.
 * ERR_NOT_FOUND names the nearest. */
int store_find_run(struct store *store, const char *selector, int64_t *id,
                   struct err *err);
int store_get_run(struct store *store, int64_t run,
                  int (*row)(void *user, const struct run_row *run), void *user,
                  struct err *err);
/* The run's parameter names, NULL-ended; free with store_free_names. */
char **store_run_params(struct store *store, int64_t run, struct err *err);
/* The run's objectives, likewise; *goals NULL-ended likewise. */
char **store_run_objectives(struct store *store, int64_t run, char ***goals,
                            struct err *err);
void store_free_names(char **names);
/* The run's constraints on outcomes, in their order. */
int store_each_outcome(struct store *store, int64_t run,
                       int (*row)(void *user,
                                  const struct outcome_bounds *outcome),
                       void *user, struct err *err);

struct trial_row {
    int64_t job, number;
    const char *state, *cause;  /* cause NULL: none */
    const double *values;       /* [value_count]; NaN: none said */
    size_t value_count;         /* 0: no objective yet */
    const double *outcomes;     /* [outcome_count]; NaN: none said */
    size_t outcome_count;       /* 0: none yet */
    double violation;           /* 0: feasible, as far as is known */
    const struct value *params; /* [param_count] in the run's order */
    size_t param_count;
    int64_t created_ms, started_ms, ended_ms, due_ms; /* 0: not yet */
    int64_t attempts;
    uint64_t cursor;
    int64_t told; /* the place in which the strategy got its result; 0: none */
    int64_t seen; /* how many results the strategy had when it suggested it */
    const char *reason; /* why it suggested it, JSON; NULL: not said */
    int64_t same_as;    /* number of the job whose values it took; 0: none */
    /* Where its schedule had it begin, and up to which resource; -1, -1 and 0
     * without a schedule. */
    int64_t bracket, rung, first_resource;
    int64_t resource; /* up to which it may run now; 0: it is in no schedule */
    int64_t parent;   /* number of the job whose checkpoint it took; 0: none */
    int64_t
        reached; /* the resource that it is known to have come to, 0: none */
    int64_t reached_rung; /* the highest that it was looked at; -1: none */
    /* Of a workflow: see struct job_new and struct job_change. */
    int64_t step, copy, round;
    const char *rounds, *outputs, *cache_key; /* NULL: none */
    int64_t cached_from;                      /* 0: none */
};

/* ORDER_BEST: by the first objective and its goal, best first; then those that
 * are not feasible, by violation; trials without a finite value come last, by
 * number. */
enum trial_order { ORDER_NUMBER, ORDER_BEST };

struct trial_query {
    int64_t run;
    enum trial_order order;
    const char *state; /* NULL: all */
    int64_t number;    /* 0: all */
    int64_t limit;     /* 0: none */
    bool results_only; /* no params, attempts is 0, and it is not said what was
                          reached: much quicker */
};

int store_each_trial(struct store *store, const struct trial_query *query,
                     int (*row)(void *user, const struct trial_row *trial),
                     void *user, struct err *err);

struct step_row {
    int64_t step; /* its place in the file, from 0 */
    const char *name, *state;
    const char *reason, *matrix; /* NULL: none */
    int64_t copies;              /* -1: it has not begun */
    int64_t first_job; /* jobs with lower numbers are of an earlier time */
    int64_t began_ms, ended_ms; /* 0: not yet */
    /* Of its jobs, which are a copy's rounds, how many are in these states. */
    int64_t jobs, pending, running, succeeded, failed, skipped;
};

/* The steps of a workflow's run, in the file's order. */
int store_each_step(struct store *store, int64_t run,
                    int (*row)(void *user, const struct step_row *step),
                    void *user, struct err *err);

/* A job whose result may stand for that of another. */
struct cached_row {
    int64_t job, number;
    const char *run; /* the run's name */
    const char *outputs;
    int64_t ended_ms;
};

/* Those that succeeded with a cache key since then, by themselves, the newest
 * first. */
int store_each_cached(struct store *store, const char *key, int64_t since_ms,
                      int (*row)(void *user, const struct cached_row *cached),
                      void *user, struct err *err);

struct attempt_row {
    int64_t id, job, number, job_number;
    const char *state, *directory;
    const char *cause, *text; /* NULL: none */
    int64_t pid, exit_code, signal, started_ms, ended_ms;
    int64_t cpu_ms, max_rss_bytes, created_ms;
    int64_t rule; /* the retry rule that matched its end; -1: none */
    int64_t resource_from, resource, resource_used; /* 0: none, or not known */
    const char *checkpoint;    /* a hash of its checkpoints; NULL: none */
    const char *node, *handle; /* of a cluster; NULL: none */
    int64_t queued_ms;         /* 0: it was in no queue */
    bool is_displaced;
};

/* Attempts of one job, or (job 0) all of the run that have not ended. */
int store_each_attempt(struct store *store, int64_t run, int64_t job,
                       int (*row)(void *user, const struct attempt_row *row),
                       void *user, struct err *err);

struct metric_row {
    const char *name;
    int64_t step, attempt, time_ms; /* the attempt's id */
    double value;
};

/* Name by name, each by step. */
int store_each_metric(struct store *store, int64_t job,
                      int (*row)(void *user, const struct metric_row *metric),
                      void *user, struct err *err);

int store_each_earlier(struct store *store, int64_t run,
                       int (*row)(void *user,
                                  const struct earlier_row *earlier),
                       void *user, struct err *err);
/* The earlier runs, and how many of their trials were taken over. */
int store_each_earlier_run(struct store *store, int64_t run,
                           int (*row)(void *user, const char *source,
                                      int64_t trials),
                           void *user, struct err *err);

/* A result that the strategy was told before its job was put back. */
struct superseded_row {
    int64_t told;   /* its place */
    int64_t number; /* of the job */
    const char *state;
    const char *values; /* JSON lists; NaN and infinities as words */
    const char *outcomes;
    int64_t attempts; /* that the job had had by then */
};

/* By place. */
int store_each_superseded(struct store *store, int64_t run,
                          int (*row)(void *user,
                                     const struct superseded_row *superseded),
                          void *user, struct err *err);

int store_each_rung(struct store *store, int64_t run,
                    int (*row)(void *user, const struct rung_new *rung),
                    void *user, struct err *err);

struct observation_row {
    int64_t told; /* its place */
    int64_t job, number, attempt, attempt_number;
    int64_t resource;
    int64_t bracket;    /* of the job */
    int64_t rung;       /* -1: none */
    const char *values; /* JSON lists; NaN and infinities as words */
    const char *outcomes;
    double last, best;    /* NaN: none */
    const char *decision; /* "continue", "pause" or "stop" */
    const char *reason;   /* one sentence */
    int64_t promoted;     /* in which place; 0: it was not */
    int64_t promoted_to;  /* which resource */
    int64_t time_ms;
};

/* By place: those of one job, or (job 0) of the whole run. */
int store_each_observation(struct store *store, int64_t run, int64_t job,
                           int (*row)(void *user,
                                      const struct observation_row *row),
                           void *user, struct err *err);

/* How much of its schedule's resource all attempts of a run used that ended. */
int store_sum_resource(struct store *store, int64_t run, int64_t *used,
                       struct err *err);

/* How often a trial was put back, and how many attempts it had had by the last
 * time, and by the last time that it had succeeded. */
struct superseded_sum {
    int64_t count, attempts, attempts_succeeded;
};

int store_sum_superseded(struct store *store, int64_t run, int64_t number,
                         struct superseded_sum *sum, struct err *err);

struct notification_row {
    int64_t id;
    const char *delivery, *event, *body;
    const char *error; /* of the last try, or "" */
    int64_t receiver, tries;
    int64_t created_ms, due_ms, delivered_ms, given_up_ms; /* 0: not */
};

/* The run's messages, oldest first. */
int store_each_notification(struct store *store, int64_t run,
                            int (*row)(void *user,
                                       const struct notification_row *row),
                            void *user, struct err *err);

struct node_row {
    const char *name;
    const char *trouble, *text, *run; /* NULL: none; the run's name */
    int64_t trial, attempt;    /* its numbers, of the last trouble; 0: none */
    int64_t first_ms, last_ms; /* of trouble; 0: there was none */
    int64_t count;             /* of troubles */
    bool is_avoided;
    int64_t until_ms; /* 0: until a person says otherwise */
    const char *by;   /* engine, user: who said so, or the contrary, last */
};

/* By name: all of which something is known; or (now_ms other than 0) those that
 * are to be avoided then. */
int store_each_node(struct store *store, int64_t now_ms,
                    int (*row)(void *user, const struct node_row *node),
                    void *user, struct err *err);

struct event_row {
    int64_t seq, job, job_number, attempt, time_ms; /* 0: of the run */
    const char *event;
    const char *detail; /* a JSON object, or "" */
};

int store_each_event(struct store *store, int64_t run,
                     int (*row)(void *user, const struct event_row *event),
                     void *user, struct err *err);
/*
 * How long the run's earlier engines worked on it, in milliseconds: of each one
 * but the last, from its start to its end or, where it was killed, its last
 * event, less what the wall clock jumped by meanwhile and what was paused.
 */
int store_earlier_engines_ms(struct store *store, int64_t run, int64_t *ms,
                             struct err *err);

#endif
