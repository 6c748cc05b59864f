/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_JOB_TABLE_H
#define SMTUNE_CLI_SHOW_JOBS_JOB_TABLE_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "store/store.h"

struct cli;

/* Which jobs of a workflow's run. */
struct job_filter {
    const char *state; /* NULL: any */
    const char *step;  /* NULL: any */
    const char *tag;   /* NULL: with any, or none */
    int64_t limit;     /* 0: none */
};

/* Writes them to stdout as rows: the job's number, its name, state and times;
 * where a program reads them also its step, copy, round, and what it gave. 0,
 * or -1. */
int job_table_print(const struct cli *cli, const struct run_view *view,
                    const struct job_filter *filter, struct err *err);

#endif
