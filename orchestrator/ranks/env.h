/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANKS_ENV_H
#define SMTUNE_ORCHESTRATOR_RANKS_ENV_H

#include <stdbool.h>

#include "base/err.h"
#include "orchestrator/job/env_list.h"

enum { RANK_ADDRESS_MAX = 256 };

/* How ranks find each other, as one of their machines sees it: the names that
 * torchrun sets. */
struct rank_meeting {
    int tasks;              /* on all machines */
    int local_tasks;        /* on this one */
    int first, first_local; /* RANK and LOCAL_RANK of the first one here */
    int nodes, node;        /* machines, and which of them this is */
    char address[RANK_ADDRESS_MAX]; /* of rank 0's machine */
    int port;                       /* of rank 0 there */
    int threads;     /* each rank's share of the CPUs, at least 1 */
    bool split_gpus; /* each rank sees its share of the GPUs alone */
};

/* A port that is free on this machine now. -1 with an error. */
int rank_meeting_port(struct err *err);

/* Of ranks that are all on this machine: with a port. A rank's share of the
 * CPUs is one of those that its trial has, if it is in one, else of the
 * machine's. */
int rank_meeting_arrange(struct rank_meeting *meeting, int tasks,
                         bool split_gpus, struct err *err);

/*
 * For the rank that is meeting->first + index: sets RANK, WORLD_SIZE,
 * LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT; OMP_NUM_THREADS
 * where it is not set. Where it shall see its share of the GPUs alone, or one
 * of them is a MIG device, and there are any, CUDA_VISIBLE_DEVICES names that,
 * LOCAL_RANK is 0 and LOCAL_WORLD_SIZE 1. Only rank 0 reports metrics:
 * SMTUNE_METRICS, where set, is /dev/null for the others. Over several machines
 * SM_HOSTS and SM_CURRENT_HOST, where they know of one, tell of all of them.
 */
void rank_env_set(struct env_list *env, const struct rank_meeting *meeting,
                  int index);

/* A rank's share of count GPUs or CPUs: from *first up to *end, at least one.
 * Where there are fewer than ranks, some ranks share one. */
void rank_share(int rank, int tasks, int count, int *first, int *end);

#endif
