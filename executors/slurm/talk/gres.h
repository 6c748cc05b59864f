/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_GRES_H
#define SMTUNE_EXECUTORS_SLURM_TALK_GRES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Lists of generic resources. Slurm has several forms for an entry:
 *
 *     gpu:a100_1g.5gb:2(S:0-1)     of a node, with its sockets
 *     gpu:a100:2(IDX:0-1)          of a job on a node, with the devices
 *     gpu:2, gpu, gpu:a100         options of sbatch; without a count it is 1
 *     gres:gpu:a100:2              of a job, in Slurm 22.05
 *     gres/gpu:a100:2              since 23.02
 *     gres/gpu:a100=2              a trackable resource (TRES)
 *
 * Commas or blanks separate entries. Pure.
 */

enum { GRES_NAME_MAX = 32, GRES_TYPE_MAX = 128 };

struct slurm_gres {
    char name[GRES_NAME_MAX]; /* "gpu" */
    char type[GRES_TYPE_MAX]; /* "a100_1g.5gb"; "": none */
    int64_t count;
};

/* The next entry of the list at *at, which goes behind it. False: there is none
 * left. Names and types that are too long are cut. */
bool slurm_gres_next(const char **at, struct slurm_gres *gres);

/* Appends the entries of an option of sbatch as slurmrestd has them since
 * version 39: "a100:2,v100:1" with the prefix "gres/gpu:" is
 * "gres/gpu:a100:2,gres/gpu:v100:1". */
void slurm_gres_add(struct buf *list, const char *prefix, const char *option);

#endif
