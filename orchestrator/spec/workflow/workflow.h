/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_WORKFLOW_WORKFLOW_H
#define SMTUNE_ORCHESTRATOR_SPEC_WORKFLOW_WORKFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf/diag.h"
#include "base/conf/schema.h"
#include "base/err.h"
#include "base/expr/template.h"
#include "base/value.h"
#include "executors/executor.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "orchestrator/spec/experiment/job_spec.h"
#include "orchestrator/spec/workflow/scope.h"
#include "workflows/flow.h"
#include "workflows/graph.h"

/*
 * A workflow file, read and checked: its steps, what they need, and what each
 * does. Once it is created nothing in it can be wrong any more but what only
 * running can show. All strings belong to the workflow.
 */

enum step_kind {
    STEP_TASK,       /* a command or a script */
    STEP_EXPERIMENT, /* a child run that tunes */
    STEP_WORKFLOW,   /* a child run of a workflow */
    STEP_FAIL,       /* ends with a message */
    STEP_JOIN        /* nothing: what a list or a group waits for */
};

/* One dimension of a step's matrix. */
enum axis_kind {
    AXIS_VALUES, /* they stand in the file */
    AXIS_SOURCE, /* an expression gives a JSON list, when the step begins */
    AXIS_GLOB,   /* the paths that match, in order, when the step begins */
    AXIS_LINES   /* the lines of a file, when the step begins */
};

struct matrix_axis {
    const char *name; /* its column */
    enum axis_kind kind;
    const struct value *values; /* [value_count] */
    size_t value_count;
    struct expr *source;
    const char *pattern; /* absolute; of AXIS_LINES the path of the file */
};

/* What a step says it makes. */
enum output_kind {
    OUTPUT_FILE,    /* a file or folder, which must be there: its path */
    OUTPUT_VALUE,   /* a key of a JSON or key=value file */
    OUTPUT_REPORTED /* a key of $SMTUNE_OUTPUTS, which is such a file, too */
};

struct output {
    const char *name;
    enum output_kind kind;
    struct template *path; /* relative to where commands start */
    const char *key;       /* "a.b" goes into objects; for FILE: NULL */
    bool is_temp; /* a file that is removed when no step needs it any more */
};

/* A column that others may read behind the step's name: see results.h. */
enum result_kind {
    RESULT_STATE, /* state: succeeded, failed, skipped */
    RESULT_COUNT, /* copies, succeeded, failed: how many */
    RESULT_VALUE, /* an output or metric; of many copies a JSON list */
    RESULT_MIN,   /* min_NAME ... of many copies' numbers */
    RESULT_MAX,
    RESULT_MEAN,
    RESULT_SUM
};

struct result_column {
    const char *name; /* the column's */
    enum result_kind kind;
    const char *source; /* of the output or metric; for COUNT what is counted */
};

enum { LINKS_AHEAD_MAX = 8 };

/* `continue`: a job longer than its time limit, in links. */
struct link_rule {
    int64_t max;      /* links after the first; 0: there is no such rule */
    int64_t total_ms; /* of all links together; 0: no limit */
    int signal;       /* sent `before_ms` before the time limit; 0: none */
    int64_t before_ms;
    struct exit_set exits; /* after the signal: as in struct attempt_spec */
    int64_t ahead; /* links that are queued behind each, where they can be */
};

/* One value that changes from round to round. */
struct round_value {
    const char *name;    /* its column */
    struct value first;  /* of round 1 */
    struct expr *next;   /* of the round after, from this one's columns */
    size_t scales_with;  /* without `next`: index of the value whose growth
                            it follows, */
    bool by_square_root; /* linearly, or with the root of it */
};

/* `repeat`: the step is started again and again. */
struct repeat_rule {
    int64_t max;        /* rounds; 0: there is no such rule */
    struct expr *until; /* after a round, with the round's results; NULL: max */
    struct round_value *values;
    size_t value_count;
};

/* `cache`: what its result hangs on besides command and parameters. */
struct cache_rule {
    bool is_on;
    bool is_forced;           /* no earlier result will do: `refresh` */
    struct template **inputs; /* files, folders or globs: their contents */
    size_t input_count;
    const char **variables; /* of the environment */
    size_t variable_count;
    int64_t expire_ms; /* 0: never */
};

/* `--set` words for the run of an experiment or workflow below. */
struct step_assignment {
    const char *key; /* "params.epochs", "budget.trials" */
    struct template *value;
};

