/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_EDIT_STEPS_H
#define SMTUNE_ORCHESTRATOR_RUN_EDIT_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/run/reopen_steps.h"
#include "orchestrator/spec/spec_change.h"

/* What an edit of a workflow means for steps that have begun. */
struct edit_steps {
    const struct workflow *workflow; /* of the edited file, borrowed */
    bool *waits; /* [step_count] it waits again, with nothing begun */
    bool *asked; /* [step_count] how it ended is asked again */
    struct reopen_steps jobs; /* that run again */
    size_t begun;             /* changed steps that begin again */
    bool has_any;             /* the run has something to do again */
};

/* The two files of an edit. */
struct edit_files {
    const struct workflow *before, *after;
    const struct spec_changes *changes;
};

/* Writes nothing. ERR_USAGE if a step that would wait again has a job that is
 * not over. The caller clears *steps in every case. */
int edit_steps_find(const struct edit_files *files, struct store *store,
                    int64_t run, struct edit_steps *steps, struct err *err);
void edit_steps_clear(struct edit_steps *steps);

/* In the open transaction, before the edit: by the file so far. */
int edit_steps_record(const struct edit_steps *steps, struct store *store,
                      int64_t run, struct err *err);
/* Behind it: by the edited file. */
int edit_steps_record_jobs(const struct edit_steps *steps, struct store *store,
                           int64_t run, struct err *err);

#endif
