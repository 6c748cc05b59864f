/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_LOG_READING_H
#define SMTUNE_CLI_DRIVE_LOG_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "cli/term/output.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * What smtune reads from the output of a trial: each metric with its values,
 * its steps and the first line that it was found in.
 */
struct log_reading;

/* The experiment is borrowed, and outlives the reading. */
struct log_reading *log_reading_create(const struct experiment *experiment);
void log_reading_destroy(struct log_reading *reading);

/* The output, in pieces of any length; then its end. */
void log_reading_feed(struct log_reading *reading, const char *bytes,
                      size_t length);
void log_reading_finish(struct log_reading *reading);

/* Whether every objective of the experiment has a value. */
bool log_reading_is_complete(const struct log_reading *reading);

/* To stdout: one line for each metric, then what is missing. */
void log_reading_print(const struct log_reading *reading);
/* The same for programs: a list, a new reference. */
json_t *log_reading_json(const struct log_reading *reading);
/* For each objective that is missing, the line that nearly has it, as the
 * message of a failed trial has it. */
void log_reading_print_near(const struct log_reading *reading);

#endif
