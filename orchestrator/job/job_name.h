/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_JOB_NAME_H
#define SMTUNE_ORCHESTRATOR_JOB_JOB_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;

/*
 * A job of a workflow as people name it: STEP, and where the step has several
 * copies STEP[3], where it repeats STEP#2, or STEP[3]#2. Copies are counted
 * from 0, rounds from 1. A number alone is the job's number in its run, as a
 * trial's is.
 */
struct job_name {
    int64_t number;   /* 0: it is named by its step */
    const char *step; /* within the operand; NULL: by its number */
    size_t step_length;
    int64_t copy;  /* -1: not said */
    int64_t round; /* 0: not said */
};

/* The operand is borrowed as long as the name is used. ERR_USAGE where it is
 * neither a number nor a name. */
int job_name_parse(const char *operand, struct job_name *name, struct err *err);

/* copy -1 and round 0 are left out. */
void job_name_print(const char *step, int64_t copy, int64_t round,
                    struct buf *out);

#endif
