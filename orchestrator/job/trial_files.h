/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_TRIAL_FILES_H
#define SMTUNE_ORCHESTRATOR_JOB_TRIAL_FILES_H

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"
#include "orchestrator/spec/experiment/job_spec.h"

/*
 * Writes the files of a trial (`trial.files`) with its values, those of the
 * columns of its templates; a relative path starts at `directory`. -1 with
 * ERR_FILE where a template file is missing or wrong, or the values fit into no
 * file, and as fs_write_atomic where nothing can be written.
 */
int trial_files_write(const struct job_spec *spec, const struct value *values,
                      const char *directory, struct err *err);

struct trial_file {
    struct buf name, text;
};

/* Makes the one of that index and writes nothing; the caller clears *made, also
 * after an error: -1 with ERR_FILE. */
int trial_files_make(const struct job_spec *spec, size_t index,
                     const struct value *values, struct trial_file *made,
                     struct err *err);
void trial_file_clear(struct trial_file *file);

#endif
