/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/executor.h"
#include "orchestrator/spec/workflow_impl.h"

/* The keys of one step. */

static const char *const distributions[] = {"replicated", "sharded", NULL};
static const char *const growths[] = {"linear", "sqrt", NULL};

static const struct schema_key text_element = {
    .name = "text",
    .type = SCHEMA_TEXT,
    .min = 1,
};

static const struct schema_key value_element = {
    .name = "value",
    .type = SCHEMA_SCALAR,
};

static const struct schema_key number_element = {
    .name = "number",
    .type = SCHEMA_NUMBER,
};

static const struct schema_key regex_element = {
    .name = "metric",
    .type = SCHEMA_TEXT | SCHEMA_NULL,
};

static const struct schema_key axis_keys[] = {
    {
        .name = "glob",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "The paths that match a pattern, when the step begins, in the "
               "order of their bytes. A relative one starts at the file's own "
               "folder.",
        .example = "\"data/*.csv\"",
    },
    {
        .name = "range",
        .type = SCHEMA_LIST,
        .element = &number_element,
        .doc = "[FROM, TO] or [FROM, TO, STEP]: numbers, both ends included.",
        .example = "[0, 9]",
    },
    {.name = NULL},
};

static const struct schema_key axis_element = {
    .name = "axis",
    .type = SCHEMA_LIST | SCHEMA_TEXT | SCHEMA_MAP,
    .keys = axis_keys,
    .element = &value_element,
};

static const struct schema_key output_keys[] = {
    {
        .name = "value",
        .type = SCHEMA_TEXT,
        .min = 1,
        .required = true,
        .doc = "A file of key=value lines or one JSON object, which the step "
               "writes.",
        .example = "out/metrics.json",
    },
    {
        .name = "key",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "The key in it; a.b goes into objects.",
        .fallback = "the output's name",
        .example = "test.accuracy",
    },
    {.name = NULL},
};

static const struct schema_key output_element = {
    .name = "output",
    .type = SCHEMA_TEXT | SCHEMA_MAP | SCHEMA_NULL,
    .min = 1,
    .keys = output_keys,
};

static const struct schema_key channel_keys[] = {
    {
        .name = "path",
        .type = SCHEMA_TEXT,
        .min = 1,
        .required = true,
        .doc = "The folder.",
        .example = "data/train",
    },
    {
        .name = "distribution",
        .type = SCHEMA_TEXT,
        .choices = distributions,
        .doc = "Whether each copy of the step sees all files, or its share of "
               "them: every n-th by name, of n copies.",
        .fallback = "replicated",
        .example = "sharded",
    },
    {.name = NULL},
};

static const struct schema_key channel_element = {
    .name = "channel",
    .type = SCHEMA_MAP,
    .keys = channel_keys,
    .shorthand = "path",
};

static const struct schema_key round_value_keys[] = {
    {
        .name = "first",
        .type = SCHEMA_SCALAR,
        .required = true,
        .doc = "The value in the first round.",
        .example = "32",
    },
    {
        .name = "next",
        .type = SCHEMA_SCALAR,
        .doc = "An expression for the next round's value, over this round's "
               "values and results.",
        .example = "batch * 2",
    },
    {
        .name = "scales_with",
        .type = SCHEMA_TEXT,
        .doc = "In place of `next`: the value whose growth this one follows.",
        .example = "batch",
    },
    {
        .name = "by",
        .type = SCHEMA_TEXT,
        .choices = growths,
        .doc = "How it follows: with the other's growth, or with the square "
               "root of it.",
        .fallback = "linear",
        .example = "sqrt",
    },
    {.name = NULL},
};

static const struct schema_key round_value_element = {
    .name = "value",
    .type = SCHEMA_MAP,
    .keys = round_value_keys,
};

