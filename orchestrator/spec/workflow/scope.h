/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_WORKFLOW_SCOPE_H
#define SMTUNE_ORCHESTRATOR_SPEC_WORKFLOW_SCOPE_H

#include <stddef.h>

#include "base/expr/expr.h"
#include "base/value.h"

/*
 * The columns that the expressions of one step of a workflow may read: its
 * workflow's parameters, its matrix, its round's values, what it is itself, and
 * what came of the steps that it needs.
 */

enum column_kind {
    COLUMN_PARAM, /* index: in workflow->params */
    COLUMN_AXIS,  /* index: in step->axes */
    COLUMN_ROUND, /* index: in step->repeat.values */
    COLUMN_OWN,   /* index: enum own_column */
    COLUMN_RESULT /* index: in steps[step].results */
};

/* What a step is itself; the names are those of templates. */
#define OWN_COLUMNS(X)                                                         \
    X(OWN_RUN, "run")   /* the run's name */                                   \
    X(OWN_STEP, "step") /* the step's name */                                  \
    X(OWN_COPY, "copy") /* 0, 1 ... */                                         \
    X(OWN_COPIES, "copies")                                                    \
    X(OWN_ROUND, "round") /* 1, 2 ... */                                       \
    X(OWN_DIR, "dir")     /* the job's folder */                               \
    X(OWN_CHECKPOINT_DIR, "checkpoint_dir")                                    \
    X(OWN_FILE_DIR, "file_dir") /* the folder of the file */

enum own_column {
#define X(symbol, word) symbol,
    OWN_COLUMNS(X)
#undef X
        OWN_COLUMN_COUNT
};

extern const char *const own_column_names[OWN_COLUMN_COUNT + 1];

struct scope_column {
    enum column_kind kind;
    size_t index;
    size_t step; /* COLUMN_RESULT */
};

/* columns[i] gives the i-th value for the step's expressions: those of
 * `tables`, one after another. */
struct scope {
    struct scope_column *columns;
    size_t count;
    struct expr_table *tables; /* the first without a name */
    size_t table_count;
};

#endif
