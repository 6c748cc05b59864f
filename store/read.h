/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_READ_H
#define SMTUNE_STORE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "store/attempt_totals.h"
#include "store/schema/columns.h"

struct buf;
struct earlier_row;
struct outcome_bounds;
struct rung_new;
struct store;

/*
 * What is read of the record; a part of store.h. Rows are handed to a callback
 * as they are read; text lives until it returns. A callback that returns
 * anything but 0 ends the reading, which returns it; it may read, not write.
 * What returns an int returns 0 when all went well, -1 with an error.
 *
 * A row has a member for each column of its table, which columns.h lists and
 * explains; times are 0 where it has not happened yet. Members behind these are
 * from other tables.
 */

struct run_row {
    COLUMN_MEMBERS(RUN_COLUMNS)
    const char *metric, *goal; /* the first objective's, "": none */
    int64_t objective_count;
    int64_t trials;                     /* all jobs */
    int64_t succeeded, failed, running; /* of them */
    int64_t cached;    /* of a workflow: of those that succeeded, cache hits */
    int64_t nonfinite; /* ended well with NaN or an infinity for a value: not
                          among `succeeded`; counted in any case */
    int64_t pending;   /* waiting, ready */
    int64_t queued;    /* of these, those that wait on a cluster */
    int64_t paused, stopped; /* by the schedule */
    int64_t cancelled;
    int64_t other;         /* stopped, skipped, cancelled */
    int64_t outcome_count; /* metrics with bounds */
    int64_t infeasible;    /* of those that succeeded */
    bool is_scheduled;     /* its trials are given their resource bit by bit */
    double best; /* finite, of a feasible succeeded trial; NaN: none. With
                    repeats: the mean of its setting */
    int64_t best_trial; /* number, 0: none. With repeats: the first of those */
    int64_t steps;      /* of a workflow */
};

/* By id, but those that a run has started come right behind it. */
int store_each_run(struct store *store,
                   int (*row)(void *user, const struct run_row *run),
                   void *user, struct err *err);
/* The runs that a run has started, and those that they have, by id. */
int store_each_child_run(struct store *store, int64_t run,
                         int (*row)(void *user, const struct run_row *run),
                         void *user, struct err *err);
/* The runs of a file in a folder whose state is running, by id; not those that
 * a run has started. Its jobs are not counted. */
int store_each_running_run(struct store *store, const char *spec_path,
                           const char *work_directory,
                           int (*row)(void *user, const struct run_row *run),
                           void *user, struct err *err);
/* By name, by id, or "last", which is the last that a person started.
 * ERR_NOT_FOUND names the nearest. */
int store_find_run(struct store *store, const char *selector, int64_t *id,
                   struct err *err);
int store_get_run(struct store *store, int64_t run,
                  int (*row)(void *user, const struct run_row *run), void *user,
                  struct err *err);
/* Its jobs are not counted, trials to other and infeasible are 0: quicker. */
int store_get_run_uncounted(struct store *store, int64_t run,
                            int (*row)(void *user, const struct run_row *run),
                            void *user, struct err *err);
/* The run's parameter names, NULL-ended; free with store_free_names. */
char **store_run_params(struct store *store, int64_t run, struct err *err);
/* The run's objectives, likewise; *goals NULL-ended likewise. */
char **store_run_objectives(struct store *store, int64_t run, char ***goals,
                            struct err *err);
/* The metrics of its constraints, and the steps of a workflow's, likewise. */
char **store_run_outcomes(struct store *store, int64_t run, struct err *err);
char **store_run_steps(struct store *store, int64_t run, struct err *err);
void store_free_names(char **names);
/* The run's constraints on outcomes, in their order. */
int store_each_outcome(struct store *store, int64_t run,
                       int (*row)(void *user,
                                  const struct outcome_bounds *outcome),
                       void *user, struct err *err);

struct trial_row {
    COLUMN_MEMBERS(JOB_COLUMNS)
    const double *values;       /* [value_count]; NaN: none said */
    size_t value_count;         /* 0: no objective yet */
    const double *outcomes;     /* [outcome_count]; NaN: none said */
    size_t outcome_count;       /* 0: none yet */
    const struct value *params; /* [param_count] in the run's order */
    size_t param_count;
    struct attempt_totals attempts; /* started_ms is of the last one */
    int64_t reached; /* the resource that it came to, as is known; 0: none */
    int64_t reached_rung; /* the highest that it was looked at; -1: none */
};