static const struct schema_key repeat_keys[] = {
    {
        .name = "max",
        .type = SCHEMA_INT,
        .required = true,
        .min = 1,
        .max = 1e6,
        .doc = "The most rounds.",
        .example = "10",
    },
    {
        .name = "until",
        .type = SCHEMA_SCALAR,
        .doc = "An expression, asked after each round. It may read what the "
               "round gave behind the step's own name.",
        .fallback = "all rounds",
        .example = "\"train.loss < 0.1\"",
    },
    {
        .name = "values",
        .type = SCHEMA_MAP,
        .element = &round_value_element,
        .doc = "Values by name that change from round to round.",
        .fallback = "none",
        .example = "{batch: {first: 32, next: batch * 2}}",
    },
    {.name = NULL},
};

static const struct schema_key continue_keys[] = {
    {
        .name = "total",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 3650 * DAY_S,
        .doc = "Time for all links together.",
        .fallback = "no limit",
        .example = "28d",
    },
    {
        .name = "signal",
        .type = SCHEMA_TEXT,
        .doc = "SIGNAL@TIME: a signal that a link gets so long before its "
               "time limit, to write a checkpoint.",
        .fallback = "none",
        .example = "USR2@120",
    },
    {
        .name = "max",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 10000,
        .doc = "The most links behind the first.",
        .fallback = "100",
        .example = "60",
    },
    {
        .name = "ahead",
        .type = SCHEMA_INT,
        .min = 0,
        .max = LINKS_AHEAD_MAX,
        .doc = "On Slurm: so many links are queued behind each one, so that "
               "the chain goes on while smtune is not there.",
        .fallback = "1",
        .example = "2",
    },
    {.name = NULL},
};

static const struct schema_key cache_keys[] = {
    {
        .name = "inputs",
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .min = 1,
        .element = &text_element,
        .doc = "Files, folders or patterns whose content the result hangs on.",
        .fallback = "none",
        .example = "[prepare.py, \"data/*.csv\"]",
    },
    {
        .name = "env",
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .element = &text_element,
        .doc = "Environment variables that it hangs on.",
        .fallback = "none",
        .example = "[CUDA_VERSION]",
    },
    {
        .name = "expire",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 3650 * DAY_S,
        .doc = "How long a result is good.",
        .fallback = "as long as it is there",
        .example = "30d",
    },
    {.name = NULL},
};

