/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_EXECUTOR_BUILD_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_EXECUTOR_BUILD_H

#include "orchestrator/spec/experiment/build.h"

/*
 * What Slurm is asked for by the keys of a map, an executor's or `resources`:
 * partition, account, qos, constraint, reservation, extra, mode. `what` names
 * the map in messages ("'executor'"). Errors go to build->diags; what the
 * schema has refused is passed over.
 */
void executor_build_ask(struct build *build, const struct conf_node *map,
                        const char *what, struct slurm_ask *ask);

/* One executor, said by a word or a map; NULL: the default. */
void executor_build(struct build *build, const struct conf_node *node,
                    struct executor_options *options);

#endif
