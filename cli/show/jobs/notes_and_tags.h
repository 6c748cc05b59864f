/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_NOTES_AND_TAGS_H
#define SMTUNE_CLI_SHOW_JOBS_NOTES_AND_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"

struct buf;
struct cli;

/* What people add to a run, or to jobs of it: for the commands that do so, and
 * that show it. */

/* The job that an operand names; NULL: the run itself, 0. */
int notes_and_tags_find(const struct run_view *view, const char *operand,
                        int64_t *job, struct err *err);

/* Opens the store that the view reads for writing, in a transaction, which
 * notes_and_tags_end commits where `result` is 0; it closes the store in any
 * case, and returns -1 where it was not, or that fails. */
struct store *notes_and_tags_begin(const struct run_view *view,
                                   struct err *err);
int notes_and_tags_end(struct store *store, int result, struct err *err);

/* Hands out what was said of a run and its jobs (job -1), or of one of them
 * (0: the run). label: "trial 7", "job train[3]"; NULL: the run. */
int notes_and_tags_each(const struct run_view *view, int64_t job,
                        int (*row)(void *user, const char *label,
                                   const struct remark_row *remark),
                        void *user, struct err *err);

/* The fields "note" and "tags" of a run (job 0), or of one of its jobs; for
 * people only where there are any. 0, or -1. */
int notes_and_tags_add(struct document *document, const struct cli *cli,
                       const struct run_view *view, int64_t job,
                       struct err *err);

/* ["a","b"], as the record has tags: "a, b". */
void notes_and_tags_print(const char *tags, struct buf *out);
/* Whether tags as the record has them ("" or NULL: none) hold this one. */
bool notes_and_tags_has(const char *tags, const char *tag);

#endif