const struct schema_key workflow_step_keys[] = {
    {
        .name = "name",
        .type = SCHEMA_TEXT,
        .doc = "The step's name, where `steps` is a list.",
        .example = "train",
    },
    {
        .name = "needs",
        .known_as = "depends_on depends after requires",
        .type = SCHEMA_TEXT | SCHEMA_LIST,
        .element = &text_element,
        .doc = "The steps that have to be over before this one starts, one or "
               "many.",
        .fallback = "none; in a list, what stands before",
        .example = "[prepare, tune]",
    },
    {
        .name = "when",
        .type = SCHEMA_TEXT,
        .choices = flow_when_names,
        .doc = "How those have to have ended; else the step is skipped. "
               "all_success: all well; all_done: each well or badly, none "
               "skipped; any_failed: one badly, or skipped because one before "
               "it had; always: no matter how.",
        .fallback = "all_success",
        .example = "any_failed",
    },
    {
        .name = "if",
        .known_as = "condition",
        .type = SCHEMA_SCALAR,
        .doc = "An expression; where it is not true, the step is skipped, and "
               "those that need it by name. One that reads the matrix is "
               "asked for each copy.",
        .fallback = "no condition",
        .example = "\"train.val_loss < 0.3\"",
    },
    {
        .name = "command",
        .known_as = "run cmd program script",
        .type = SCHEMA_TEXT | SCHEMA_LIST,
        .element = &value_element,
        .doc = "A command, with ${{ }} templates. It is split into words "
               "before they are filled in, and no shell sees it: a value is "
               "never more than one word. A list holds words that are split "
               "already.",
        .example = "./train --epochs ${{ epochs }}",
    },
    {
        .name = "shell",
        .type = SCHEMA_TEXT,
        .doc = "In place of `command`: a script for /bin/sh, in which each "
               "template becomes one quoted word.",
        .example = "./prepare.sh ${{ part }} | gzip >part.gz",
    },
    {
        .name = "experiment",
        .type = SCHEMA_TEXT,
        .doc = "In place of `command`: an experiment's file, which is run "
               "below this run.",
        .example = "tune.yaml",
    },
    {
        .name = "workflow",
        .type = SCHEMA_TEXT,
        .doc = "In place of `command`: another workflow's file, which is run "
               "below this run.",
        .example = "evaluate.yaml",
    },
    {
        .name = "fail",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "In place of `command`: the step fails, with this message.",
        .example = "the loss is ${{ train.loss }}, too high",
    },
    {
        .name = "with",
        .known_as = "params parameters",
        .type = SCHEMA_MAP,
        .element = &value_element,
        .doc = "For `experiment` and `workflow`: what is changed in the file, "
               "by key as for --set, such as budget.trials; a bare name is "
               "one of its params or parameters.",
        .fallback = "nothing",
        .example = "{epochs: \"${{ epochs }}\"}",
    },
    {
        .name = "matrix",
        .type = SCHEMA_MAP,
        .element = &axis_element,
        .doc = "Makes a copy of the step for each setting of its axes, the "
               "last axis the fastest. An axis is a list of values, an "
               "expression in ${{ }} that gives a JSON list, a glob or a "
               "range.",
        .fallback = "one copy",
        .example = "{model: [small, large], seed: {range: [1, 3]}}",
    },
    {
        .name = "copies",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1000,
        .doc = "Makes so many copies, the hosts of one job: SM_HOSTS, "
               "SM_CURRENT_HOST and resourceconfig.json name them algo-1, "
               "algo-2 and so on.",
        .fallback = "1",
        .example = "4",
    },
    {
        .name = "success_if",
        .type = SCHEMA_NUMBER,
        .min = 0,
        .max = 1e6,
        .doc = "How many copies have to end well for the step to: a number, "
               "or below 1 a share of all.",
        .fallback = "all",
        .example = "0.9",
    },
    {
        .name = "outputs",
        .known_as = "output",
        .type = SCHEMA_MAP,
        .element = &output_element,
        .doc = "What the step makes, by name; later steps read it as "
               "STEP.NAME. A path: a file or folder that has to be there in "
               "the end; its absolute path is the value. {value: FILE, key: "
               "K}: what the file says. Nothing: a key of the file "
               "$SMTUNE_OUTPUTS, in which the step writes key=value lines or "
               "one JSON object.",
        .fallback = "none",
        .example = "{data: out/data, rows: {value: out/stats.json}}",
    },
    {
        .name = "continue",
        .type = SCHEMA_MAP,
        .keys = continue_keys,
        .doc = "The step is longer than its time limit: when that is reached "
               "it is started again at once, as long as its checkpoint has "
               "moved on.",
        .fallback = "it is not",
        .example = "{total: 28d, signal: USR2@120}",
    },
    {
        .name = "repeat",
        .type = SCHEMA_MAP,
        .keys = repeat_keys,
        .doc = "The step is done in rounds, each with the checkpoints of the "
               "one before.",
        .fallback = "one round",
        .example = "{max: 10, until: \"train.loss < 0.1\"}",
    },
    /* Those that `defaults` may have as well. */
    [WORKFLOW_FIRST_DEFAULT] =
        {
            .name = "metrics",
            .type = SCHEMA_MAP | SCHEMA_LIST,
            .element = &regex_element,
            .doc = "The metrics that later steps may read as STEP.NAME: "
                   "names, or names with a PCRE2 regex each, as in "
                   "smtune-experiment(5).",
            .fallback = "every NAME=NUMBER is kept, and no step reads it",
            .example = "[loss, accuracy]",
        },
    {
        .name = "env",
        .known_as = "environment",
        .type = SCHEMA_MAP,
        .element = &value_element,
        .doc = "Environment variables; their values may hold templates.",
        .fallback = "those of smtune itself, and SMTUNE_* and SM_*",
        .example = "{OMP_NUM_THREADS: 1}",
    },
    {
        .name = "channels",
        .type = SCHEMA_MAP,
        .element = &channel_element,
        .doc = "Folders of data by name, as SM_CHANNEL_NAME in the "
               "environment. Their paths may hold templates; relative ones "
               "start at the file's own folder.",
        .fallback = "none",
        .example = "{train: {path: data/train, distribution: sharded}}",
    },
    {
        .name = "resources",
        .type = SCHEMA_MAP,
        .keys = experiment_resource_keys,
        .doc = "What each copy takes, and its limits.",
        .example = "{cpus: 1, memory: 1G, time: 10m}",
    },
    {
        .name = "timeout",
        .type = SCHEMA_DURATION,
        .min = 0.001,
        .max = 3650 * DAY_S,
        .doc = "Short for `resources.time`.",
        .example = "2h",
    },
    {
        .name = "pool",
        .type = SCHEMA_TEXT,
        .doc = "Takes 1 from a pool.",
        .example = "gpu",
    },
    {
        .name = "pools",
        .type = SCHEMA_MAP | SCHEMA_TEXT,
        .element = &experiment_claim_element,
        .doc = "What each copy takes from pools.",
        .fallback = "nothing",
        .example = "{gpu: 2}",
    },
    {
        .name = "executor",
        .type = SCHEMA_TEXT,
        .names = executor_names,
        .doc = "Where the step runs.",
        .fallback = "the workflow's",
        .example = "local",
    },
    {
        .name = "retry",
        .known_as = "retries max_retries",
        .type = SCHEMA_LIST,
        .element = &experiment_retry_element,
        .doc = "When a copy that failed is started again. The first rule that "
               "matches holds, and each counts for itself. [] is never, "
               "whatever `defaults` say.",
        .fallback = "after all rules: node_fail, preempted, lost and exit:75 "
                    "are retried 3 times, a second later",
        .example = "[{match: oom, max: 2, scale: {memory: 2}}]",
    },
    {
        .name = "checkpoints",
        .type = SCHEMA_BOOL,
        .doc = "Whether a copy that is started again goes on where it was, "
               "from a checkpoint in its checkpoint directory.",
        .fallback = "whether it uses checkpoint_dir or SMTUNE_CHECKPOINT_DIR, "
                    "or smtrain runs",
        .example = "true",
    },
    {
        .name = "cache",
        .type = SCHEMA_BOOL | SCHEMA_MAP,
        .keys = cache_keys,
        .doc = "Whether the result of an earlier run is taken where command, "
               "parameters and what is named here are the same.",
        .fallback = "false",
        .example = "{inputs: [prepare.py]}",
    },
    {
        .name = "parallel",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1e6,
        .doc = "How many of its copies run at once.",
        .fallback = "no limit of its own",
        .example = "2",
    },
    {
        .name = "fail_fast",
        .type = SCHEMA_BOOL,
        .doc = "Whether no further copy starts once too many have failed for "
               "the step to succeed. Those that run go on in any case.",
        .fallback = "true",
        .example = "false",
    },
    {
        .name = "may_fail",
        .known_as = "allow_failure continue_on_error",
        .type = SCHEMA_BOOL,
        .doc = "Whether the run may end well though the step failed.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "priority",
        .type = SCHEMA_INT,
        .min = -1e6,
        .max = 1e6,
        .doc = "Of all jobs that could start, those of the highest priority "
               "do first.",
        .fallback = "0",
        .example = "10",
    },
    {.name = NULL},
};
