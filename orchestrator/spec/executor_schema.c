/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/executor.h"
#include "orchestrator/spec/experiment_impl.h"

/* The keys `executor` of both kinds of file, and `resources` of what it is to
 * run; some are keys of both. */

#define TIME_MAX (3650 * DAY_S)

enum { CPUS_MAX = 4096, GPUS_MAX_EACH = 1024, NODES_MAX = 1024 };

static const char *const cgroup_uses[] = {"auto", "off", NULL};
static const char *const modes[] = {"auto", "job", "array", "pilot", NULL};
static const char *const environments[] = {"inherit", "none", NULL};
static const char *const transports[] = {"commands", "rest", NULL};

static const struct schema_key option_element = {
    .name = "option",
    .type = SCHEMA_TEXT,
};

static const struct schema_key line_element = {
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

#define MODE_KEY(otherwise)                                                    \
    {                                                                          \
        .name = "mode", .type = SCHEMA_TEXT, .choices = modes,                 \
        .doc = "For slurm: job submits each by itself, array many at once; "   \
               "pilot starts allocations that run many, one after the "        \
               "other. auto chooses by how much one takes, how long it takes " \
               "and how long the queue is, and says why.",                     \
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
        .fallback = "as many as the smallest node of the partition has",
        .example = "16",
    },
    {
        .name = "gpus",
        .type = SCHEMA_INT,
        .min = 0,
        .max = GPUS_MAX_EACH,
        .doc = "GPUs of one pilot.",
        .fallback = "those of a node, where one that is to be run takes any",
        .example = "4",
    },
    {
        .name = "memory",
        .type = SCHEMA_BYTES,
        .min = 1,
        .max = BYTES_MAX,
        .doc = "Memory of one pilot.",
        .fallback = "what Slurm gives for the CPUs",
        .example = "64G",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 60,
        .max = TIME_MAX,
        .doc = "How long one pilot may last. It starts nothing that would "
               "outlast it.",
        .fallback = "the partition's time limit",
        .example = "4h",
    },
    {
        .name = "max",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1000,
        .doc = "How many pilots at once, at most.",
        .fallback = "as many as `parallel` needs",
        .example = "4",
    },
    {
        .name = "idle",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = DAY_S,
        .doc = "A pilot without work ends after this time.",
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
        .doc = "Where trials run: local is this machine; slurm is the cluster "
               "that sbatch submits to; fake runs nothing, for tests. Keys "
               "that are for another executor mean nothing, so that this word "
               "alone moves a file from one to the other.",
        .fallback = "local",
        .example = "slurm",
    },
    {
        .name = "cpus",
        .type = SCHEMA_INT | SCHEMA_AUTO,
        .min = 1,
        .max = CPUS_MAX,
        .doc = "For local: CPUs that trials may take together.",
        .fallback = "auto: all that smtune may use",
        .example = "8",
    },
    {
        .name = "gpus",
        .type = SCHEMA_INT | SCHEMA_AUTO,
        .min = 0,
        .max = GPUS_MAX_EACH,
        .doc = "GPUs that trials may take together; for slurm, GPUs of each "
               "trial that does not say it itself.",
        .fallback = "auto: all of the machine; for slurm none",
        .example = "2",
    },
    {
        .name = "cgroup",
        .type = SCHEMA_TEXT,
        .choices = cgroup_uses,
        .doc = "Whether local trials get control groups where smtune may make "
               "them (`smtune doctor` says so). With auto, the kernel keeps a "
               "trial within `memory`, and within `cpus` where these are asked "
               "for, and ends all that a trial leaves behind. With off, or "
               "where no group can be made, smtune adds up the memory of a "
               "trial's processes every 100 ms, CPUs are not limited, and "
               "what is left behind is found among all processes.",
        .fallback = "auto",
        .example = "off",
    },
    {
        .name = "script",
        .type = SCHEMA_TEXT,
        .doc = "For the fake executor: a file of JSON lines that say how "
               "attempts end.",
        .fallback = "all end well",
        .example = "outcomes.jsonl",
    },
    SLURM_ASK_KEYS("as the cluster has it", "auto"),
    {
        .name = "nodes",
        .type = SCHEMA_INT,
        .min = 1,
        .max = NODES_MAX,
        .doc = "For slurm: nodes of each trial that does not say it itself.",
        .fallback = "1",
        .example = "2",
    },
    {
        .name = "tasks",
        .type = SCHEMA_INT,
        .min = 1,
        .max = RANK_GROUP_MAX,
        .doc = "For slurm: ranks of each trial that does not say it itself.",
        .fallback = "1 a node",
        .example = "8",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = TIME_MAX,
        .doc = "For slurm: time for an attempt of each trial that does not "
               "say it itself.",
        .fallback = "the partition's time limit",
        .example = "2h",
    },
    {
        .name = "setup",
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .element = &line_element,
        .doc = "For slurm: lines of shell that a job begins with, such as "
               "`module load`.",
        .fallback = "none",
        .example = "[module load cuda, source ~/venv/bin/activate]",
    },
    {
        .name = "health",
        .type = SCHEMA_TEXT,
        .doc = "For slurm: a shell command that must end with status 0 on a "
               "node before the first trial starts there, and again after one "
               "has failed there. Where it does not, the trial starts "
               "elsewhere and the node is kept away from.",
        .fallback = "smtune's own check of the disk, the memory and the GPUs "
                    "alone",
        .example = "nvidia-smi",
    },
    {
        .name = "environment",
        .type = SCHEMA_TEXT,
        .choices = environments,
        .doc = "For slurm: whether trials inherit the environment in which "
               "smtune runs. With none they have what Slurm and `setup` give "
               "them, besides their own.",
        .fallback = "inherit",
        .example = "none",
    },
    {
        .name = "heartbeat",
        .type = SCHEMA_DURATION,
        .min = 0.1,
        .max = 3600,
        .doc = "For slurm: how often what runs on a node gives a sign of "
               "life, in a file.",
        .fallback = "10s",
        .example = "30s",
    },
    {
        .name = "silence",
        .type = SCHEMA_DURATION,
        .min = 0.2,
        .max = DAY_S,
        .doc = "For slurm: without a sign of life for so long a node counts "
               "as dead, and what ran there starts elsewhere.",
        .fallback = "60s",
        .example = "5m",
    },
    {
        .name = "poll",
        .type = SCHEMA_DURATION,
        .min = 0.1,
        .max = 3600,
        .doc = "For slurm: the least time between two looks at the queue. "
               "While nothing changes they become rarer, up to a minute.",
        .fallback = "5s",
        .example = "15s",
    },
    {
        .name = "transport",
        .type = SCHEMA_TEXT,
        .choices = transports,
        .doc = "For slurm: commands uses sbatch, squeue, sacct and scancel; "
               "rest asks slurmrestd at `url`, with the token in SLURM_JWT "
               "where that is set.",
        .fallback = "commands",
        .example = "rest",
    },
    {
        .name = "url",
        .type = SCHEMA_TEXT,
        .doc = "For slurm with transport rest: where slurmrestd listens.",
        .example = "\"unix:/run/slurmrestd.sock\"",
    },
    {
        .name = "pilot",
        .type = SCHEMA_MAP,
        .keys = pilot_keys,
        .doc = "For slurm: how large pilots are, and how many.",
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
        .doc = "CPU slots that a trial holds, out of those of the machine "
               "that all your runs share; with 0, `budget.parallel` alone "
               "limits how many run. With a control group "
               "(`executor.cgroup`) a trial gets no more CPU time than that, "
               "so tell a program that starts a thread for each CPU of the "
               "machine how many it has, by OMP_NUM_THREADS for example. With "
               "slurm, the CPUs of its job, all nodes and tasks together.",
        .fallback = "0; with slurm what the cluster gives",
        .example = "2",
    },
    {
        .name = "gpus",
        .known_as = "gpu",
        .type = SCHEMA_INT,
        .min = 0,
        .max = GPUS_MAX_EACH,
        .doc = "GPUs that a trial takes; CUDA_VISIBLE_DEVICES says which. With "
               "slurm, those of all its nodes together.",
        .fallback = "0",
        .example = "1",
    },
    {
        .name = "nodes",
        .type = SCHEMA_INT,
        .min = 1,
        .max = NODES_MAX,
        .doc = "For slurm: nodes that a trial takes. The ranks are spread over "
               "them.",
        .fallback = "1",
        .example = "2",
    },
    {
        .name = "tasks",
        .type = SCHEMA_INT,
        .min = 1,
        .max = RANK_GROUP_MAX,
        .doc = "Ranks that a trial's command is started as, all at once, with "
               "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT in "
               "their environment, as by smtune launch. They share what the "
               "trial takes. Metrics are those of rank 0; what the others "
               "write is in rank-N.log beside the log.",
        .fallback = "1 a node",
        .example = "4",
    },
    {
        .name = "memory",
        .known_as = "mem ram",
        .type = SCHEMA_BYTES,
        .min = 1,
        .max = BYTES_MAX,
        .doc = "Memory of a trial with all its processes, on each of its "
               "nodes. One that takes more is ended, with the cause oom.",
        .fallback = "no limit; with slurm what the cluster gives",
        .example = "1G",
    },
    {
        .name = "time",
        .known_as = "timeout walltime runtime",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = TIME_MAX,
        .doc = "Time for one attempt of a trial. One that takes longer is "
               "ended, with the cause timeout.",
        .fallback = "no limit; with slurm `executor.time`",
        .example = "10m",
    },
    {
        .name = "grace",
        .type = SCHEMA_DURATION,
        .min = 0,
        .max = DAY_S,
        .doc = "Time between SIGTERM and SIGKILL when a trial is ended.",
        .fallback = "30s",
        .example = "2m",
    },
    SLURM_ASK_KEYS("the executor's", "the executor's"),
    {.name = NULL},
};
