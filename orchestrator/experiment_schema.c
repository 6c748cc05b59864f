/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/executor.h"
#include "orchestrator/experiment_impl.h"
#include "strategies/space.h"
#include "strategies/strategy.h"

/* The experiment file, key by key; what one key cannot know of another is
 * checked where the experiment is put together. */

/* Far beyond what anybody means, and still exact in a double. */
#define COUNT_MAX 1e12
#define DAY_S     86400.0
#define BYTES_MAX 0x1p60

static const char *const goals[] = {"minimize", "maximize", NULL};
static const char *const objective_values[] = {"last", "best", NULL};
static const char *const param_types[] = {"float",   "int",  "categorical",
                                          "ordinal", "bool", NULL};
static const char *const schedules[] = {"none", NULL};
static const char *const jitters[] = {"none", "full", NULL};

static const struct schema_key objective_keys[] = {
    {
        .name = "metric",
        .type = SCHEMA_TEXT,
        .required = true,
        .doc = "The metric that says how good a trial is.",
        .example = "val_error",
    },
    {
        .name = "goal",
        .type = SCHEMA_TEXT,
        .choices = goals,
        .doc = "Whether small or large values are good.",
        .fallback = "minimize",
        .example = "maximize",
    },
    {
        .name = "value",
        .type = SCHEMA_TEXT,
        .choices = objective_values,
        .doc = "Which of the values that a trial reports counts: the last one, "
               "or the best one.",
        .fallback = "last",
        .example = "best",
    },
    {.name = NULL},
};

static const struct schema_key objective_element = {
    .name = "objective",
    .type = SCHEMA_MAP,
    .keys = objective_keys,
    .shorthand = "metric",
};

static const struct schema_key value_element = {
    .name = "value",
    .type = SCHEMA_SCALAR,
};

static const struct schema_key param_keys[] = {
    {
        .name = "type",
        .type = SCHEMA_TEXT,
        .choices = param_types,
        .doc = "float and int have min and max; categorical values have no "
               "order, ordinal ones stand in theirs; bool is false or true. A "
               "constant has none.",
        .example = "float",
    },
    {
        .name = "min",
        .type = SCHEMA_NUMBER,
        .doc = "The smallest value of a float or int.",
        .example = "1e-4",
    },
    {
        .name = "max",
        .type = SCHEMA_NUMBER,
        .doc = "The largest value of a float or int.",
        .example = "1",
    },
    {
        .name = "scale",
        .type = SCHEMA_TEXT,
        .choices = param_scale_names,
        .doc = "On what scale a float or int is searched evenly: log where "
               "its order of magnitude matters (min > 0), reverse_log close "
               "below 1 (such as a momentum; max < 1), logit near both 0 and "
               "1.",
        .fallback = "linear",
        .example = "log",
    },
    {
        .name = "step",
        .type = SCHEMA_NUMBER,
        .doc = "The values of a float or int are min, min + step, and so on "
               "up to max, which must be one of them.",
        .fallback = "1 for int, none for float",
        .example = "8",
    },
    {
        .name = "values",
        .type = SCHEMA_LIST,
        .element = &value_element,
        .doc = "The values of a categorical or ordinal parameter.",
        .example = "[sgd, adam]",
    },
    {
        .name = "value",
        .type = SCHEMA_SCALAR,
        .doc = "Makes the parameter a constant.",
        .example = "128",
    },
    {
        .name = "when",
        .type = SCHEMA_TEXT,
        .doc = "An expression over the other parameters. Where it is not "
               "true, this one is inactive: it has no value, and the option "
               "that would pass it is left out of the command.",
        .fallback = "always active",
        .example = "\"optimizer = 'sgd'\"",
    },
    {.name = NULL},
};

const struct schema_key experiment_param = {
    .name = "parameter",
    .type = SCHEMA_MAP,
    .keys = param_keys,
    .shorthand = "value",
};

static const struct schema_key text_element = {
    .name = "text",
    .type = SCHEMA_TEXT,
};

static const struct schema_key search_keys[] = {
    {
        .name = "method",
        .type = SCHEMA_TEXT,
        .names = strategy_method_names,
        .doc = "How settings are chosen.",
        .fallback = "auto",
        .example = "sobol",
    },
    {
        .name = "seed",
        .type = SCHEMA_INT,
        .min = 0,
        .max = 0x1p53,
        .doc = "The same file and seed give the same settings in the same "
               "order.",
        .fallback = "0",
        .example = "1",
    },
    {
        .name = "points",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1e6,
        .doc = "How many values of a continuous parameter a grid has.",
        .fallback = "5",
        .example = "9",
    },
    {.name = NULL},
};

static const struct schema_key schedule_keys[] = {
    {
        .name = "method",
        .type = SCHEMA_TEXT,
        .choices = schedules,
        .doc = "How trials are stopped early.",
        .fallback = "none",
        .example = "none",
    },
    {.name = NULL},
};

