/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_REOPEN_STEPS_H
#define SMTUNE_ORCHESTRATOR_RUN_REOPEN_STEPS_H

#include "orchestrator/run/reopen.h"
#include "orchestrator/spec/workflow/workflow.h"

/*
 * What it means to a workflow's steps that jobs of theirs are put back: those
 * are not over any more, and all that need them, near or far, wait again, for
 * they would have begun with something else. So a job is not put back whose
 * step waits again because of another one.
 */

enum step_fate { STEP_STAYS, STEP_GOES_ON, STEP_WAITS };

struct reopen_steps {
    struct reopening *found; /* [found_count], borrowed: what is put back, by
                                its number */
    size_t found_count;
    enum step_fate *fates; /* [step_count] */
    size_t count;          /* of those that do not stay */
};

/* Marks in waits[step_count] all that need a step, near or far; finals need any
 * step that is none. */
void reopen_steps_mark(const struct workflow *workflow, size_t step,
                       bool *waits);

/*
 * What follows from steps->found, of which those go that are not put back. With
 * all_failed, steps that failed before they had a job wait again, too.
 * ERR_USAGE where a job has been replaced by a later one, or one runs that
 * would have to wait, or (all_failed) nothing has failed. The caller clears
 * *steps in every case.
 */
int reopen_steps_find(struct store *store, int64_t run,
                      const struct workflow *workflow, bool all_failed,
                      struct reopen_steps *steps, struct err *err);
/* In the open transaction. */
int reopen_steps_record(struct store *store, int64_t run,
                        const struct workflow *workflow,
                        const struct reopen_steps *steps, struct err *err);
void reopen_steps_clear(struct reopen_steps *steps);

#endif
