/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_WORKFLOW_WORKFLOW_IMPL_H
#define SMTUNE_ORCHESTRATOR_SPEC_WORKFLOW_WORKFLOW_IMPL_H

#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/experiment/job_spec_build.h"
#include "orchestrator/spec/workflow/workflow.h"

/* What the files of orchestrator/spec/workflow/workflow*.c and scope_build.c
 * share; nobody else includes it. */

enum {
    WORKFLOW_DEPTH_MAX = 8,      /* of workflows within each other */
    WORKFLOW_STEPS_MAX = 500000, /* those of groups counted */
    WORKFLOW_FIRST_DEFAULT = 16  /* in workflow_step_keys */
};

#define NO_STEP SIZE_MAX

/* The keys of a step; those from WORKFLOW_FIRST_DEFAULT on may stand in
 * `defaults`, too. */
extern const struct schema_key workflow_step_keys[];
#define WORKFLOW_DEFAULT_KEYS (&workflow_step_keys[WORKFLOW_FIRST_DEFAULT])

/* A workflow with what holds its parts. */
struct workflow_file {
    struct workflow workflow; /* first: workflow_destroy relies on it */
    size_t *by_name;          /* [step_count] in the order of their names */
    /* [step_count] of results, for scopes; NULL: they are not known, because of
     * what was told as an error already */
    const char *const **result_names;
    struct scope base; /* parameters, and what a step is itself: the scope of
                          steps that have nothing else to read */
    struct metric_rules *every_metric; /* of steps that name none */
    struct executor_options *executors;
};

/* Which part of the file a step stands in. */
enum section { SECTION_STEPS, SECTION_ON_FAILURE, SECTION_ALWAYS };

/* One step as it stands in the file. */
struct step_source {
    const struct conf_node *name; /* NULL: what a group waits for */
    const struct conf_node *own;  /* its keys as written */
    const struct conf_node *map;  /* with those of `defaults` */
    const size_t *after;          /* by its place in a list: [after_count] */
    size_t after_count;
    size_t named_count; /* of `needs`, each once */
    size_t *reads;      /* [read_count] steps whose outputs it reads, each once;
                           the step's flow takes them */
    size_t read_count;
    enum section section;
    char *what; /* "step 'train'" */
};

/* A workflow's file, and those that have it as a step. */
struct workflow_chain {
    const char *path;
    const struct workflow_chain *above; /* NULL: none */
};

struct reach; /* needs.c */

/* Putting one together, as struct build does an experiment: it goes on after
 * an error, to find the others. */
struct workflow_build {
    struct build build; /* of what it has in common with an experiment */
    struct workflow_file *file;
    struct workflow *workflow;        /* &file->workflow */
    const struct conf_node *defaults; /* NULL: none */
    struct step_source *sources;      /* [workflow->step_count] */
    size_t source_capacity;
    struct reach *reach;
    struct workflow_chain chain;
};

/* `source`'s text, within the files of `above`. */
struct workflow *workflow_parse_within(const struct experiment_source *source,
                                       const struct workflow_chain *above,
                                       struct diags *diags, struct err *err);

/* ---- list.c ---- */

/* Finds all steps, wherever they stand, and gives them their names. */
void workflow_gather(struct workflow_build *w, const struct conf_node *root);

/* ---- needs.c ---- */

/* After all are gathered. */
void workflow_build_needs(struct workflow_build *w);
/* Whether `step` needs `need`, near or far. */
bool workflow_is_needed(struct workflow_build *w, size_t step, size_t need);
void workflow_end_needs(struct workflow_build *w);
/* Tells that there is no step of a name, of all there are. */
int workflow_refuse_step(const struct workflow_build *w,
                         struct diag_place place, const char *name);

/* ---- step.c ---- */

/* What a step is, and gives to others; before any expression is read. */
void workflow_build_step(struct workflow_build *w, size_t index);
/* What it does. */
void workflow_build_work(struct workflow_build *w, size_t index);

/* A step under way. */
struct step_build {
    struct job_spec_build task; /* first: task.prepare relies on it */
    struct workflow_build *w;
    const struct step_source *source;
    struct step *step;
    struct flow_step *flow;
    size_t index;
    bool knows_itself; /* expressions may read its own results */
};

/* An expression, bare or in ${{ }}; NULL: none, or wrong. `label` goes before
 * what is wrong with it. */
struct expr *workflow_compile(struct step_build *s,
                              const struct conf_node *node, const char *label);
/* The same of a text that scope_admit() has admitted to that scope. */
struct expr *workflow_compile_in(struct workflow_build *w,
                                 const struct scope *scope,
                                 const struct conf_node *node,
                                 const char *label);

/* ---- matrix.c ---- */

/* Matrix and copies, and the names of its rounds' values. */
void workflow_build_axes(struct workflow_build *w, size_t index);
/* Their expressions. */
void workflow_build_sources(struct step_build *s);
void workflow_build_rounds(struct step_build *s);
/* Whether a column is not known before the step begins. */
bool workflow_is_of_job(const struct scope_column *column);
/* How many copies there will be; 0: not known before the step begins. */
int64_t workflow_copies(const struct step *step);

/* ---- links.c ---- */

/* `continue`. */
void workflow_build_link(struct step_build *s);

/* ---- results.c ---- */

/* Outputs and metrics, and the columns that others may read. */
void workflow_build_results(struct workflow_build *w, size_t index);
/* Where the outputs lie. */
void workflow_build_outputs(struct step_build *s);

/* ---- pools.c ---- */

/* What jobs of the child run take, for workflow_build_claims. */
void workflow_note_experiment(struct workflow_build *w, struct step *step,
                              const struct experiment *experiment);
void workflow_note_workflow(struct workflow_build *w, struct step *step,
                            const struct workflow *workflow);
/* What the step takes is known to its task by name and to the flow by index. */
void workflow_build_claims(struct step_build *s);

/* ---- pool_circle.c ---- */

/* Of so many orders it is known of which step they are. */
enum { POOL_ORDERS_MAX = 256 };

/* When all steps are built: nobody may wait for who waits for him. */
void workflow_check_pool_orders(struct workflow_build *w);

/* ---- child.c ---- */

/* A name that the child run gives, for workflow_build_results. */
typedef void (*workflow_name_fn)(void *user, const char *name);

/* Reads and checks the file of a step that is an experiment or a workflow;
 * tells the names of what it gives. -1 where the file is wrong. */
int workflow_read_child(struct workflow_build *w, size_t index,
                        workflow_name_fn found, void *user);
void workflow_build_assignments(struct step_build *s);

/* ---- scope_build.c ---- */

/* The base of all scopes, when parameters are known. */
void scope_build_base(struct workflow_build *w);
/* A step's plain columns, when matrix and rounds are known. */
void scope_build_step(struct workflow_build *w, size_t index);
/* The scope of the workflow's own outputs. */
void scope_build_outputs(struct workflow_build *w);
/* A text with expressions, and whose it is. */
struct scope_reader {
    struct workflow_build *w;
    size_t step;       /* NO_STEP: the workflow's outputs */
    bool knows_itself; /* it may read the step's own results */
    bool is_bare;      /* all of it is one, unless it has ${{ }} */
    const struct conf_node *node;
};

/* Adds the results that it names and the scope does not have. -1 where it names
 * some that may not be read, which is told at their places. */
int scope_admit(const struct scope_reader *reader);
void scope_release(const struct workflow_file *file, struct scope *scope);

#endif
