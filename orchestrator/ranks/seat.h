/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANKS_SEAT_H
#define SMTUNE_ORCHESTRATOR_RANKS_SEAT_H

#include "base/err.h"
#include "orchestrator/ranks/env.h"

/* What Slurm's variables tell a process of the nodes that it has, and a task
 * of a step of its place among them. */

/* How many nodes a new step could have: those of the allocation that this
 * process is in; 1 where it is in none, or is itself a task of a step. */
int rank_seat_nodes(void);

/* How many of a new step's tasks each of its first nodes gets, so that they are
 * divided evenly; 0 where the allocation has no room for that on each. */
int rank_seat_share(int nodes, int tasks);

/*
 * Where the ranks of a step meet that this process is about to start: the first
 * node's name, and a port that is free on this one now. "" for the name where
 * this is the first node, whose address Slurm tells the ranks.
 */
int rank_seat_arrange(char name[RANK_ADDRESS_MAX], int *port, struct err *err);

/* The meeting of which this process is one rank, by the variables of its step;
 * ERR_USAGE where it is in none. The port and the address that
 * rank_seat_arrange() found are there already. */
int rank_seat_take(struct rank_meeting *meeting, struct err *err);

#endif
