/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_JOB_LABEL_H
#define SMTUNE_EXECUTORS_JOB_LABEL_H

#include "base/buf.h"
#include "base/err.h"

/*
 * What a job of a cluster is called for people, by a pattern of the file: text
 * with ${{ expression }} of the run, the step and the job in it.
 */

struct job_label;

/* What a pattern is filled with; NULL: "". */
struct job_label_values {
    const char *run;
    const char *step; /* "trial" for an experiment's */
    const char *job;  /* "17", "train[3]"; of many at once the step */
};

/* ERR_FILE with err->column within the pattern where it is none; the caller
 * destroys it. */
struct job_label *job_label_create(const char *pattern, struct err *err);
void job_label_destroy(struct job_label *label);

/* Appends at most max bytes of printable UTF-8; nothing where its expressions
 * have no value. */
void job_label_print(struct job_label *label,
                     const struct job_label_values *values, size_t max,
                     struct buf *out);

#endif
