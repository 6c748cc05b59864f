/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_CONTAINER_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_CONTAINER_H

#include "base/err.h"
#include "base/value.h"
#include "executors/container/container.h"
#include "executors/container/runtime.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* A task's `container` and `conda`, by the values of the columns that their
 * templates know. */

/* Whether one of their templates reads the column. */
bool container_uses(const struct job_spec *spec, size_t column);

/* *image is the caller's to free: an absolute path, or a name; NULL where the
 * task has no container. -1 with ERR_FILE where a value makes none. */
int container_expand_image(const struct job_spec *spec,
                           const struct value *values, char **image,
                           struct err *err);

/* Of mount i: where it is outside and inside, both the caller's to free. -1
 * with ERR_FILE, and then neither. */
int container_expand_mount(const struct job_spec *spec, size_t i,
                           const struct value *values, char **source,
                           char **target, bool *is_read_only, struct err *err);

/* *name is the caller's to free: an absolute path, or the name of an
 * environment; NULL where the task has none. -1 with ERR_FILE. */
int conda_expand(const struct job_spec *spec, const struct value *values,
                 char **name, struct err *err);

/*
 * The program that would run the task's container on this machine. -1 with an
 * error where there is none, or where the image is a file that is missing;
 * may_come: it may be made before the command starts, so it is not looked for.
 * An image that depends on a value is not looked for either.
 */
int container_look(const struct job_spec *spec, bool may_come,
                   struct container_program *program, struct err *err);

/* -1 with the same error where the task's container cannot start. 0 where that
 * cannot be known: lines of `setup` may load a runtime, and the nodes of a
 * cluster are other machines. */
int container_check(const struct job_spec *spec,
                    const struct executor_options *executor, bool may_come,
                    struct err *err);

/* Frees what they are in the task. */
void container_clear_spec(struct job_spec *spec);

#endif
