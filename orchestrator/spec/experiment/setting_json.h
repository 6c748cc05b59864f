/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_SETTING_JSON_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_SETTING_JSON_H

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"
#include "strategies/space/space.h"

struct buf;

/*
 * A trial's setting for programs: an object of its active parameters by name,
 * from point[space_count(space)]. Each returns a new reference.
 */

/* The values with their own types. */
json_t *setting_json(const struct space *space, const struct value *point);

/* Every value as text, as SageMaker hands them over. */
json_t *setting_strings_json(const struct space *space,
                             const struct value *point);

/* The other way, into values[space_count]: what it does not name is null; text
 * is the space's. ERR_USAGE: it names nothing, what there is not, or a value
 * that the parameter does not have. */
int setting_read(const struct space *space, const json_t *params,
                 struct value *values, struct err *err);

/* Appends "from 0 to 1 in steps of 0.1", of a float or an int. */
void setting_print_range(const struct param *param, struct buf *out);
/* The values of another, as texts: [*count], the caller's to free, each too. */
char **setting_words(const struct param *param, size_t *count);

#endif
