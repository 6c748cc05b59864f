/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/executor.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/* The keys of one step. */

static const char *const distributions[] = {"replicated", "sharded", NULL};
static const char *const growths[] = {"linear", "sqrt", NULL};

static const char *const fail_fast_words[] = {"kill", NULL};

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
        .doc = "The paths that match a pattern when the step starts, in "
               "the order of their bytes. A relative one starts at the "
               "folder of the file.",
        .example = "\"data/*.csv\"",
    },
    {
        .name = "lines",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "The lines of a file when the step starts, without blank ones, "
               "as texts. If its name ends in .jsonl, each line is a JSON "
               "value; field(AXIS, 'KEY') is a value of an object. A relative "
               "path starts at the folder of the file.",
        .example = "samples.txt",
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
        .name = "path",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "A file or folder that must exist at the end.",
        .example = "out/data",
    },
    {
        .name = "temp",
        .type = SCHEMA_BOOL,
        .doc = "Whether smtune removes the path once no step needs it any "
               "more: each step that needs this one or reads its outputs has "
               "succeeded or was left out, and no retry can start one again. "
               "A cache hit may lack it as long as none of these steps runs.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "value",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "A file of key=value lines or one JSON object that the "
               "step writes.",
        .example = "out/metrics.json",
    },
    {
        .name = "key",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "The key in the file; a.b is key b of object a.",
        .fallback = "the name of the output",
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
        .doc = "An expression for the value of the next round, over the "
               "values and results of this round.",
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
        .doc = "How it follows: by the factor of the other value, or by "
               "its square root.",
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
        .doc = "The largest number of rounds.",
        .example = "10",
    },
    {
        .name = "until",
        .type = SCHEMA_SCALAR,
        .doc = "An expression, evaluated after each round. It may read "
               "the results of the round under the name of the step.",
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

static const struct schema_key exit_element = {
    .name = "status",
    .type = SCHEMA_INT,
    .min = 0,
    .max = 255,
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
        .doc = "SIGNAL@TIME: a signal to a link this long before its time "
               "limit, to write a checkpoint.",
        .fallback = "none",
        .example = "USR2@120",
    },
    {
        .name = "on",
        .type = SCHEMA_INT | SCHEMA_LIST,
        .min = 0,
        .max = 255,
        .element = &exit_element,
        .doc = "Exit statuses after the signal that continue the chain. With "
               "0, the step has succeeded when it exits with 0 before the "
               "signal.",
        .fallback = "every status but 0, and the end by a signal",
        .example = "[0, 85]",
    },
    {
        .name = "max",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 10000,
        .doc = "The largest number of links after the first.",
        .fallback = "100",
        .example = "60",
    },
    {
        .name = "ahead",
        .type = SCHEMA_INT,
        .min = 0,
        .max = LINKS_AHEAD_MAX,
        .doc = "On Slurm: the number of links queued behind each one, so "
               "that the chain continues while smtune does not run.",
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
        .doc = "Files, folders or patterns whose content the result "
               "depends on.",
        .fallback = "none",
        .example = "[prepare.py, \"data/*.csv\"]",
    },
    {
        .name = "env",
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .element = &text_element,
        .doc = "Environment variables that it depends on.",
        .fallback = "none",
        .example = "[CUDA_VERSION]",
    },
    {
        .name = "expire",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 3650 * DAY_S,
        .doc = "How long a result is valid.",
        .fallback = "as long as it exists",
        .example = "30d",
    },
    {.name = NULL},
};

