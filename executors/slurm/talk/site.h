/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_SITE_H
#define SMTUNE_EXECUTORS_SLURM_TALK_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What a cluster is, as far as smtune goes by it. */

struct slurm_gpu_type {
    char *name;
    int gpus; /* of the node that has most of it */
};

struct slurm_partition {
    char *name;
    char *qos; /* whose limits it has; NULL: none */
    bool is_default;
    bool is_up;
    int nodes;     /* in it */
    int node_cpus; /* of its smallest node */
    int node_gpus; /* of its best equipped node, of all types */
    struct slurm_gpu_type *gpu_types; /* [gpu_type_count] */
    size_t gpu_type_count;
    int64_t node_memory_bytes;
    int64_t default_time_ms; /* 0: none */
    int64_t max_time_ms;     /* 0: no limit */
};

struct slurm_qos {
    char *name;
    int64_t max_time_ms;         /* of a job; 0: no limit */
    bool is_over_partition_qos;  /* OverPartQOS */
    bool is_over_partition_time; /* PartitionTimeLimit */
};

/* Of our user with an account. */
struct slurm_association {
    char *account;
    char *partition;     /* NULL: of all that have none of their own */
    char *default_qos;   /* NULL: none */
    int64_t max_time_ms; /* its own or inherited one; 0: no limit */
};

struct slurm_site {
    char *version;      /* "22.05.8" */
    char *cluster;      /* its name */
    int array_max;      /* MaxArraySize: indices are below it; 0: not known */
    int jobs_max;       /* MaxJobCount, 0: not known */
    int64_t job_age_ms; /* MinJobAge: how long it knows what has ended */
    bool has_accounting;
    bool enforces_limits; /* of QOS and associations */
    char *account, *qos;  /* where a job names none; NULL: not known */
    struct buf nodes; /* their names, "n[1-3],n4" (host_list.h), some twice */
    struct slurm_partition *partitions; /* [partition_count] */
    size_t partition_count;
    struct slurm_qos *qos_list; /* [qos_count], where accounting has them */
    size_t qos_count;
    struct slurm_association *associations; /* [association_count], likewise */
    size_t association_count;
};

void slurm_site_clear(struct slurm_site *site);
/* `to` gets all of `from`, which is empty then. */
void slurm_site_move(struct slurm_site *to, struct slurm_site *from);

/* Of the name; NULL: the default one. NULL when there is none such. */
const struct slurm_partition *slurm_site_partition(
    const struct slurm_site *site, const char *name);

/* Makes it the default one, where none is known to be. A name that is not there
 * ("a,b" too, of a job for several partitions) changes nothing. */
void slurm_site_set_default(struct slurm_site *site, const char *name);

/* The partition of the name, made where there is none yet; valid until the next
 * one is made. */
struct slurm_partition *slurm_site_add(struct slurm_site *site,
                                       const char *name);
/* One more, without anything else; valid until the next one is made. */
struct slurm_qos *slurm_site_add_qos(struct slurm_site *site, const char *name);
struct slurm_association *slurm_site_add_association(struct slurm_site *site,
                                                     const char *account);
/* Names of nodes, as Slurm prints them. */
void slurm_site_add_nodes(struct slurm_site *site, const char *names);
/* So many nodes of a kind; gres as Slurm prints it, "gpu:a100:4(S:0-1)". */
void slurm_partition_add(struct slurm_partition *partition, int nodes, int cpus,
                         int64_t memory_bytes, const char *gres);
/* GPUs of the node that has most of the type; NULL: of all types together. */
int slurm_partition_gpus(const struct slurm_partition *partition,
                         const char *type);

#endif