/* A feasible trial that succeeded, with NaN or an infinity for an objective:
 * its state as people see and count it. */
#define STATE_NONFINITE "nonfinite"

/* The trial's state as people see it. Borrowed from the row, or for ever. */
const char *trial_state_shown(const struct trial_row *trial);

/* ORDER_BEST: those that succeeded with finite values of all objectives, by the
 * first and its goal, best first; then those that are not feasible, by
 * violation; then those that did not come to their end and have a value, by it;
 * then all others but the failed ones, by number; and these last. */
enum trial_order { ORDER_NUMBER, ORDER_BEST };

struct trial_query {
    int64_t run;
    enum trial_order order;
    const char *state; /* NULL: all */
    const char *tag;   /* NULL: with any, or none */
    int64_t number;    /* 0: all */
    int64_t of_step;   /* 1 + the place of a step; 0: of all */
    int64_t limit;     /* 0: none */
    bool results_only; /* no params, and none of attempts, and it is not said
                          what was reached: much quicker */
};

int store_each_trial(struct store *store, const struct trial_query *query,
                     int (*row)(void *user, const struct trial_row *trial),
                     void *user, struct err *err);

/* A job's id by its number in its run, and back; 0: there is no such job. */
int store_find_job(struct store *store, int64_t run, int64_t number,
                   int64_t *job, struct err *err);
int store_find_job_number(struct store *store, int64_t job, int64_t *number,
                          struct err *err);

/* What people added to a run, or to one of its jobs. */
struct remark_row {
    int64_t job, number; /* 0: the run itself */
    const char *comment; /* NULL: none */
    const char *tags;    /* a sorted JSON list of texts; NULL: none */
};

/* Of a run that has any, then of its jobs that do, by number. */
int store_each_remark(struct store *store, int64_t run,
                      int (*row)(void *user, const struct remark_row *remark),
                      void *user, struct err *err);

struct enqueued_row {
    COLUMN_MEMBERS(ENQUEUED_COLUMNS)
};

/* By index. */
int store_each_enqueued(struct store *store, int64_t run,
                        int (*row)(void *user,
                                   const struct enqueued_row *enqueued),
                        void *user, struct err *err);

/* Of the events of a run behind `since`: the answer with that id. */
struct answer_query {
    int64_t run, since;
    const char *id;
};

/* What an engine answered to a request (store_add_answer). 1 when it is there,
 * 0 when it is not. */
int store_find_answer(struct store *store, const struct answer_query *query,
                      struct buf *answer, struct err *err);

/* Whether a job's result is a cache hit: what it took over from an earlier run
 * has no key. */
static inline bool store_is_cache_hit(int64_t cached_from,
                                      const char *cache_key)
{
    return cached_from != 0 && cache_key != NULL;
}

struct step_row {
    COLUMN_MEMBERS(STEP_COLUMNS)
    /* Of its jobs, which are a copy's rounds, how many are in these states. */
    int64_t jobs, pending, running, succeeded, failed, skipped;
    int64_t cached; /* of those that succeeded, cache hits */
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
    int64_t temps_removed_ms; /* 0: they were not */
};

/* Those that succeeded with a cache key since then, by themselves, the newest
 * first. */
int store_each_cached(struct store *store, const char *key, int64_t since_ms,
                      int (*row)(void *user, const struct cached_row *cached),
                      void *user, struct err *err);

/* The last job that succeeded by itself, with a cache key, of a copy of a step
 * of that name, in a run of the file. */
struct cached_step {
    const char *spec_path, *step;
    int64_t copy;
};

int store_last_cached(struct store *store, const struct cached_step *of,
                      int (*row)(void *user, const struct cached_row *cached),
                      void *user, struct err *err);

struct attempt_row {
    COLUMN_MEMBERS(ATTEMPT_COLUMNS)
    int64_t job_number;
};

/* Attempts of one job, or (job 0) all of the run that have not ended. */
int store_each_attempt(struct store *store, int64_t run, int64_t job,
                       int (*row)(void *user, const struct attempt_row *row),
                       void *user, struct err *err);

/* How an attempt ended. */
struct attempt_fate {
    int64_t attempt, run;
    const char *cause; /* NULL: it has not */
    int64_t took_ms;   /* 0 where it never started */
};

/* Of all runs, by their ids: those over `after`, up to `last`. */
int store_each_attempt_fate(struct store *store, int64_t after, int64_t last,
                            int (*row)(void *user,
                                       const struct attempt_fate *fate),
                            void *user, struct err *err);

