/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_MACHINE_CLUSTER_LINK_H
#define SMTUNE_ORCHESTRATOR_MACHINE_CLUSTER_LINK_H

#include <stdbool.h>
#include <uv.h>

#include "executors/slurm/talk/transport.h"

/* A transport on a loop of its own, for those that can wait for what it says:
 * the inside of cluster.c and cluster_try.c. */
struct cluster_link {
    uv_loop_t loop;
    uv_timer_t tick;
    struct slurm_options options;
    struct slurm_transport *transport;
    bool has_answer; /* set by what is called with one */
};

/* -1: there is no way to it. Then nothing is to be closed. */
int cluster_link_open(struct cluster_link *link, const char *url,
                      struct err *err);
/* Gives up what was not answered. */
void cluster_link_close(struct cluster_link *link);

/* Turns the loop until `is_there`, which looks every few milliseconds, or the
 * time is over: false. */
bool cluster_link_wait(struct cluster_link *link, int64_t limit_ms,
                       bool (*is_there)(void *user), void *user);
/* The same until has_answer, which is false to begin with. */
bool cluster_link_answer(struct cluster_link *link, int64_t limit_ms);

#endif