static const struct schema_key budget_keys[] = {
    {
        .name = "trials",
        .type = SCHEMA_INT,
        .min = 1,
        .max = COUNT_MAX,
        .doc = "How many trials at most.",
        .fallback = "50; without limit where `time` is given or the search "
                    "is a grid",
        .example = "60",
    },
    {
        .name = "parallel",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 10000,
        .doc = "How many trials at once.",
        .fallback = "as many as the CPUs suffice for",
        .example = "4",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 3650 * DAY_S,
        .doc = "After this time no trial is started any more.",
        .fallback = "no limit",
        .example = "2h",
    },
    {
        .name = "target",
        .type = SCHEMA_NUMBER,
        .doc = "The run ends when a trial reaches this value.",
        .fallback = "none",
        .example = "0.12",
    },
    {
        .name = "no_improvement",
        .type = SCHEMA_INT,
        .min = 1,
        .max = COUNT_MAX,
        .doc = "The run ends after so many trials in a row without a better "
               "one.",
        .fallback = "no limit",
        .example = "30",
    },
    {.name = NULL},
};

static const struct schema_key regex_element = {
    .name = "metric",
    .type = SCHEMA_TEXT | SCHEMA_NULL,
};

static const struct schema_key variable_element = {
    .name = "variable",
    .type = SCHEMA_SCALAR,
};

static const struct schema_key channel_element = {
    .name = "channel",
    .type = SCHEMA_TEXT,
};

