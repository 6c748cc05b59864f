/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_SITE_H
#define SMTUNE_EXECUTORS_SLURM_TALK_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What a cluster is, as far as smtune goes by it. */

struct slurm_partition {
    char *name;
    bool is_default;
    bool is_up;
    int nodes;     /* in it */
    int node_cpus; /* of its smallest node */
    int node_gpus; /* of its best equipped node */
    int64_t node_memory_bytes;
    int64_t default_time_ms; /* 0: none */
    int64_t max_time_ms;     /* 0: no limit */
};

struct slurm_qos {
    char *name;
    int64_t max_time_ms; /* of a job; 0: no limit */
};

struct slurm_site {
    char *version;      /* "22.05.8" */
    char *cluster;      /* its name */
    int array_max;      /* MaxArraySize: indices are below it; 0: not known */
    int jobs_max;       /* MaxJobCount, 0: not known */
    int64_t job_age_ms; /* MinJobAge: how long it knows what has ended */
    bool has_accounting;
    struct buf nodes; /* their names, "n[1-3],n4" (host_list.h), some twice */
    struct slurm_partition *partitions; /* [partition_count] */
    size_t partition_count;
    struct slurm_qos *qos; /* [qos_count], where accounting has them */
    size_t qos_count;
};

void slurm_site_clear(struct slurm_site *site);
/* What `to` had is lost: clear it first. */
void slurm_site_copy(struct slurm_site *to, const struct slurm_site *from);

/* Of the name; NULL: the default one. NULL when there is none such. */
const struct slurm_partition *slurm_site_partition(
    const struct slurm_site *site, const char *name);

/* The longest time that a job of this partition and QOS (NULL: none named)
 * may ask for; 0: no limit, or none that is known. */
int64_t slurm_site_time_ms(const struct slurm_site *site, const char *partition,
                           const char *qos);

/* Makes it the default one, where none is known to be. A name that is not there
 * ("a,b" too, of a job for several partitions) changes nothing. */
void slurm_site_set_default(struct slurm_site *site, const char *name);

/* The partition of the name, made where there is none yet; valid until the next
 * one is made. */
struct slurm_partition *slurm_site_add(struct slurm_site *site,
                                       const char *name);
void slurm_site_add_qos(struct slurm_site *site, const char *name,
                        int64_t max_time_ms);
/* Names of nodes, as Slurm prints them. */
void slurm_site_add_nodes(struct slurm_site *site, const char *names);
/* So many nodes of a kind; gres as Slurm prints it, "gpu:a100:4(S:0-1)". */
void slurm_partition_add(struct slurm_partition *partition, int nodes, int cpus,
                         int64_t memory_bytes, const char *gres);

#endif
