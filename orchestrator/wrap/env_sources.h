/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_WRAP_ENV_SOURCES_H
#define SMTUNE_ORCHESTRATOR_WRAP_ENV_SOURCES_H

#include "base/err.h"
#include "base/word_list.h"
#include "orchestrator/spec/experiment/job_spec.h"

/*
 * Variables of a task whose values are not in its file: those of `env_file`,
 * and those that `env_from` takes from the environment of smtune. They are read
 * for each attempt, and the record never has them.
 *
 * A line of env_file is NAME=VALUE, with `export ` before it or not. Quotes
 * around the whole value are no part of it. Empty lines, and lines that begin
 * with #, are passed over. Messages name the line, and never its text.
 */

enum { ENV_FILE_MAX_BYTES = 1 << 20 };

/* Adds NAME=VALUE of each to the list, in the order in which they are set: a
 * later one replaces an earlier one. environment: of smtune, NULL-ended. -1
 * with ERR_USAGE where the file cannot be used or a variable is not set. */
int env_sources_read(const struct job_spec *task, char *const *environment,
                     struct word_list *list, struct err *err);

/* The same of env_file alone. */
int env_sources_read_file(const struct job_spec *task, struct word_list *list,
                          struct err *err);

#endif
