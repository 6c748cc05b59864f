/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_MACHINE_CLUSTER_H
#define SMTUNE_ORCHESTRATOR_MACHINE_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/host_list.h"
#include "executors/executor.h"
#include "executors/slurm/talk/site.h"

/* What a Slurm cluster is and does, for people: asked once, with no run. */

/* Whether there is one to ask: by Slurm's commands, or a slurmrestd (url is as
 * in slurm_options, NULL: none is named). */
bool cluster_is_near(const char *url);

/* Asks it. *answer_ms: how long the controller took for a look at the queue.
 * -1 where it does not answer, or not in time. The caller clears *site. */
int cluster_describe(const char *url, struct slurm_site *site,
                     int64_t *answer_ms, struct err *err);
void cluster_clear(struct slurm_site *site);
/* Adds the names of its nodes, sorted. -1 as above. */
int cluster_nodes(const char *url, struct host_list *nodes, struct err *err);

/* How far the trial job came. */
enum cluster_stage {
    CLUSTER_REFUSED, /* it was not submitted */
    CLUSTER_WAITING, /* it had not started when patience was over */
    CLUSTER_UNSEEN,  /* it started, and nothing of it is seen here */
    CLUSTER_MUTE,    /* smtune-shim started, its command could not answer */
    CLUSTER_ENDED    /* all is known */
};

enum cluster_guard { CLUSTER_GUARD_UNKNOWN, CLUSTER_HOLDS, CLUSTER_FAILS };

/* What one job told; of what comes after its stage nothing is set. */
struct cluster_trial {
    enum cluster_stage stage;
    char text[512];  /* of one that did not end: what is known of why */
    int64_t wait_ms; /* from its submission to its start */
    char node[EXECUTOR_NODE_MAX];
    int64_t round_ms;       /* a file from here was answered there by another */
    int64_t clock_ahead_ms; /* the node's clock against ours, */
    int64_t clock_error_ms; /* give or take so much */
    int64_t exit_ms;        /* until its end was seen here */
    enum cluster_guard exclusive;  /* a file is made by one side alone */
    enum cluster_guard lock_there; /* a lock of ours holds there */
    enum cluster_guard lock_here;  /* and one of its here */
};

struct cluster_trial_ask {
    const char *url;       /* NULL: Slurm's commands */
    const char *partition; /* NULL: the default */
    const char *directory; /* where trials would write; a folder is made in it,
                              and taken away at the end */
    int64_t patience_ms;   /* for the queue */
};

/* Runs one job as a trial would be run. -1 where it cannot be tried at all. */
int cluster_try(const struct cluster_trial_ask *ask,
                struct cluster_trial *trial, struct err *err);

#endif
