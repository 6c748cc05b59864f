/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_CHANNELS_H
#define SMTUNE_ORCHESTRATOR_JOB_CHANNELS_H

#include "base/err.h"
#include "base/value.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* The absolute paths of a task's channels, [channel_count], by the values of
 * the columns that its templates know; the caller's to free with
 * channels_free_paths(). NULL where a value cannot be told, or one is empty. */
char **channels_paths(const struct job_spec *spec, const struct value *values,
                      struct err *err);
void channels_free_paths(const struct job_spec *spec, char **paths);

#endif
