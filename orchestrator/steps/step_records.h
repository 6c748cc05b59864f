/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_STEP_RECORDS_H
#define SMTUNE_ORCHESTRATOR_STEPS_STEP_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/job/states.h"
#include "orchestrator/steps/steps.h"
#include "store/store.h"

/*
 * How far a workflow's steps are by the record, to tell it to steps that are
 * new: those of an engine that takes up a run, or of a file that was edited. Of
 * a copy's jobs (its rounds) the last one counts.
 */

struct copy_record {
    bool is_there;
    int64_t round;
    enum job_state state;   /* final, or not yet */
    bool is_cached;         /* it is a cache hit */
    bool has_begun;         /* it has had an attempt */
    bool runs_again;        /* as of struct job: the caller's to say */
    char *rounds, *outputs; /* JSON; NULL: none */
};

struct step_record {
    enum flow_state state;
    bool is_cut_off;            /* skipped because the run ended */
    char *matrix;               /* NULL: none */
    int64_t first_job;          /* what comes before is of an earlier time */
    struct copy_record *copies; /* [count], by copy */
    size_t count;
};

/* [count] of them. */
void step_records_clear(struct step_record *records, size_t count);
/* It waits, with nothing begun. */
void step_record_forget(struct step_record *record);
/* Room for what is known of a copy, which the caller fills in: cleared. */
struct copy_record *step_record_copy(struct step_record *record, int64_t copy);

/* What a row adds to records[count]; -1 with err where it does not fit the
 * file. Jobs come by number, behind the steps; a step's earlier ones change
 * nothing.
 */
int step_records_add_step(struct step_record *records, size_t count,
                          const struct step_row *row, struct err *err);
int step_records_add_job(struct step_record *records, size_t count,
                         const struct trial_row *row, enum job_state state,
                         struct err *err);
/* All of a run's record[count]s, which step_records_clear() frees in every
 * case. */
int step_records_read(struct step_record *records, size_t count,
                      struct store *store, int64_t run, struct err *err);

/* A text of a step's in the record, as JSON that is the caller's; *json is NULL
 * where there is none. -1 with err. */
int step_text_parse(const struct workflow *workflow, size_t step,
                    const char *text, json_t **json, struct err *err);

/* Tells steps, to which nothing was told yet, records[step_count], each behind
 * those that it needs. -1 where the record and the file do not fit. */
int steps_tell(struct steps *steps, const struct step_record *records,
               struct err *err);

#endif
