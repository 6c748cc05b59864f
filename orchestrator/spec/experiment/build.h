/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_BUILD_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_BUILD_H

#include "base/conf/conf.h"
#include "base/conf/read.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * What the parts of a file have in common while they are built: tasks,
 * executors, and what an experiment or a workflow is besides. Only files of
 * this folder include it.
 */

/* An experiment with what holds its texts. */
struct experiment_file {
    struct experiment experiment; /* first: experiment_destroy relies on it */
    struct conf_doc *doc;
    void **taken; /* what is not in doc */
    size_t taken_count, taken_capacity;
};

/*
 * Putting one together goes on after an error, to find the others: what the
 * schema has refused already is passed over without another word.
 */
struct build {
    struct experiment_file *file;
    struct experiment *experiment; /* &file->experiment */
    struct diags *diags;
    const char **columns; /* parameters, then the EXTRA_ ones; NULL where
                             they are not known: then no template is read */
    size_t column_count;
};

/* Keeps memory of the caller's, from malloc, until the experiment goes; returns
 * it. */
void *build_take(struct experiment_file *file, void *memory);
const char *build_take_text(struct experiment_file *file, char *text);
/* The absolute path of one that is relative to the file's own folder; it is the
 * file's. */
const char *build_resolve_path(struct experiment_file *file, const char *path);

/* Adds *err, found in a text, at its line and column in the file. Returns -1.
 */
int build_add_error(struct build *build, const struct conf_node *scalar,
                    const struct err *err);

/* Whether the text can be the name of a metric. If not, the fault is among
 * those of the file. */
bool build_check_metric_name(struct build *build, const struct conf_node *name);
/* A line of `setup` that is text: bash would read a template as it is. */
void build_check_setup_line(struct build *build, const struct conf_node *line);

#endif
