/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_RUN_H
#define SMTUNE_ORCHESTRATOR_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf/diag.h"
#include "base/err.h"
#include "orchestrator/spec/spec.h"
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
    int64_t retry_base;      /* attempts' retry rules count from it */
    int lock;                /* descriptor */
    struct warm_start *warm; /* of a new run, what it begins with; or NULL */
    struct spec *former;     /* [former_count], of before its edits: others may
                                still look at them */
    size_t former_count;
};

/* What a run is to be. */
struct run_order {
    const char *name; /* NULL: the file's own, with -2, -3 ... behind it where
                         that is taken */
    /* The run, and the job of it, that it is started for, by id; then the name
     * is numbered where it is taken, too. 0: a person starts it. */
    int64_t parent, parent_job;
};

enum { RUN_SAME_NAMES_MAX = 10000 };

/* The assignment that leaves out what a trial does: other programs run them. */
#define RUN_WITHOUT_TRIAL "trial=null"

/*
 * A new run of a file, which it takes over in every case. A given name that is
 * taken is ERR_BUSY.
 */
struct run *run_create(struct store *store, struct spec *spec,
                       const struct run_order *order, struct err *err);

/* As check in run_create: ERR_USAGE where a run cannot be called so. */
int run_check_name(const char *name, struct err *err);
/* The name for a run of that name, the caller's to free: with is_free a free
 * one
 * ("mnist-2"), else the name itself, and NULL (ERR_BUSY) where it is taken. */
char *run_pick_name(struct store *store, const char *wanted, bool is_free,
                    struct err *err);
/* The name of the n-th run that is called so: "mnist", "mnist-2" ... The
 * caller's to free, as is the next. */
char *run_name_numbered(const char *name, int number);
/* The assignments of a file as the record has them, a JSON list. */
char *run_overrides(const struct experiment *experiment);

/*
 * A run from the record, to go on with it. ERR_BUSY when it has an engine.
 * When its file no longer passes the checks, diags says why.
 */
struct run *run_open(struct store *store, int64_t id, struct diags *diags,
                     struct err *err);

/* After an edit of its file: experiment, workflow and retry_base as the record
 * has them now. The former ones stay until the run is closed. */
int run_read_again(struct run *run, struct err *err);

/* The text of a run's file that holds now, and its --set words. */
const char *run_row_spec(const struct run_row *row);
const char *run_row_overrides(const struct run_row *row);

/* Whether other programs run its trials: an experiment without `trial`. */
bool run_row_is_asked(const struct run_row *row);

/* The budget that the record gives it now, into its experiment: it may be in
 * doubt where a commit of it failed. */
int run_read_budget(struct run *run, struct err *err);

/* The file of a run as the record has it, for those who only read; the
 * caller's to clear. Its budget has what the run's user gave it since; the
 * search is planned as in the file that the run began with. */
int run_read_spec(struct store *store, int64_t id, struct spec *spec,
                  struct err *err);
/* A text that a run had for a while, with that path and those words, a JSON
 * list: what the event of an edit has. */
int run_parse_spec(const char *text, const char *path, const char *overrides,
                   struct spec *spec, struct err *err);

/* The same of an experiment's run; the caller's to destroy. ERR_USAGE where it
 * is a workflow's. */
struct experiment *run_read_experiment(struct store *store, int64_t id,
                                       struct err *err);

/* Lets go of the lock. */
void run_close(struct run *run);

#endif
