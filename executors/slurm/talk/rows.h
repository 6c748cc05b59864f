/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_ROWS_H
#define SMTUNE_EXECUTORS_SLURM_TALK_ROWS_H

#include <stddef.h>

#include "executors/slurm/talk/transport.h"

/*
 * What squeue and sacct print of jobs, in columns that we choose. A row is its
 * fields, each with SLURM_SEPARATOR behind it, and a newline, so that the name
 * of somebody's job may hold any other character; the first row is a heading.
 */

#define SLURM_SEPARATOR "\x1f"

struct slurm_row_form;

extern const struct slurm_row_form slurm_queue_rows;   /* squeue --Format */
extern const struct slurm_row_form slurm_account_rows; /* sacct --format */

struct slurm_rows {
    struct slurm_job *jobs; /* [count] */
    size_t count, capacity;
};

/* The names of its columns, comma-separated, `suffix` behind each. The caller's
 * to free. */
char *slurm_row_columns(const struct slurm_row_form *form, const char *suffix);

/*
 * Appends the jobs whose own name begins with the prefix to *rows; their texts
 * lie in `text` [length], which is changed, and has a NUL behind. -1 when it is
 * not the whole of such a listing, and nothing of it is to be believed.
 */
int slurm_rows_parse(const struct slurm_row_form *form, char *text,
                     size_t length, const char *prefix,
                     struct slurm_rows *rows);

/* The `count` fields of the row at *at, which moves behind it; they lie there.
 * The last of them; NULL when it is not a whole row. */
char *slurm_row_split(size_t count, char **at, char *fields[]);

void slurm_rows_clear(struct slurm_rows *rows);

#endif
