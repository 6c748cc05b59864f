/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_GPUS_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_GPUS_H

#include "executors/machine/gpu_models.h"
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

/* The models of this machine's GPUs, for the checks of several tasks. All
 * zeroes at first: nvidia-smi is asked once, for the first task that names a
 * type. */
struct machine_gpus {
    bool was_asked, is_unknown;
    struct gpu_models models;
    struct err why; /* they are unknown */
};

/* -1 with an error where this machine has fewer GPUs of the type that a task on
 * the executor local asks for, or they cannot be listed. */
int gpus_check(const struct job_spec *spec,
               const struct executor_options *executor,
               struct machine_gpus *machine, struct err *err);

/* Warns of the same, at the node of the key `resources`; NULL: there is none.
 */
void gpus_warn(const struct job_spec *spec, const struct conf_node *resources,
               const struct executor_options *executor,
               struct machine_gpus *machine, struct diags *warnings);

#endif
