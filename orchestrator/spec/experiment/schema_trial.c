/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/experiment_impl.h"

/* The key `trial` of the experiment file. */

static const char *const jitters[] = {"none", "full", NULL};

static const struct schema_key value_element = {
    .name = "value",
    .type = SCHEMA_SCALAR,
};

static const struct schema_key text_element = {
    .name = "text",
    .type = SCHEMA_TEXT,
};

static const struct schema_key regex_element = {
    .name = "metric",
    .type = SCHEMA_TEXT | SCHEMA_NULL,
};

static const struct schema_key variable_element = {
    .name = "variable",
    .type = SCHEMA_SCALAR,
};

const struct schema_key experiment_variable_name = {
    .name = "variable",
    .type = SCHEMA_TEXT,
    .min = 1,
};

static const struct schema_key channel_element = {
    .name = "channel",
    .type = SCHEMA_TEXT,
    .min = 1,
};

static const struct schema_key scale_keys[] = {
    {
        .name = "cpus",
        .type = SCHEMA_NUMBER,
        .min = 1,
        .max = 1000,
        .doc = "For `resources.cpus`, rounded up, with slurm to what the ranks "
               "of the trial can share evenly, and never more than the machine "
               "has.",
        .example = "2",
    },
    {
        .name = "gpus",
        .type = SCHEMA_NUMBER,
        .min = 1,
        .max = 1000,
        .doc = "For `resources.gpus`, rounded up to what the nodes and ranks "
               "of the trial can share evenly, and never more than the "
               "machine has.",
        .example = "2",
    },
    {
        .name = "memory",
        .type = SCHEMA_NUMBER,
        .min = 1,
        .max = 1000,
        .doc = "For `resources.memory`.",
        .example = "1.5",
    },
    {
        .name = "time",
        .type = SCHEMA_NUMBER,
        .min = 1,
        .max = 1000,
        .doc = "For `resources.time`.",
        .example = "2",
    },
    {.name = NULL},
};

static const struct schema_key cap_keys[] = {
    {
        .name = "cpus",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 4096,
        .doc = "The largest number of CPU slots of an attempt.",
        .fallback = "all of the machine",
        .example = "8",
    },
    {
        .name = "gpus",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1024,
        .doc = "The largest number of GPUs of an attempt.",
        .fallback = "all of the machine",
        .example = "4",
    },
    {
        .name = "memory",
        .type = SCHEMA_BYTES,
        .min = MEMORY_MIN,
        .max = BYTES_MAX,
        .doc = "The largest memory of an attempt.",
        .fallback = "no limit",
        .example = "256G",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = 3650 * DAY_S,
        .doc = "The longest time of an attempt.",
        .fallback = "no limit",
        .example = "24h",
    },
    {.name = NULL},
};

static const struct schema_key retry_keys[] = {
    {
        .name = "match",
        .known_as = "on cause causes",
        .type = SCHEMA_TEXT | SCHEMA_LIST,
        .required = true,
        .element = &text_element,
        .doc = "The failures that the rule matches, one or many: causes "
               "(exit, signal, timeout, oom, node_fail, preempted, "
               "launch_error, lost, cancelled, no_metric, no_output, "
               "setup_failed), exit statuses (exit:75, exit:1-10), signals "
               "that smtune did not send (signal:SEGV, signal:11; a shell "
               "makes exit status 128 + N of its command's signal N), and "
               "PCRE2 regexes for the last 256 KiB of the log of a failed "
               "trial (log:NCCL.*timeout).",
        .example = "[oom, \"exit:75\", \"log:NCCL.*timeout\"]",
    },
    {
        .name = "max",
        .known_as = "attempts retries",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1000,
        .doc = "The number of retries of a trial by this rule.",
        .fallback = "1",
        .example = "3",
    },
    {
        .name = "delay",
        .type = SCHEMA_DURATION,
        .min = 0,
        .max = 30 * DAY_S,
        .doc = "The wait before the first retry.",
        .fallback = "0",
        .example = "5s",
    },
    {
        .name = "backoff",
        .type = SCHEMA_NUMBER,
        .min = 1,
        .max = 1000,
        .doc = "The factor between two waits.",
        .fallback = "1",
        .example = "2",
    },
    {
        .name = "max_delay",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = 30 * DAY_S,
        .doc = "The longest wait.",
        .fallback = "no limit",
        .example = "5m",
    },
    {
        .name = "jitter",
        .type = SCHEMA_TEXT,
        .choices = jitters,
        .doc = "full: each wait is a random share of its length, so "
               "trials that failed together do not restart together.",
        .fallback = "none",
        .example = "full",
    },
    {
        .name = "exclude_node",
        .type = SCHEMA_BOOL,
        .doc = "On a cluster: the retry excludes the node on which the "
               "trial failed. All trials exclude a crashed node for an "
               "hour.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "scale",
        .type = SCHEMA_MAP,
        .keys = scale_keys,
        .doc = "Factors for the `resources` of the trial at each retry of "
               "the rule. A trial reads its resources from SMTUNE_CPUS, "
               "SMTUNE_GPUS, SMTUNE_MEMORY_BYTES and SMTUNE_TIME_MS.",
        .fallback = "no change",
        .example = "{memory: 1.5, time: 2}",
    },
    {
        .name = "cap",
        .type = SCHEMA_MAP,
        .keys = cap_keys,
        .doc = "The upper limits of `scale`.",
        .fallback = "only the limits of the machine",
        .example = "{memory: 256G}",
    },
    {.name = NULL},
};

