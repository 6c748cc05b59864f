/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_RANKS_H
#define SMTUNE_TRAINING_COMM_RANKS_H

#include <stdint.h>

#include "base/err.h"

/*
 * Which of several processes this one is, as those who start them tell it: by
 * RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE (`smtune launch`,
 * torchrun), by Open MPI's variables, by PMI's, or by Slurm's, in that order.
 * Where none is set there is one rank. Ranks of one host are numbered one
 * after the other.
 */

enum { RANKS_MAX = 4096, RANKS_HOST_MAX = 256 };

struct ranks {
    int rank, size;               /* 0 .. size - 1 */
    int local_rank, local_size;   /* among those of this host */
    char host[RANKS_HOST_MAX];    /* this one's name, for messages */
    char address[RANKS_HOST_MAX]; /* MASTER_ADDR: where rank 0 is */
    int port;                     /* MASTER_PORT */
};

/* 0; -1 with ERR_USAGE where what is set contradicts itself or cannot be
 * read: names the variable. */
int ranks_read(struct ranks *ranks, struct err *err);

#endif
