/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_JOB_SPEC_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_JOB_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf/conf.h"
#include "base/expr/template.h"
#include "base/metrics/metrics.h"
#include "executors/executor.h"

/*
 * What a job does when it is started: an experiment's trials, all the same
 * (`trial` in its file), and the steps of a workflow. All strings belong to the
 * file's document.
 */

/* Ranks of one command on one machine (orchestrator/ranks/group.h). */
enum { RANK_GROUP_MAX = 1024 };

struct resources {
    int cpus; /* 0: takes no CPU slot, `parallel` alone limits */
    int gpus;
    int gpu_permille;     /* of the one GPU, which others share; 0: whole */
    int nodes;            /* machines of a cluster, 0: not said */
    int tasks;            /* ranks that the command is started as, over all */
    bool divides_cpus;    /* evenly among its ranks, as Slurm does */
    bool pins;            /* to its CPUs, within a NUMA node */
    bool splits_gpus;     /* each rank sees its own GPUs alone */
    int64_t memory_bytes; /* 0: no limit */
    int64_t time_ms;      /* 0: no limit */
    int64_t grace_ms;
    struct slurm_ask slurm; /* what comes before the executor's own */
};

enum retry_jitter { JITTER_NONE, JITTER_FULL };

struct exit_range { /* both included */
    int first, last;
};

/* What each resource is multiplied by; 0: it stays. */
struct resource_scale {
    double cpus, gpus, memory, time;
};

struct retry_rule {
    uint32_t causes;                /* bits 1 << enum attempt_cause */
    uint64_t signals;               /* "signal:SEGV": bits 1 << (number - 1) */
    const struct exit_range *exits; /* "exit:75": [exit_count] */
    size_t exit_count;
    struct regex **logs; /* "log:REGEX": [log_count] */
    size_t log_count;
    int64_t max; /* retries this rule gives to one trial */
    int64_t delay_ms;
    double backoff;       /* delay of the n-th retry: delay * backoff^(n-1) */
    int64_t max_delay_ms; /* 0: no cap */
    enum retry_jitter jitter;
    struct resource_scale scale; /* of the resources, for each retry */
    bool excludes_node;          /* on which the trial has failed so */
    struct resources cap;        /* of what `scale` makes them; 0: none */
};

struct env_entry {
    const char *name;
    struct template *value;
};

struct channel {
    const char *name; /* SM_CHANNEL_<NAME> */
    struct template *path;
    const char *folder; /* absolute: where a relative path starts */
    bool is_sharded;    /* each copy sees its share of the files */
};

struct pool_share {
    const char *name;
    int64_t amount;
};

/* In which the command runs (orchestrator/wrap/container.h). */
struct container_spec {
    struct template *image;   /* NULL: in none */
    const char *runtime;      /* NULL: the first that is there */
    struct template **mounts; /* [mount_count] FROM[:TO][:ro] */
    size_t mount_count;
    const char **options; /* [option_count] of the runtime */
    size_t option_count;
    const char *folder; /* absolute: where relative paths start */
};

enum file_format { FILE_YAML, FILE_JSON, FILE_TOML, FILE_TEXT };

/* In the order of the enum, NULL-ended. */
extern const char *const file_format_names[];

/* A file that a trial gets (orchestrator/job/trial_files.h). */
struct job_file {
    struct template *path; /* relative to the trial's folder */
    const char *from;      /* the template file, absolute; NULL: none */
    struct diag_place
        place; /* of `from`; of the file's map where it has none */
    enum file_format format;
    const struct conf_node *set; /* a map of values, or NULL */
};

struct job_spec {
    bool has_checkpoints; /* it goes on where an attempt before stopped */
    struct template *command;
    bool has_tty;  /* its output goes to a pseudo-terminal */
    bool is_shell; /* command is a script for /bin/sh -c, else words */
    const char *interpreter; /* of a script: bash; NULL: /bin/sh */
    const char **setup;      /* [setup_count] lines of bash before it */
    size_t setup_count;
    struct container_spec container;
    struct template *conda;     /* an environment to activate; NULL: none */
    const char *conda_folder;   /* absolute: where a relative path starts */
    struct template *workdir;   /* NULL: the run's; workdir.h */
    const char *workdir_folder; /* absolute: where a relative one starts */
    struct metric_rules *metrics;
    struct env_entry *environment;
    size_t environment_count;
    const char **env_from; /* [env_from_count] variables of smtune's own */
    size_t env_from_count;
    const char *env_file;             /* absolute; NULL: none */
    struct diag_place env_file_place; /* of the key */
    struct channel *channels;
    size_t channel_count;
    struct job_file *files;
    size_t file_count;
    struct expr_env *env;      /* for the templates in them */
    const char **file_columns; /* [file_column_count] their names */
    bool *file_uses;           /* whether one reads the column */
    size_t file_column_count;
    struct resources resources;
    struct pool_share *pools; /* [pool_count] that it takes from */
    size_t pool_count;
    struct retry_rule *retries;
    size_t retry_count;
    bool is_tried_once; /* `retry: []`: retry_default does not hold either */
};

#endif