const struct schema_key workflow_step_keys[] = {
    {
        .name = "name",
        .type = SCHEMA_TEXT,
        .doc = "The name of the step, if `steps` is a list.",
        .example = "train",
    },
    {
        .name = "needs",
        .known_as = "depends_on depends after requires",
        .type = SCHEMA_TEXT | SCHEMA_LIST,
        .element = &text_element,
        .doc = "The steps that must end before this one starts, one or "
               "many.",
        .fallback = "none; in a list, the item before",
        .example = "[prepare, tune]",
    },
    {
        .name = "when",
        .type = SCHEMA_TEXT,
        .choices = flow_when_names,
        .doc = "The required end of those steps; otherwise the step is "
               "skipped. all_success: all succeeded, or failed with "
               "may_fail and made what this step reads; all_done: all "
               "succeeded or failed, none was skipped; any_failed: one "
               "failed, or was skipped because one before it had; always: "
               "any end.",
        .fallback = "all_success",
        .example = "any_failed",
    },
    {
        .name = "if",
        .secrecy = SECRECY_OPEN,
        .known_as = "condition",
        .type = SCHEMA_SCALAR,
        .doc = "An expression; if it is false, the step is skipped, and "
               "those that need it by name. One that reads the matrix is "
               "evaluated for each copy.",
        .fallback = "no condition",
        .example = "\"train.val_loss < 0.3\"",
    },
    {
        .name = "command",
        .known_as = "run cmd program script",
        .type = SCHEMA_TEXT | SCHEMA_LIST,
        .element = &value_element,
        .doc = "A command, with ${{ }} templates. It is split into words "
               "before the templates are replaced, and no shell runs it: "
               "a value is never more than one word. A word whose template "
               "is null is left out; where the template is a name, so is "
               "an option before it. ${{ flag('--NAME', CONDITION) }} is a "
               "flag. ${{ files(STEP.NAME) }} is the path of a file that "
               "lists the paths of a list or a pattern, one in a line; "
               "files0() ends each with a NUL. A list contains words that "
               "are split already.",
        .example = "./train --epochs ${{ epochs }}",
    },
    {
        .name = "shell",
        .type = SCHEMA_TEXT,
        .doc = "In place of `command`: a script for /bin/sh, in which each "
               "template becomes one quoted word. An argument or variable "
               "whose template is null is left out. Beside `command`: bash or "
               "sh, which runs the command as such a script; bash with -eo "
               "pipefail. A script that begins with #! (as in "
               "#!/usr/bin/env python3) is run by that program, from the file "
               "`command` in the attempt's folder; unless it is a shell, "
               "templates become plain text.",
        .example = "./prepare.sh ${{ part }} | gzip >part.gz",
    },
    {
        .name = "experiment",
        .type = SCHEMA_TEXT,
        .doc = "In place of `command`: the file of an experiment, which "
               "becomes a child run.",
        .example = "tune.yaml",
    },
    {
        .name = "workflow",
        .type = SCHEMA_TEXT,
        .doc = "In place of `command`: the file of another workflow, "
               "which becomes a child run.",
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
        .doc = "For `experiment` and `workflow`: changes to the file, by "
               "key as for --set, such as budget.trials; a bare name is "
               "one of its params or parameters.",
        .fallback = "nothing",
        .example = "{epochs: \"${{ epochs }}\"}",
    },
    {
        .name = "matrix",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_MAP,
        .element = &axis_element,
        .doc = "Makes a copy of the step for each setting of its axes, "
               "the last axis the fastest. An axis is a list of values, "
               "an expression in ${{ }} with a JSON list as its value, a "
               "glob, the lines of a file or a range.",
        .fallback = "one copy",
        .example = "{model: [small, large], seed: {range: [1, 3]}}",
    },
    {
        .name = "copies",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1000,
        .doc = "Makes this number of copies, the hosts of one job: "
               "SM_HOSTS, SM_CURRENT_HOST and resourceconfig.json name "
               "them algo-1, algo-2 and so on.",
        .fallback = "1",
        .example = "4",
    },
    {
        .name = "success_if",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_NUMBER,
        .min = 0,
        .max = 1e6,
        .doc = "The number of copies that must succeed for the step to "
               "succeed, or below 1 a share of all.",
        .fallback = "all",
        .example = "0.9",
    },
    {
        .name = "outputs",
        .secrecy = SECRECY_OPEN,
        .known_as = "output",
        .type = SCHEMA_MAP,
        .element = &output_element,
        .doc = "The outputs of the step, by name; later steps read them "
               "as STEP.NAME. A path: a file or folder that must exist at "
               "the end; its absolute path is the value. {path: PATH, "
               "temp: true}: one that smtune removes once no step needs it "
               "any more. {value: FILE, "
               "key: K}: the value of the key in the file. Nothing: a key "
               "of the file $SMTUNE_OUTPUTS, in which the step writes "
               "key=value lines or one JSON object. A number in a line keeps "
               "its text; only larger expressions see the number.",
        .fallback = "none",
        .example = "{data: out/data, rows: {value: out/stats.json}}",
    },
    {
        .name = "continue",
        .type = SCHEMA_MAP,
        .keys = continue_keys,
        .doc = "For a step longer than its time limit: when it reaches "
               "the limit it starts again at once, as long as its "
               "checkpoint has advanced.",
        .fallback = "no",
        .example = "{total: 28d, signal: USR2@120}",
    },
    {
        .name = "repeat",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_MAP,
        .keys = repeat_keys,
        .doc = "The step runs in rounds, each with the checkpoints of the "
               "one before.",
        .fallback = "one round",
        .example = "{max: 10, until: \"train.loss < 0.1\"}",
    },
    /* Those that `defaults` may have as well. */
    [WORKFLOW_FIRST_DEFAULT] =
        {
            .name = "metrics",
            .secrecy = SECRECY_OPEN,
            .type = SCHEMA_MAP | SCHEMA_LIST,
            .element = &regex_element,
            .doc = "The metrics that later steps may read as STEP.NAME: "
                   "names, or names with a PCRE2 regex each, as in "
                   "smtune-experiment(5).",
            .fallback = "every NAME=NUMBER is recorded, and no step reads it",
            .example = "[loss, accuracy]",
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
        .element = &value_element,
        .doc = "Environment variables; their values may hold templates. "
               "smtune masks the values wherever it shows the file; the "
               "record has them.",
        .fallback = "those of smtune itself, and SMTUNE_* and SM_*",
        .example = "{OMP_NUM_THREADS: 1}",
    },
    EXPERIMENT_KEY_ENV_FROM,
    EXPERIMENT_KEY_ENV_FILE,
    {
        .name = "channels",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_MAP,
        .element = &channel_element,
        .doc = "Folders of data by name, as SM_CHANNEL_NAME in the "
               "environment. Their paths may hold templates; relative "
               "ones start at the folder of the file.",
        .fallback = "none",
        .example = "{train: {path: data/train, distribution: sharded}}",
    },
    {
        .name = "resources",
        .type = SCHEMA_MAP,
        .keys = experiment_resource_keys,
        .doc = "The resources of each copy, and its limits.",
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
        .doc = "The amount that each copy takes from pools.",
        .fallback = "nothing",
        .example = "{gpu: 2}",
    },
    {
        .name = "executor",
        .type = SCHEMA_TEXT,
        .names = executor_names,
        .doc = "Where the step runs.",
        .fallback = "that of the workflow",
        .example = "local",
    },
    {
        .name = "retry",
        .secrecy = SECRECY_OPEN,
        .known_as = "retries max_retries",
        .type = SCHEMA_LIST,
        .element = &experiment_retry_element,
        .doc = "The retries of a failed copy. The first rule that matches "
               "applies, and each counts by itself. [] disables retries, "
               "and overrides `defaults`.",
        .fallback = "after all rules: node_fail, preempted, lost and exit:75 "
                    "are retried 3 times, a second later",
        .example = "[{match: oom, max: 2, scale: {memory: 2}}]",
    },
    {
        .name = "tty",
        .known_as = "pty terminal unbuffered",
        .type = SCHEMA_BOOL,
        .doc = "Whether the output goes to a pseudo-terminal of 80 columns, "
               "without echo, so that programs write each line at once.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "checkpoints",
        .type = SCHEMA_BOOL,
        .doc = "Whether a retried copy resumes from a checkpoint in its "
               "checkpoint directory.",
        .fallback = "true if it uses checkpoint_dir or SMTUNE_CHECKPOINT_DIR, "
                    "or smtrain runs",
        .example = "true",
    },
    {
        .name = "cache",
        .type = SCHEMA_BOOL | SCHEMA_MAP,
        .keys = cache_keys,
        .doc = "Whether the result of an earlier run is used if command, "
               "parameters and the items listed here are the same; of an "
               "experiment, if its file, with, and these items are.",
        .fallback = "false",
        .example = "{inputs: [prepare.py]}",
    },
    {
        .name = "parallel",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1e6,
        .doc = "The number of its copies that run at the same time.",
        .fallback = "no limit of its own",
        .example = "2",
    },
    {
        .name = "fail_fast",
        .type = SCHEMA_BOOL | SCHEMA_TEXT,
        .choices = fail_fast_words,
        .doc = "Whether no further copy starts after too many have failed "
               "for the step to succeed. Running copies finish; kill stops "
               "them, too.",
        .fallback = "true",
        .example = "false",
    },
    {
        .name = "may_fail",
        .known_as = "allow_failure continue_on_error",
        .type = SCHEMA_BOOL,
        .doc = "Whether the run can succeed although the step failed. Steps "
               "that need it run then, except one that reads an output or "
               "metric which no copy of it made.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "allow_empty",
        .type = SCHEMA_BOOL,
        .doc = "Whether the step accepts a matrix axis without a value: a "
               "pattern that matches nothing, or an empty list. Otherwise it "
               "fails. It also accepts a pattern that matches nothing among "
               "the inputs of its cache or in files(), a folder without a file "
               "whose files its copies share, and that a file which the step "
               "made is missing when --from or --only reuses its results.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "priority",
        .type = SCHEMA_INT,
        .min = -1e6,
        .max = 1e6,
        .doc = "Of all jobs that can start, those of the highest priority "
               "start first.",
        .fallback = "0",
        .example = "10",
    },
    {.name = NULL},
};
