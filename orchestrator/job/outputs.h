/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_OUTPUTS_H
#define SMTUNE_ORCHESTRATOR_JOB_OUTPUTS_H

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"
#include "orchestrator/spec/workflow/workflow.h"

/* The file, in an attempt's directory, that SMTUNE_OUTPUTS names.
 * (SMTUNE_OUTPUT is the format of commands.) */
#define OUTPUTS_FILE "output"

enum { OUTPUTS_BYTES_MAX = 1 << 20 /* of all of a job's, as JSON */ };

/* Where one attempt of a job has been. */
struct outputs_site {
    const struct value *columns; /* of the step's scope, for this job */
    const char *work_directory;  /* what paths are relative to */
    const char *attempt_directory;
    bool may_lack_temps; /* temporary files may be gone again */
};

/* Among a job's outputs, by name: numbers as they were written, where that is
 * another form than value_print_argument's. It begins as no output's name may.
 */
#define OUTPUT_TEXTS "#text"

/* Adds a value under a name, a numeral with its text. */
void outputs_put(json_t *outputs, const char *name, const struct value *value);
/* That value; null where there is none. Text is borrowed from `outputs`. */
struct value outputs_get(const json_t *outputs, const char *name);

/*
 * What a job made, of whose attempts the last has ended well: a value for each
 * of its step's outputs, put into the object `into` by name. A path is
 * absolute; of a key the value is the file's own, and a list or object is its
 * JSON text. -1 with ERR_FILE where one is missing or cannot be read, or with
 * one that err_may_pass(); the error names it and says why. Never waits for
 * anything but the disk.
 */
int outputs_read(const struct step *step, const struct outputs_site *site,
                 json_t *into, struct err *err);

#endif
