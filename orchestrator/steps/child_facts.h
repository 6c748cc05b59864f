/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CHILD_FACTS_H
#define SMTUNE_ORCHESTRATOR_STEPS_CHILD_FACTS_H

#include "base/json.h"
#include "base/word_list.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/store.h"

/*
 * What the result of a step that is an experiment depends on, besides what
 * every step has (cache_facts.h): "experiment", the path of its file, whose
 * content is an input; "with"; the results that its search begins with
 * ("warm_start"); and what its trials get from outside the file: an image file,
 * and template files, which are inputs, too.
 */

/* Into facts and inputs. values are those of the step's scope; store NULL: it
 * has no runs. -1 where the file or a value of `with` is wrong, as the child
 * run itself would report. */
int child_facts_add(const struct step *step, const struct value *values,
                    struct store *store, json_t *facts,
                    struct word_list *inputs, struct err *err);

/*
 * Why the result of a job's child run is not that of its file, for the caller
 * to free: somebody edited the run, gave it another budget, or added settings.
 * NULL: it is. name: the run's.
 */
char *child_facts_find_change(struct store *store, const char *name);

/* Whether the run of that name is the child run of the job, and still there. */
bool child_facts_has_run(struct store *store, const char *name, int64_t job);

#endif
