/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_FILE_LISTS_H
#define SMTUNE_ORCHESTRATOR_JOB_FILE_LISTS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/value.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* The files of ${{ files() }} and files0() in a command and its environment
 * (base/expr/template.h). */
struct file_lists_site {
    const char *work_directory; /* that relative patterns start from */
    bool allows_empty;          /* lists without a path */
};

/*
 * Writes them: the values of a JSON list, without its nulls; the paths that
 * match a pattern (glob(7)); or the one path that the value is. Those that
 * exist are replaced. -1 with ERR_FILE where a list is empty, where it is none,
 * or where a path with a line break would be a line; with ERR_FAILED where a
 * file cannot be written.
 */
int file_lists_write(const struct job_spec *task, const struct value *values,
                     const struct file_lists_site *site, struct err *err);

#endif
