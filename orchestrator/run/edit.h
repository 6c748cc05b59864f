/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_EDIT_H
#define SMTUNE_ORCHESTRATOR_RUN_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf/diag.h"
#include "base/digest.h"
#include "base/err.h"
#include "orchestrator/run/edit_notify.h"
#include "orchestrator/spec/spec.h"
#include "orchestrator/spec/spec_change.h"

struct run;
struct store;

/*
 * The user of a run that has begun corrects its file. The run takes over what
 * its search does not depend on; where anything else differs, it takes over
 * nothing. The search keeps the plan of the file that it began with.
 */

/* Which file. */
struct run_edit_order {
    const char *path;
    const char *text; /* of a file that is none: path is ""; NULL: path's */
    const char *const *set; /* [set_count] words of --set, behind the run's */
    size_t set_count;
    bool has_all; /* set has all words: those of the run do not hold any more */
};

/* It, beside the file that the run follows. */
struct run_edit {
    struct spec spec;
    const struct workflow *before; /* of the file so far, borrowed; or NULL */
    char *path;                    /* absolute */
    char *overrides;               /* all words of --set, a JSON list */
    char digest[DIGEST_HEX_SIZE];  /* of the text */
    struct spec_changes changes;
    struct edit_receivers receivers;
    int64_t rule_count; /* of the retry rules so far, the built-in one too */
    bool resets_trials, resets_time; /* that part of the budget differs */
    bool brings_secrets; /* that are masked in the file so far: the edit counts,
                            also without a change */
};

/* What runs again because of an edit. */
struct run_edit_again {
    int64_t jobs;  /* of steps whose results do not hold any more */
    int64_t steps; /* that begin again */
    bool has_any;  /* of them, or of steps whose end is asked again */
};

/* How far the run is, and what the edit leads to. */
struct run_edit_place {
    struct store *store;
    int64_t run;
    int64_t begun;               /* trials */
    int64_t used_ms;             /* of its time */
    int64_t retry_base;          /* of the run so far */
    struct run_edit_again again; /* out */
};

/*
 * Reads the file and compares it with the one that a run follows. -1 where it
 * is wrong (diags, or err), cannot be read, or is one of another kind. The
 * caller clears *edit in every case, and *now behind it.
 */
int run_edit_read(const struct spec *now, const struct run_edit_order *order,
                  struct run_edit *edit, struct diags *diags, struct err *err);
void run_edit_clear(struct run_edit *edit);

/* ERR_USAGE where the file differs in what the run keeps, has masked secrets
 * itself, or its budget is below what was used; ERR_BUSY where another executor
 * would lose attempts that still run; ERR_USAGE where a step runs that would
 * have to wait again. */
int run_edit_check(const struct run_edit *edit,
                   const struct run_edit_place *place, struct err *err);

/*
 * After the check, in a transaction that is open then: the event, and changed
 * steps of a workflow run again, with all that depends on them (edit_steps.h).
 */
int run_edit_record(const struct run_edit *edit, struct run_edit_place *place,
                    struct err *err);

/* The whole, for a run without an engine whose lock the caller holds: checked
 * and committed. One that is over by its budget, which differs, or of which
 * jobs run again, is stopped: it can be resumed. */
int run_edit_make(const struct run *run, const struct run_edit *edit,
                  struct run_edit_again *again, struct err *err);

#endif
