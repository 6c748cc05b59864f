/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/executor.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/experiment/gpus.h"

/* The keys `executor` of both kinds of file, and `resources` of what it is to
 * run; some are keys of both. */

#define TIME_MAX (3650 * DAY_S)

enum { CPUS_MAX = 4096, NODES_MAX = 1024 };

static const char *const cgroup_uses[] = {"auto", "off", NULL};
static const char *const modes[] = {"auto", "job", "array", "pilot", NULL};
static const char *const environments[] = {"inherit", "none", NULL};
static const char *const transports[] = {"commands", "rest", NULL};

static const struct schema_key option_element = {
    .name = "option",
    .type = SCHEMA_TEXT,
};

const struct schema_key experiment_line_element = {
    .name = "line",
    .type = SCHEMA_TEXT,
};

#define WORD_KEY(word, text, otherwise, sample)                                \
    {                                                                          \
        .name = (word), .type = SCHEMA_TEXT | SCHEMA_INT, .doc = (text),       \
        .fallback = (otherwise), .example = (sample),                          \
    }

#define EXTRA_KEY(otherwise)                                                   \
    {                                                                          \
        .name = "extra", .type = SCHEMA_LIST, .element = &option_element,      \
        .doc = "For slurm: further options of sbatch, each one word that "     \
               "begins with -.",                                               \
        .fallback = (otherwise), .example = "[--mail-type=FAIL, --exclusive]", \
    }

static const char *const gpu_views[] = {"node", "rank", NULL};

#define MODE_KEY(otherwise)                                                    \
    {                                                                          \
        .name = "mode", .type = SCHEMA_TEXT, .choices = modes,                 \
        .doc = "For slurm: job submits each trial by itself, array many at "   \
               "once; pilot starts allocations that run many trials, one "     \
               "after the other. auto selects by the resources and time of "   \
               "a trial and the length of the queue, and logs why.",           \
        .fallback = (otherwise), .example = "pilot",                           \
    }

/* What Slurm is asked for: `otherwise` is what holds where a key is left out.
 */
#define SLURM_ASK_KEYS(otherwise, otherwise_mode)                              \
    WORD_KEY("partition", "For slurm: the partition.", otherwise, "gpu"),      \
        WORD_KEY("account", "For slurm: who is charged.", otherwise,           \
                 "vision"),                                                    \
        WORD_KEY("qos", "For slurm: the quality of service.", otherwise,       \
                 "long"),                                                      \
        WORD_KEY("constraint",                                                 \
                 "For slurm: the features that a node must have.", otherwise,  \
                 "\"a100|h100\""),                                             \
        WORD_KEY("reservation", "For slurm: the reservation to run in.",       \
                 otherwise, "workshop"),                                       \
        EXTRA_KEY(otherwise), MODE_KEY(otherwise_mode)

static const struct schema_key pilot_keys[] = {
    {
        .name = "cpus",
        .type = SCHEMA_INT,
        .min = 1,
        .max = CPUS_MAX,
        .doc = "CPUs of one pilot.",
        .fallback = "all CPUs of the smallest node in the partition",
        .example = "16",
    },
    {
        .name = "gpus",
        .type = SCHEMA_INT,
        .min = 0,
        .max = GPUS_MAX_EACH,
        .doc = "GPUs of one pilot.",
        .fallback = "those of a node, if a trial in the queue uses any",
        .example = "4",
    },
    {
        .name = "memory",
        .type = SCHEMA_BYTES,
        .min = MEMORY_MIN,
        .max = BYTES_MAX,
        .doc = "Memory of one pilot.",
        .fallback = "the memory that Slurm assigns to the CPUs",
        .example = "64G",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 60,
        .max = TIME_MAX,
        .doc = "The time limit of a pilot, at most what partition, QOS and "
               "association allow. It starts no trial that would run longer "
               "than the pilot.",
        .fallback = "as long as the waiting trials need, at most the "
                    "default time of the partition",
        .example = "4h",
    },
    {
        .name = "max",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1000,
        .doc = "The largest number of pilots at the same time.",
        .fallback = "enough for `parallel`",
        .example = "4",
    },
    {
        .name = "idle",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = DAY_S,
        .doc = "A pilot without work ends after this time, and at once if "
               "other trials wait that do not fit it.",
        .fallback = "1m",
        .example = "2m",
    },
    {.name = NULL},
};