/* How many attempts of a run are at work at one place. */
struct running_row {
    int64_t run;
    const char *run_name;
    const char *node; /* of a cluster; NULL: the machine of its engine */
    int64_t attempts;
};

/* Of all runs, by id, then by node. */
int store_each_running(struct store *store,
                       int (*row)(void *user, const struct running_row *row),
                       void *user, struct err *err);

/* What of a run's attempts is read: those with an id over `after`, and (other
 * than 0) with events over `changed_since`. */
struct attempt_page {
    int64_t after, changed_since;
};

/* By id. */
int store_each_attempt_after(struct store *store, int64_t run,
                             const struct attempt_page *page,
                             int (*row)(void *user,
                                        const struct attempt_row *row),
                             void *user, struct err *err);

struct metric_row {
    const char *name;
    int64_t attempt, time_ms; /* the attempt's id */
    double step, value;
};

/* Name by name, each by step. */
int store_each_metric(struct store *store, int64_t job,
                      int (*row)(void *user, const struct metric_row *metric),
                      void *user, struct err *err);

/* The last value of each metric, by step. */
int store_each_last_metric(struct store *store, int64_t job,
                           int (*row)(void *user,
                                      const struct metric_row *metric),
                           void *user, struct err *err);

/*
 * What is added to a step of the job's curves so that it counts what is done of
 * the schedule's resource: 1 where an objective has a point at step 0, the
 * first unit; else 0. -1: the job has no
 * schedule.
 */
int store_first_unit(struct store *store, int64_t job, int64_t *units,
                     struct err *err);

/* The curves of a metric in a run: of jobs with these numbers. */
struct point_query {
    int64_t run;
    const char *metric;
    int64_t first, last;
    bool ends_only; /* the last point of each */
};

struct point_row {
    int64_t number, time_ms;
    double step, value;
    double resource; /* step and store_first_unit(); NaN: it has no schedule */
};

/* By number, each by step. */
int store_each_point(struct store *store, const struct point_query *query,
                     int (*row)(void *user, const struct point_row *point),
                     void *user, struct err *err);
/* The metrics that any of the run's jobs has said. */
int store_each_metric_name(struct store *store, int64_t run,
                           int (*row)(void *user, const char *name), void *user,
                           struct err *err);

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
    COLUMN_MEMBERS(SUPERSEDED_COLUMNS)
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
    COLUMN_MEMBERS(OBSERVATION_COLUMNS)
    int64_t number, bracket; /* of the job */
    int64_t attempt_number;
};

/* By place: those of one job, or (job 0) of the whole run. */
int store_each_observation(struct store *store, int64_t run, int64_t job,
                           int (*row)(void *user,
                                      const struct observation_row *row),
                           void *user, struct err *err);

/* By place, those behind one. */
int store_each_observation_after(struct store *store, int64_t run,
                                 int64_t after,
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
    int64_t succeeded; /* of the results */
};

int store_sum_superseded(struct store *store, int64_t run, int64_t number,
                         struct superseded_sum *sum, struct err *err);

struct notification_row {
    COLUMN_MEMBERS(NOTIFICATION_COLUMNS)
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
/* Those behind one of them, by its seq. */
int store_each_event_after(struct store *store, int64_t run, int64_t after,
                           int (*row)(void *user,
                                      const struct event_row *event),
                           void *user, struct err *err);
/* With what each of its engines went on with it, in order, unless that was the
 * same as before: the JSON object of store_add_origin(). */
struct origin_row {
    int64_t time_ms;
    const char *detail;
};

int store_each_origin(struct store *store, int64_t run,
                      int (*row)(void *user, const struct origin_row *origin),
                      void *user, struct err *err);
/* Whether events of that word come of people, who may do it long after an
 * engine was killed: they count in no engine's time. */
bool store_event_is_of_people(const char *word);
/*
 * How long the run's earlier engines worked on it, in milliseconds: of each one
 * but the last, from its start to its end or, where it was killed, its last
 * event, less what the wall clock jumped by meanwhile and what was paused. At
 * least what an engine had counted when the run's time was used up.
 */
int store_earlier_engines_ms(struct store *store, int64_t run, int64_t *ms,
                             struct err *err);
/* The same of all its engines, where none works on it now. */
int store_engines_ms(struct store *store, int64_t run, int64_t *ms,
                     struct err *err);

#endif