struct step {
    const char *name; /* unique; of a STEP_JOIN what people see in the graph */
    enum step_kind kind;
    struct diag_place place;
    struct scope scope;        /* of all its expressions and templates */
    struct expr *condition;    /* `if`; NULL: none */
    bool condition_is_of_copy; /* it reads the matrix: asked for each copy */
    const struct matrix_axis
        *axes; /* a matrix: their product, the last fastest */
    size_t axis_count;
    bool kills_copies; /* those that run when it cannot succeed any more */
    bool allows_empty; /* an axis without a value; files that are gone */
    int64_t copies;    /* `copies`, hosts of one job; 1 without; then no axes */
    struct job_spec task;
    const struct conf_node *command;     /* or `shell`, in the file; or NULL */
    const struct conf_node *environment; /* `env`, in the file; or NULL */
    const struct conf_node *workdir, *channels; /* as these */
    const struct conf_node *container;          /* in the file; or NULL */
    const struct conf_node *resources;          /* likewise */
    const char *executor; /* a name of workflow->executors */
    const struct output *outputs;
    size_t output_count;
    bool has_temps;             /* among its outputs */
    const char *const *metrics; /* that it names, and others may read */
    size_t metric_count;
    const struct result_column *results;
    size_t result_count;
    struct link_rule link;
    struct repeat_rule repeat;
    struct cache_rule cache;
    struct template *message; /* STEP_FAIL */
    const char *file;         /* STEP_EXPERIMENT, STEP_WORKFLOW: absolute */
    const struct step_assignment *assignments;
    size_t assignment_count;
    /* What a job of the child run takes of pools, at most, however deep. */
    struct pool_share *child_pools;
    size_t child_pool_count;
};

struct pool {
    const char *name;
    int64_t size;
};

/* A job holds one pool while its child run waits for another. */
struct pool_order {
    const char *held, *wanted;
    size_t step;       /* where that is, or is below */
    bool is_elsewhere; /* and in other steps, which are too many to tell */
};

/* What the workflow itself gives to one that has it as a step: `outputs`. */
struct workflow_output {
    const char *name;
    struct expr *value;
};

/* Results that are taken from an earlier run of the file: `take_over`. */
struct take_over {
    int64_t run;       /* its id; 0: none */
    const bool *steps; /* [step_count] those whose results they are */
    int64_t only;      /* the one step that is run besides; -1: all */
};

struct workflow {
    const char *name;
    const char *path;   /* absolute, or "" for text */
    const char *source; /* the file's text */
    /* What it has in common with an experiment: name, path, source, receivers,
     * executor, budget.parallel and budget.time_ms. No parameters, no
     * objectives. */
    struct experiment *common;
    struct expr_env *env;
    const char *const *param_names;
    const struct value *params; /* [param_count] */
    size_t param_count;
    const struct pool *pools;
    size_t pool_count;
    struct pool_order *pool_orders; /* its own, and those of child runs */
    size_t pool_order_count;
    struct step *steps;           /* in the file's order */
    struct flow_step *flow_steps; /* [step_count], for flow_create() */
    size_t step_count;
    struct graph *graph;
    const struct executor_options *executors; /* the first: the default */
    size_t executor_count;
    struct workflow_output *outputs; /* asked when the run is over */
    size_t output_count;
    struct take_over take_over;
    bool is_touched;           /* files that exist count as made: `touch` */
    struct scope output_scope; /* of `outputs`: parameters, run, results */
};

/* Whether a file's text is a workflow: it has `steps`. What cannot be read is
 * none. */
bool workflow_is(const char *text, size_t length);

/*
 * As experiment_parse(). An assignment that begins with
 * "params." or another key of the file changes that; steps may be set too:
 * "steps.train.resources.time=1h".
 */
struct workflow *workflow_parse(const struct experiment_source *source,
                                struct diags *diags, struct err *err);
void workflow_destroy(struct workflow *workflow);

/* As experiment_warn(). */
void workflow_warn(const struct workflow *workflow, struct diags *warnings);

/* How many jobs at once, so far as the file decides that; 0: as many as the
 * machine has CPUs for. */
int64_t workflow_parallel(const struct workflow *workflow);
/* One of workflow->executors: where the step runs. */
const struct executor_options *workflow_executor(
    const struct workflow *workflow, const struct step *step);

/* Marks in users[step_count] those that may use what a step made: they need it,
 * by name or by their place in a list, or read one of its outputs from afar.
 * What only joins others is marked with those behind it. */
void workflow_mark_users(const struct workflow *workflow, size_t step,
                         bool *users);

/* The step of a name; -1: there is none. */
int64_t workflow_find(const struct workflow *workflow, const char *name);

/* The table behind validation, `smtune schema workflow` and
 * smtune-workflow(5). */
extern const struct schema_key workflow_schema[];

#endif
