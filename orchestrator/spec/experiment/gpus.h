/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_GPUS_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_GPUS_H

#include "orchestrator/spec/experiment/build.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* What `gpus` of some resources asks for. */

enum { GPUS_MAX_EACH = 1024 }; /* of an attempt, a pilot or an executor */

/* Reads the item of the key, if there is one: a number, also below 1,
 * TYPE:NUMBER, or a map of one type. `label` names it in messages. A type goes
 * to resources->slurm. */
void gpus_build(struct build *build, const struct conf_node *node,
                const char *label, struct resources *resources);

/* Thousandths of GPUs that they take. */
int64_t gpus_permille(const struct resources *resources);

/* "2 GPUs", "1 a100 GPU", "0.5 GPU"; NULL: none. The caller's to free. */
char *gpus_words(const struct resources *resources);

#endif