static const struct schema_key resource_keys[] = {
    {
        .name = "cpus",
        .type = SCHEMA_INT,
        .min = 0,
        .max = 4096,
        .doc = "CPU slots that a trial holds, out of those of the machine "
               "that all your runs share; with 0, `budget.parallel` alone "
               "limits how many run.",
        .fallback = "0",
        .example = "2",
    },
    {
        .name = "gpus",
        .type = SCHEMA_INT,
        .min = 0,
        .max = 1024,
        .doc = "GPUs that a trial takes; CUDA_VISIBLE_DEVICES says which.",
        .fallback = "0",
        .example = "1",
    },
    {
        .name = "memory",
        .type = SCHEMA_BYTES,
        .min = 1,
        .max = BYTES_MAX,
        .doc = "Memory of a trial with all its processes. One that takes "
               "more is ended, with the cause oom.",
        .fallback = "no limit",
        .example = "1G",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = 3650 * DAY_S,
        .doc = "Time for one attempt of a trial. One that takes longer is "
               "ended, with the cause timeout.",
        .fallback = "no limit",
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
    {.name = NULL},
};

static const struct schema_key retry_keys[] = {
    {
        .name = "match",
        .type = SCHEMA_TEXT | SCHEMA_LIST,
        .required = true,
        .element = &text_element,
        .doc = "What the rule is for: causes (exit, signal, timeout, oom, "
               "node_fail, preempted, launch_error, lost, no_metric) and exit "
               "statuses (exit:75).",
        .example = "[oom, \"exit:75\"]",
    },
    {
        .name = "max",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1000,
        .doc = "How many retries the rule gives to one trial.",
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
        .doc = "Each further wait is so many times the one before.",
        .fallback = "1",
        .example = "2",
    },
    {
        .name = "max_delay",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = 30 * DAY_S,
        .doc = "No wait is longer.",
        .fallback = "no limit",
        .example = "5m",
    },
    {
        .name = "jitter",
        .type = SCHEMA_TEXT,
        .choices = jitters,
        .doc = "full: each wait is a random share of what it would be, so "
               "that trials that failed together do not return together.",
        .fallback = "none",
        .example = "full",
    },
    {.name = NULL},
};

static const struct schema_key retry_element = {
    .name = "rule",
    .type = SCHEMA_MAP,
    .keys = retry_keys,
};

static const struct schema_key trial_keys[] = {
    {
        .name = "command",
        .type = SCHEMA_TEXT | SCHEMA_LIST,
        .element = &value_element,
        .doc = "The command of a trial, with ${{ }} templates. It is split "
               "into words before they are filled in, and no shell sees it: "
               "a value is never more than one word. A list holds words that "
               "are split already.",
        .example = "smtrain mlp --lr ${{ lr }}",
    },
    {
        .name = "shell",
        .type = SCHEMA_TEXT,
        .doc = "In place of `command`: a script for /bin/sh, in which each "
               "template becomes one quoted word.",
        .example = "./train.sh ${{ lr }} | tee copy.log",
    },
    {
        .name = "metrics",
        .type = SCHEMA_MAP | SCHEMA_LIST,
        .element = &regex_element,
        .doc = "Where metrics are found in what a trial writes: names, or "
               "names with a PCRE2 regex each, whose first group (or the one "
               "named `value`) is the number and a group named `step` the "
               "step. A name without a regex is found as NAME=NUMBER, NAME: "
               "NUMBER and in JSON lines.",
        .fallback = "every NAME=NUMBER and NAME: NUMBER, and the numbers of "
                    "JSON lines",
        .example = "{val_error: 'val_error=([0-9.]+)'}",
    },
    {
        .name = "env",
        .type = SCHEMA_MAP,
        .element = &variable_element,
        .doc = "Environment variables of a trial; their values may hold "
               "templates.",
        .fallback = "those of smtune itself, and SMTUNE_* and SM_*",
        .example = "{OMP_NUM_THREADS: 1}",
    },
    {
        .name = "resources",
        .type = SCHEMA_MAP,
        .keys = resource_keys,
        .doc = "What a trial takes, and its limits.",
        .example = "{cpus: 1, memory: 1G, time: 10m}",
    },
    {
        .name = "retry",
        .type = SCHEMA_LIST,
        .element = &retry_element,
        .doc = "When a trial that failed is started again. The first rule "
               "that matches holds, and each counts for itself.",
        .fallback = "after all rules: node_fail, preempted, lost and "
                    "exit:75 are retried 3 times, a second later",
        .example = "[{match: [oom, \"exit:75\"], max: 3, delay: 5s}]",
    },
    {
        .name = "channels",
        .type = SCHEMA_MAP,
        .element = &channel_element,
        .doc = "Folders of data by name, as SM_CHANNEL_NAME in the "
               "environment. Relative ones start at the file's own folder.",
        .fallback = "none",
        .example = "{train: data/train}",
    },
    {.name = NULL},
};

static const struct schema_key executor_keys[] = {
    {
        .name = "name",
        .type = SCHEMA_TEXT,
        .names = executor_names,
        .doc = "Where trials run: local is this machine; fake runs nothing, "
               "for tests.",
        .fallback = "local",
        .example = "local",
    },
    {
        .name = "cpus",
        .type = SCHEMA_INT | SCHEMA_AUTO,
        .min = 1,
        .max = 4096,
        .doc = "CPUs that trials may take together.",
        .fallback = "auto: all that smtune may use",
        .example = "8",
    },
    {
        .name = "gpus",
        .type = SCHEMA_INT | SCHEMA_AUTO,
        .min = 0,
        .max = 1024,
        .doc = "GPUs that trials may take together.",
        .fallback = "auto: all of the machine",
        .example = "2",
    },
    {
        .name = "script",
        .type = SCHEMA_TEXT,
        .doc = "For the fake executor: a file of JSON lines that say how "
               "attempts end.",
        .fallback = "all end well",
        .example = "outcomes.jsonl",
    },
    {.name = NULL},
};

const struct schema_key experiment_schema[] = {
    {
        .name = "version",
        .type = SCHEMA_INT,
        .required = true,
        .min = 1,
        .max = 1,
        .doc = "The version of this format.",
        .example = "1",
    },
    {
        .name = "name",
        .type = SCHEMA_TEXT,
        .doc = "The name of runs of this experiment.",
        .fallback = "the file's name without .yaml",
        .example = "fashion-mlp",
    },
    {
        .name = "objective",
        .type = SCHEMA_MAP | SCHEMA_LIST,
        .required = true,
        .keys = objective_keys,
        .element = &objective_element,
        .shorthand = "metric",
        .doc = "What a good trial is. A list of them seeks the best "
               "compromises between several.",
        .example = "{metric: val_error, goal: minimize}",
    },
    {
        .name = "parameters",
        .type = SCHEMA_MAP,
        .required = true,
        .element = &experiment_param,
        .doc = "The parameters, by name. A bare value is a constant.",
        .example = "{lr: {type: float, min: 1e-4, max: 1, scale: log}}",
    },
    {
        .name = "constraints",
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .element = &text_element,
        .doc = "Expressions over the parameters, each of which every trial "
               "satisfies. One whose result is null, because a parameter in "
               "it is inactive, is no objection.",
        .fallback = "none",
        .example = "[\"width * batch <= 32768\"]",
    },
    {
        .name = "search",
        .type = SCHEMA_MAP,
        .keys = search_keys,
        .shorthand = "method",
        .doc = "How settings are chosen.",
        .fallback = "auto",
        .example = "{method: sobol, seed: 1}",
    },
    {
        .name = "schedule",
        .type = SCHEMA_MAP,
        .keys = schedule_keys,
        .shorthand = "method",
        .doc = "How trials are stopped early.",
        .fallback = "none",
        .example = "none",
    },
    {
        .name = "budget",
        .type = SCHEMA_MAP,
        .keys = budget_keys,
        .doc = "When the run ends. The first limit that is reached ends it.",
        .fallback = "50 trials",
        .example = "{trials: 60, parallel: 4, time: 2h}",
    },
    {
        .name = "trial",
        .type = SCHEMA_MAP,
        .required = true,
        .keys = trial_keys,
        .doc = "What a trial does: exactly one of `command` and `shell`, and "
               "what belongs to it.",
        .example = "{command: \"./train --lr ${{ lr }}\"}",
    },
    {
        .name = "executor",
        .type = SCHEMA_MAP,
        .keys = executor_keys,
        .shorthand = "name",
        .doc = "Where trials run.",
        .fallback = "local",
        .example = "{name: local, cpus: 8}",
    },
    {.name = NULL},
};
