/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/resources.h"

struct attempt_spec resources_attempt_spec(const struct resources *resources)
{
    return (struct attempt_spec){
        .cpus = resources->cpus,
        .pins = resources->pins,
        .gpus = resources->gpus,
        .gpu_permille = resources->gpu_permille,
        .nodes = resources->nodes,
        .tasks = resources->tasks,
        .memory_bytes = resources->memory_bytes,
        .time_ms = resources->time_ms,
        .grace_ms = resources->grace_ms,
        .slurm = &resources->slurm,
    };
}
