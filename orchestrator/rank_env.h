/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANK_ENV_H
#define SMTUNE_ORCHESTRATOR_RANK_ENV_H

#include <stdbool.h>

#include "base/err.h"
#include "orchestrator/env_list.h"

/* How the ranks of one machine find each other: the names that torchrun sets.
 */
struct rank_meeting {
    int tasks;
    int port;        /* of rank 0, on 127.0.0.1 */
    int threads;     /* each rank's share of the CPUs, at least 1 */
    bool split_gpus; /* each rank sees its share of the GPUs alone */
};

/* Finds a port that is free now. A rank's share of the CPUs is one of those
 * that its trial has, if it is in one, else of the machine's. */
int rank_meeting_arrange(struct rank_meeting *meeting, int tasks,
                         bool split_gpus, struct err *err);

/*
 * Sets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
 * MASTER_PORT; OMP_NUM_THREADS where it is not set; CUDA_VISIBLE_DEVICES to
 * its share where asked and where there are GPUs. Only rank 0 reports metrics:
 * SMTUNE_METRICS, where set, is /dev/null for the others.
 */
void rank_env_set(struct env_list *env, const struct rank_meeting *meeting,
                  int rank);

/* A rank's share of count GPUs: from *first up to *end, at least one. Where
 * there are fewer than ranks, some ranks share one. */
void rank_gpu_share(int rank, int tasks, int count, int *first, int *end);

#endif
