/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_EXPERIMENT_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf/diag.h"
#include "base/conf/schema.h"
#include "base/err.h"
#include "executors/executor.h"
#include "orchestrator/spec/experiment/job_spec.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/space/space.h"
#include "strategies/strategy.h"

/*
 * An experiment file, read and checked: everything the engine needs, with
 * defaults filled in. Once it is created nothing in it can be wrong any more
 * but what only running can show. All strings belong to the experiment.
 */

enum objective_value { OBJECTIVE_LAST, OBJECTIVE_BEST };

struct objective {
    const char *metric;
    bool maximize;
    enum objective_value value; /* of a trial's curve */
};

struct outcome_bounds; /* store/store.h */

/* Far beyond what anybody counts, and still exact in a double. */
#define BUDGET_COUNT_MAX INT64_C(1000000000000)

struct budget {
    int64_t trials;       /* 0: no limit (then another limit is there) */
    int64_t file_trials;  /* likewise, whatever its user gave it since */
    int64_t parallel;     /* 0: as the executor has it */
    int64_t time_ms;      /* 0: no limit */
    int64_t file_time_ms; /* likewise, whatever its user gave it since */
    bool has_target;
    double target;
    int64_t no_improvement; /* trials in a row, 0: no limit */
    double improvement;     /* relative to the best: what is less is none */
    bool convergence;       /* ends when nothing better is to be expected */
    int64_t resource;       /* of all attempts together, 0: no limit */
    int64_t failures;       /* trials that failed, 0: no limit */
    bool gives_up; /* where the first BUDGET_FIRST_TRIALS (budget.h) all fail */
};

/* Earlier runs that a search may begin with (orchestrator/search/warm_start.h).
 */
enum { WARM_MAX_RUNS = 64 };

/* How trials are given their resource: see strategies/schedules/scheduler.h. */
struct schedule {
    bool is_on;
    /* Where it is not on, the defaults, without method, min and max. max is
     * SCHEDULE_NO_MAX where trials run to an end of their own; bounds are in
     * the terms that schedulers are told values in. */
    struct schedule_options options;
    const char *resource; /* its name, and that of its column */
    size_t objective;     /* the one that decides */
    bool is_read;         /* the command names the column, or SMTUNE_RESOURCE */
};

/* X(symbol, word): what a run can tell others of. */
#define NOTIFY_EVENTS(X)                                                       \
    X(NOTIFY_STARTED, "started")                                               \
    X(NOTIFY_SUCCEEDED, "succeeded")                                           \
    X(NOTIFY_FAILED, "failed")                                                 \
    X(NOTIFY_STOPPED, "stopped")                                               \
    X(NOTIFY_BEST, "best")                                                     \
    X(NOTIFY_TRIAL_FAILED, "trial_failed")                                     \
    X(NOTIFY_TEST, "test")

enum notify_event {
#define X(symbol, word) symbol,
    NOTIFY_EVENTS(X)
#undef X
        NOTIFY_EVENT_COUNT
};

extern const char *const notify_event_names[NOTIFY_EVENT_COUNT + 1];

struct receiver {
    const char *url;
    uint32_t events;        /* bits 1 << enum notify_event */
    const char *secret_env; /* the variable with the secret; NULL: none */
    int64_t timeout_ms;     /* of one try */
};

/* What templates may use behind the parameters, in this order. */
enum extra_column {
    EXTRA_TRIAL,          /* trial: its number */
    EXTRA_RUN,            /* run: the run's name */
    EXTRA_DIR,            /* dir: the trial's directory */
    EXTRA_CHECKPOINT_DIR, /* checkpoint_dir */
    EXTRA_REPEAT,         /* repeat: which trial of its setting, from 1 */
    EXTRA_FILE_DIR,       /* file_dir: the folder of the file */
    EXTRA_RESOURCE, /* the schedule's name for it, where there is a schedule: up
                       to which resource the attempt runs, null without a max */
    EXTRA_COUNT
};

struct experiment {
    const char *name;
    const char *path;         /* absolute, or "" for text */
    const char *folder;       /* of path, absolute; "." for text */
    const char *source;       /* the file's text */
    const char **assignments; /* of --set, and of configuration files */
    size_t assignment_count;
    struct objective *objectives;
    size_t objective_count;
    struct outcome_bounds *outcomes; /* constraints on outcomes: outcome.h */
    size_t outcome_count;
    struct expr_env *env; /* owns nothing of the space, outlives it */
    struct space *space;
    struct strategy_options search;
    const char **earlier_runs; /* to begin with: [earlier_run_count] */
    size_t earlier_run_count;
    bool earlier_guide;     /* mode transfer: they guide, and do not bind */
    struct value *enqueued; /* [enqueued_count][space_count]: to be tried first;
                               null: left to the search */
    size_t enqueued_count;
    struct budget budget;
    struct schedule schedule;
    struct job_spec task; /* what each trial does */
    bool is_asked;        /* nothing: other programs run the trials */
    struct receiver *receivers;
    size_t receiver_count;
    /* state_directory is unset, and parallel is what holds where the budget
     * says nothing: 0 for as many as there are CPUs for. */
    struct executor_options executor;
};

/* A file's text at hand, and what belongs to it. */
struct experiment_source {
    const char *text;
    size_t length;
    const char *path; /* the file's; "" or "-": none. Relative paths in the
                         file start at its folder, else where smtune runs */
    const char *const *assignments; /* of --set: "a.b.c=VALUE" */
    size_t assignment_count;
    const struct config_files *config; /* defaults; NULL: none */
    bool is_for_search; /* `trial` may be left out: nothing will be started */
};

/*
 * Reads a file whose trials another program runs, which may leave out what a
 * trial does; applies the `--set` assignments, checks. NULL when anything is
 * wrong: then either diags has messages, or (unreadable file, a bad assignment)
 * err. spec_load() reads those that are run.
 */
struct experiment *experiment_load_for_search(const char *path,
                                              const char *const *assignments,
                                              size_t assignment_count,
                                              struct diags *diags,
                                              struct err *err);
/* The same for text already at hand (a run's, from the store). */
struct experiment *experiment_parse(const struct experiment_source *source,
                                    struct diags *diags, struct err *err);
void experiment_destroy(struct experiment *experiment);
/* The rules look for the metrics of objectives and constraints in all forms,
 * and take the schedule's resource for the step. */
void experiment_ask_metrics(const struct experiment *experiment,
                            struct metric_rules *rules);

/* How many trials at once, so far as the file decides that; 0: as many as the
 * machine has CPUs for. */
int64_t experiment_parallel(const struct experiment *experiment);
/* Which trial of its setting the trial is: 1, 2 ... to the file's `repeats`. */
int64_t experiment_repeat(const struct experiment *experiment, int64_t trial);

/* Has the strategy try first what the file asks for. -1 as strategy_enqueue. */
int experiment_enqueue(const struct experiment *experiment,
                       struct strategy *strategy, struct err *err);

/* Adds to warnings, which get the file's text, what is allowed and yet hardly
 * meant: settings without an effect, a schedule that cannot do its work. */
void experiment_warn(const struct experiment *experiment,
                     struct diags *warnings);

/* The table behind validation, `smtune schema` and smtune-experiment(5). */
extern const struct schema_key experiment_schema[];

#endif
