/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_H
#define SMTUNE_ORCHESTRATOR_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/err.h"
#include "orchestrator/spec.h"
#include "store/store.h"

/*
 * One run of an experiment or a workflow that this process is the engine of:
 * its row in the store, its directory, and the lock that says so. Fields are
 * read-only.
 */
struct run {
    struct store *store;           /* borrowed */
    struct experiment *experiment; /* of a workflow what is common to both */
    struct workflow *workflow;     /* NULL: an experiment */
    int64_t id;
    char *name;
    char *directory;         /* absolute */
    char *work_directory;    /* where its commands start */
    int lock;                /* descriptor */
    struct warm_start *warm; /* of a new run, what it begins with; or NULL */
};

/* What a run is to be. */
struct run_order {
    const char *name; /* NULL: the file's own, with -2, -3 ... behind it where
                         that is taken */
    const char *const *assignments; /* the --set words, for the record */
    size_t assignment_count;
};

/*
 * A new run of a file, which it takes over in every case. A given name that is
 * taken is ERR_BUSY.
 */
struct run *run_create(struct store *store, struct spec *spec,
                       const struct run_order *order, struct err *err);

/* The run that has the name already which a new run is to have. */
struct run_earlier {
    int64_t id; /* 0: there is none */
    char *name; /* the caller's, as all of it */
    int64_t trials;
    bool is_over;    /* it used its budget or reached its target */
    bool is_same;    /* of the same file with the same --set words */
    bool has_engine; /* which works on it now */
};

/* Finds it; without a name, the last one that has the file's own. -1 when the
 * store cannot be read. */
int run_find_earlier(struct store *store, const struct spec *spec,
                     const struct run_order *order, struct run_earlier *earlier,
                     struct err *err);

/*
 * A run from the record, to go on with it. ERR_BUSY when it has an engine.
 * When its file no longer passes the checks, diags says why.
 */
struct run *run_open(struct store *store, int64_t id, struct diags *diags,
                     struct err *err);

/* The file of a run as the record has it, for those who only read; the
 * caller's to clear. */
int run_read_spec(struct store *store, int64_t id, struct spec *spec,
                  struct err *err);

/* The same of an experiment's run; the caller's to destroy. ERR_USAGE where it
 * is a workflow's. */
struct experiment *run_read_experiment(struct store *store, int64_t id,
                                       struct err *err);

/* Lets go of the lock. */
void run_close(struct run *run);

#endif