const struct schema_key experiment_executor_keys[] = {
    {
        .name = "name",
        .type = SCHEMA_TEXT,
        .names = executor_names,
        .doc = "Where trials run: local is this machine; slurm is the "
               "cluster that sbatch submits to; fake runs nothing, for "
               "tests. Keys of other executors are ignored, so this one "
               "word moves a file between executors.",
        .fallback = "local",
        .example = "slurm",
    },
    {
        .name = "cpus",
        .type = SCHEMA_INT | SCHEMA_AUTO,
        .min = 1,
        .max = CPUS_MAX,
        .doc = "For local: CPUs that all trials together may use.",
        .fallback = "auto: all that smtune may use",
        .example = "8",
    },
    {
        .name = "gpus",
        .type = SCHEMA_INT | SCHEMA_AUTO,
        .min = 0,
        .max = GPUS_MAX_EACH,
        .doc = "GPUs that all trials together may use; for slurm, the "
               "default GPUs of a trial.",
        .fallback = "auto: all of the machine; for slurm none",
        .example = "2",
    },
    {
        .name = "cgroup",
        .type = SCHEMA_TEXT,
        .choices = cgroup_uses,
        .doc = "Whether local trials get control groups if smtune may "
               "create them (`smtune doctor` shows this). With auto, the "
               "kernel limits a trial to its `memory`, and to its `cpus` "
               "if set, and kills all remaining processes of a trial. "
               "With off, or without a group, smtune adds up the memory "
               "of the processes every 100 ms and does not limit CPUs. It "
               "then searches all processes for those that a trial left.",
        .fallback = "auto",
        .example = "off",
    },
    {
        .name = "script",
        .type = SCHEMA_TEXT,
        .doc = "For the fake executor: a file of JSON lines with the ends "
               "of attempts.",
        .fallback = "all succeed",
        .example = "outcomes.jsonl",
    },
    SLURM_ASK_KEYS("the default of the cluster", "auto"),
    {
        .name = "nodes",
        .type = SCHEMA_INT,
        .min = 1,
        .max = NODES_MAX,
        .doc = "For slurm: the default number of nodes of a trial.",
        .fallback = "1",
        .example = "2",
    },
    {
        .name = "tasks",
        .type = SCHEMA_INT,
        .min = 1,
        .max = RANK_GROUP_MAX,
        .doc = "For slurm: the default number of ranks of a trial.",
        .fallback = "1 a node",
        .example = "8",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = TIME_MAX,
        .doc = "For slurm: the default time of an attempt.",
        .fallback = "the time limit of the partition",
        .example = "2h",
    },
    {
        .name = "setup",
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .element = &experiment_line_element,
        .doc = "For slurm: lines of bash before the command of each trial "
               "or step, such as `module load`, and before those of "
               "trial.setup.",
        .fallback = "none",
        .example = "[module load cuda, source ~/venv/bin/activate]",
    },
    {
        .name = "health",
        .type = SCHEMA_TEXT,
        .doc = "For slurm: a shell command that checks a node, before its "
               "first trial and again after a failed trial. If the status "
               "is not 0, the trial starts on another node, and the node "
               "is excluded.",
        .fallback = "only the built-in check of the disk, the memory and the "
                    "GPUs",
        .example = "nvidia-smi",
    },
    {
        .name = "job_name",
        .type = SCHEMA_TEXT,
        .doc = "For slurm: the name of a job in squeue and sacct, before the "
               "name by which smtune finds it. ${{ run }}, ${{ step }} "
               "(trial for the trials of an experiment, pilot for a pilot) "
               "and ${{ job }} (its step, for an array) have values.",
        .fallback = "${{ run }}.${{ job }}",
        .example = "\"${{ run }}-${{ step }}\"",
    },
    {
        .name = "comment",
        .type = SCHEMA_TEXT,
        .doc = "For slurm: the comment of a job, with the values of "
               "job_name. An empty text sets none.",
        .fallback = "smtune run=${{ run }} step=${{ step }} job=${{ job }}",
        .example = "\"project X, ${{ run }}\"",
    },
    {
        .name = "environment",
        .type = SCHEMA_TEXT,
        .choices = environments,
        .doc = "For slurm: whether trials inherit the environment of "
               "smtune. With none they get that of Slurm and `setup`, and "
               "their own variables.",
        .fallback = "inherit",
        .example = "none",
    },
    {
        .name = "heartbeat",
        .type = SCHEMA_DURATION,
        .min = 0.1,
        .max = 3600,
        .doc = "For slurm: the interval between two updates of the pulse "
               "file of an attempt.",
        .fallback = "10s",
        .example = "30s",
    },
    {
        .name = "silence",
        .type = SCHEMA_DURATION,
        .min = 0.2,
        .max = DAY_S,
        .doc = "For slurm: the time without a pulse after which a node "
               "counts as lost. Its attempts are retried on other nodes.",
        .fallback = "60s",
        .example = "5m",
    },
    {
        .name = "poll",
        .type = SCHEMA_DURATION,
        .min = 0.1,
        .max = 3600,
        .doc = "For slurm: the least time between two queries of the "
               "queue. Without changes the interval grows up to a minute.",
        .fallback = "5s",
        .example = "15s",
    },
    {
        .name = "transport",
        .type = SCHEMA_TEXT,
        .choices = transports,
        .doc = "For slurm: commands uses sbatch, squeue, sacct and "
               "scancel; rest uses slurmrestd at `url`, with the token in "
               "SLURM_JWT if it is set.",
        .fallback = "commands",
        .example = "rest",
    },
    {
        .name = "url",
        .type = SCHEMA_TEXT,
        .doc = "For slurm with transport rest: the address of slurmrestd.",
        .example = "\"unix:/run/slurmrestd.sock\"",
    },
    {
        .name = "pilot",
        .type = SCHEMA_MAP,
        .keys = pilot_keys,
        .doc = "For slurm: the size and number of pilots.",
        .example = "{cpus: 16, time: 4h, max: 4}",
    },
    {.name = NULL},
};

