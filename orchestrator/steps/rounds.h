/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_ROUNDS_H
#define SMTUNE_ORCHESTRATOR_STEPS_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"
#include "orchestrator/spec/workflow/workflow.h"

/*
 * What changes from round to round of a step that repeats: an object of the
 * values by name, which its job has in the record. All of it follows from the
 * file and the record.
 *
 * A value that follows another's growth is its first one times what the other
 * has been multiplied by since, or times the root of that: the two rules by
 * which the learning rate goes with the batch size (Goyal et al. 2017,
 * section 2.1; Krizhevsky 2014, section 5). What was an integer stays one
 * where the result is whole.
 */

json_t *rounds_first(const struct repeat_rule *rule);

/* Those of the round after, from the columns of a round's scope. NULL with
 * ERR_FAILED where one has no value. */
json_t *rounds_next(const struct repeat_rule *rule, const struct value *columns,
                    struct err *err);

/* values[value_count], of which text is the JSON's; null where it has none, or
 * is NULL. */
void rounds_values(const struct repeat_rule *rule, const json_t *rounds,
                   struct value *values);

/* Whether a round (1, 2 ...), which has ended well, was the last: there are no
 * more, or `until` says so. -1 where that cannot be told. */
int rounds_are_over(const struct repeat_rule *rule, int64_t round,
                    const struct value *columns, bool *are_over,
                    struct err *err);

#endif