const struct schema_key experiment_retry_element = {
    .name = "rule",
    .type = SCHEMA_MAP,
    .keys = retry_keys,
};

const struct schema_key experiment_claim_element = {
    .name = "pool",
    .type = SCHEMA_INT,
    .min = 1,
    .max = POOL_SIZE_MAX,
};

static const struct schema_key file_keys[] = {
    {
        .name = "path",
        .type = SCHEMA_TEXT,
        .min = 1,
        .required = true,
        .doc = "The path of the file, relative to the folder of the trial "
               "(${{ dir }}); it may hold templates.",
        .example = "config.yaml",
    },
    {
        .name = "from",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "A template file, relative to the folder of this file. In a "
               "YAML or JSON file, a text that is one ${{ }} becomes the "
               "value with its type, other texts are expanded, and a key "
               "whose value is that of an inactive parameter is left out; "
               "YAML without quotes stays as written. A TOML or text file is "
               "expanded as text, so that its comments stay.",
        .fallback = "an empty file",
        .example = "base.yaml",
    },
    {
        .name = "set",
        .type = SCHEMA_ANY_MAP,
        .doc = "Values by key, with a dot between the keys of maps and "
               "before the number of an item of a list, from 0. They may hold "
               "templates, as in a YAML file of `from`. In a TOML file of "
               "`from`, only these values change, and a whole [table] cannot "
               "be set. Not in a text file.",
        .fallback = "none",
        .example = "{model.lr: '${{ lr }}'}",
    },
    {
        .name = "format",
        .type = SCHEMA_TEXT,
        .choices = file_format_names,
        .doc = "The format of the file.",
        .fallback = "by the ending of `path`; text for any other ending",
        .example = "yaml",
    },
    {.name = NULL},
};

static const struct schema_key file_element = {
    .name = "file",
    .type = SCHEMA_MAP,
    .keys = file_keys,
};