const struct schema_key experiment_resource_keys[] = {
    {
        .name = "cpus",
        .known_as = "cpu cores threads",
        .type = SCHEMA_INT,
        .min = 0,
        .max = CPUS_MAX,
        .doc = "CPU slots that a trial uses, out of those of the machine "
               "that all your runs share. With 0, only `budget.parallel` "
               "limits the number of trials. A control group "
               "(`executor.cgroup`) limits the CPU time of a trial to "
               "this number. If a program starts one thread per CPU of "
               "the machine, set its number of threads, for example with "
               "OMP_NUM_THREADS. With slurm, the CPUs of the job, of all "
               "nodes and tasks together: a multiple of the number of tasks.",
        .fallback = "0; with slurm the default of the cluster",
        .example = "2",
    },
    {
        .name = "pin",
        .known_as = "affinity binding cpu_bind",
        .type = SCHEMA_BOOL,
        .doc = "For local: whether a trial runs on CPUs of its own, as many "
               "as `cpus`, of one NUMA node if a node has so many. Each rank "
               "gets its share of them. Trials without `pin` may run on any "
               "CPU.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "gpus",
        .known_as = "gpu",
        .type = SCHEMA_NUMBER | SCHEMA_TEXT | SCHEMA_ANY_MAP,
        .min = 0,
        .max = GPUS_MAX_EACH,
        .doc = "GPUs that a trial uses; CUDA_VISIBLE_DEVICES lists them. "
               "`a100:2` or `{a100: 2}` asks for GPUs of a type. On one "
               "machine, the names that nvidia-smi lists have the words of "
               "the type: a100, a100-sxm4 and rtx4090, but not a10. A type "
               "may be a profile of MIG: 1g.10gb, a100_1g.5gb. There "
               "0.5 is a part of a GPU: trials share one as "
               "long as their parts amount to at most 1. smtune does not "
               "limit their memory or time on it. "
               "With slurm, those of all its nodes together: a multiple of "
               "the number of nodes. A node has no more ranks than GPUs, "
               "unless `visible_gpus` is rank.",
        .fallback = "0",
        .example = "1",
    },
    {
        .name = "visible_gpus",
        .type = SCHEMA_TEXT,
        .choices = gpu_views,
        .doc = "The GPUs that each rank sees. With node, those of its whole "
               "node: LOCAL_RANK selects one. With rank, only its own: as "
               "many as others have, or one that several ranks share. "
               "CUDA_VISIBLE_DEVICES lists them, LOCAL_RANK is 0 and "
               "LOCAL_WORLD_SIZE is 1, as if each rank had a machine of its "
               "own. Ranks on MIG devices always see only their own.",
        .fallback = "node",
        .example = "rank",
    },
    {
        .name = "nodes",
        .type = SCHEMA_INT,
        .min = 1,
        .max = NODES_MAX,
        .doc = "For slurm: nodes that a trial uses. Ranks, GPUs and CPUs "
               "are divided evenly among them.",
        .fallback = "1",
        .example = "2",
    },
    {
        .name = "tasks",
        .type = SCHEMA_INT,
        .min = 1,
        .max = RANK_GROUP_MAX,
        .doc = "Ranks of a trial, a multiple of its nodes. Its command starts "
               "once per rank, with "
               "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT "
               "in the environment, like with smtune launch. The ranks "
               "share the resources of the trial. Only rank 0 reports "
               "metrics; the output of the others is in rank-N.log beside "
               "the log.",
        .fallback = "1 a node",
        .example = "4",
    },
    {
        .name = "memory",
        .known_as = "mem ram",
        .type = SCHEMA_BYTES,
        .min = MEMORY_MIN,
        .max = BYTES_MAX,
        .doc = "Memory of a trial with all its processes, on each of its "
               "nodes, at least 16M. A number without a unit is in bytes. A "
               "trial that uses more is killed, with the cause oom.",
        .fallback = "no limit; with slurm the default of the cluster",
        .example = "1G",
    },
    {
        .name = "time",
        .known_as = "timeout walltime runtime",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = TIME_MAX,
        .doc = "Time for one attempt of a trial. An attempt that takes "
               "longer is killed, with the cause timeout.",
        .fallback = "no limit; with slurm `executor.time`",
        .example = "10m",
    },
    {
        .name = "grace",
        .type = SCHEMA_DURATION,
        .min = 0,
        .max = DAY_S,
        .doc = "Time between SIGTERM and SIGKILL when a trial is stopped.",
        .fallback = "30s",
        .example = "2m",
    },
    SLURM_ASK_KEYS("the executor's", "the executor's"),
    {.name = NULL},
};
