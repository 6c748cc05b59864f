/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SETTING_H
#define SMTUNE_ORCHESTRATOR_SETTING_H

#include "base/json.h"
#include "base/value.h"
#include "strategies/space.h"

/*
 * A trial's setting for programs: an object of its active parameters by name,
 * from point[space_count(space)]. Each returns a new reference.
 */

/* The values with their own types. */
json_t *setting_json(const struct space *space, const struct value *point);

/* Every value as text, as SageMaker hands them over. */
json_t *setting_strings_json(const struct space *space,
                             const struct value *point);

#endif