const struct schema_key experiment_trial_keys[] = {
    {
        .name = "command",
        .known_as = "run cmd program script",
        .type = SCHEMA_TEXT | SCHEMA_LIST,
        .element = &value_element,
        .doc = "The command of a trial, with ${{ }} templates. It is "
               "split into words before the templates are replaced, and "
               "no shell runs it: a value is never more than one word. A "
               "word whose template is null, as that of an inactive "
               "parameter, is left out; where the template is a name, so "
               "is an option before it. ${{ args }} becomes --NAME VALUE of "
               "all active parameters, and ${{ args(flags) }} the same with "
               "--NAME alone for true and nothing for false. "
               "${{ overrides }} becomes NAME=VALUE, quoted for Hydra. "
               "${{ flag('--NAME', CONDITION) }} is a single flag. A list "
               "contains words that are split already.",
        .example = "smtrain mlp --lr ${{ lr }}",
    },
    {
        .name = "shell",
        .type = SCHEMA_TEXT,
        .doc = "In place of `command`: a script for /bin/sh, in which each "
               "template becomes one quoted word. An argument whose template "
               "is null is left out, and so is a "
               "variable (NAME=${{ x }}). Where a shell needs a word, as "
               "in [ ] or behind >, null becomes ''. Beside `command`: bash "
               "or sh, which runs the command as such a script; bash with "
               "-eo pipefail. A script that begins with #! (as in "
               "#!/usr/bin/env python3) is run by that program, from the file "
               "`command` in the attempt's folder; unless it is a shell, "
               "templates become plain text.",
        .example = "./train.sh ${{ lr }} | tee copy.log",
    },
    {
        .name = "metrics",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_MAP | SCHEMA_LIST,
        .element = &regex_element,
        .doc = "The metrics in the output of a trial: names, or names "
               "with a PCRE2 regex each, whose first group (or the one "
               "named `value`) is the number and a group named `step` the "
               "step. A name without a regex is found as NAME=NUMBER, "
               "NAME: NUMBER, NAME NUMBER, in JSON lines (a nested number "
               "is OUTER/INNER) and as a column of a table. Case and "
               "separators may differ: Val loss is val_loss. A line that "
               "begins with [rank N], as from smtune launch, is ignored "
               "unless N is 0.",
        .fallback = "every NAME=NUMBER and NAME: NUMBER, and the numbers of "
                    "JSON lines; for the objective and constraints also the "
                    "other forms",
        .example = "{val_error: 'val_error=([0-9.]+)'}",
    },
    EXPERIMENT_KEY_WORKDIR,
    EXPERIMENT_KEY_SETUP,
    EXPERIMENT_KEY_CONTAINER,
    EXPERIMENT_KEY_CONDA,
    {
        .name = "env",
        .secrecy = SECRECY_SECRET,
        .known_as = "environment",
        .type = SCHEMA_MAP,
        .element = &variable_element,
        .doc = "Environment variables of a trial; their values may hold "
               "templates. A variable whose template is null is not set. "
               "smtune masks the values wherever it shows the file; the "
               "record has them.",
        .fallback = "those of smtune itself, and SMTUNE_* and SM_*",
        .example = "{OMP_NUM_THREADS: 1}",
    },
    EXPERIMENT_KEY_ENV_FROM,
    EXPERIMENT_KEY_ENV_FILE,
    {
        .name = "files",
        .type = SCHEMA_LIST,
        .element = &file_element,
        .doc = "Files that each attempt of a trial finds in its folder, with "
               "the values of the trial.",
        .fallback = "none",
        .example = "[{path: config.yaml, from: base.yaml, set: {lr: '${{ lr "
                   "}}'}}]",
    },
    {
        .name = "resources",
        .type = SCHEMA_MAP,
        .keys = experiment_resource_keys,
        .doc = "The resources of a trial, and its limits.",
        .example = "{cpus: 1, memory: 1G, time: 10m}",
    },
    {
        .name = "pool",
        .type = SCHEMA_TEXT,
        .doc = "A trial takes 1 from this pool of the workflow that the "
               "experiment is a step of. Without a pool of that name the "
               "key is ignored.",
        .fallback = "none",
        .example = "gpu",
    },
    {
        .name = "pools",
        .type = SCHEMA_MAP,
        .element = &experiment_claim_element,
        .doc = "In place of `pool`: the amount for each pool.",
        .fallback = "none",
        .example = "{gpu: 2}",
    },
    {
        .name = "retry",
        .secrecy = SECRECY_OPEN,
        .known_as = "retries max_retries",
        .type = SCHEMA_LIST,
        .element = &experiment_retry_element,
        .doc = "The retries of a failed trial. The first rule that "
               "matches applies, and each counts by itself. [] disables "
               "retries.",
        .fallback = "after all rules: node_fail, preempted, lost and "
                    "exit:75 are retried 3 times, a second later",
        .example = "[{match: oom, max: 2, scale: {memory: 2}}]",
    },
    {
        .name = "tty",
        .known_as = "pty terminal unbuffered",
        .type = SCHEMA_BOOL,
        .doc = "Whether the output of a trial goes to a pseudo-terminal of "
               "80 columns, without echo. Programs that keep their output "
               "until a block is full (R, Julia, C) then write each line at "
               "once. Python needs no terminal: PYTHONUNBUFFERED=1 is set.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "checkpoints",
        .type = SCHEMA_BOOL,
        .doc = "Whether a retried trial resumes from a checkpoint in its "
               "checkpoint directory.",
        .fallback = "true if `command`, `shell` or `env` use checkpoint_dir or "
                    "SMTUNE_CHECKPOINT_DIR, or smtrain runs",
        .example = "true",
    },
    {
        .name = "channels",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_MAP,
        .element = &channel_element,
        .doc = "Folders of data by name, as SM_CHANNEL_NAME in the "
               "environment. Their paths may hold templates; relative "
               "ones start at the folder of the file.",
        .fallback = "none",
        .example = "{train: data/train}",
    },
    {.name = NULL},
};
