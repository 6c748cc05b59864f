/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/executor.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/* The workflow file, key by key, but for what a step may have; what one key
 * cannot know of another is checked where the workflow is put together. */

static const struct schema_key param_element = {
    .name = "parameter",
    .type = SCHEMA_SCALAR,
};

static const struct schema_key step_name_element = {
    .name = "step",
    .type = SCHEMA_TEXT,
};

static const struct schema_key take_over_keys[] = {
    {
        .name = "run",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 9e15,
        .required = true,
        .doc = "The number of that run.",
        .example = "12",
    },
    {
        .name = "steps",
        .type = SCHEMA_LIST,
        .element = &step_name_element,
        .doc = "The steps whose results are reused.",
        .fallback = "none",
        .example = "[prepare, tune]",
    },
    {
        .name = "only",
        .type = SCHEMA_TEXT,
        .doc = "The one step to run besides.",
        .fallback = "all of them",
        .example = "train",
    },
    {.name = NULL},
};

static const struct schema_key pool_element = {
    .name = "pool",
    .type = SCHEMA_INT,
    .min = 1,
    .max = POOL_SIZE_MAX,
};

static const struct schema_key output_element = {
    .name = "output",
    .type = SCHEMA_SCALAR,
};

static const struct schema_key executor_element = {
    .name = "executor",
    .type = SCHEMA_MAP,
    .keys = experiment_executor_keys,
    .shorthand = "name",
};

static const struct schema_key workflow_step = {
    .name = "step",
    .type = SCHEMA_MAP,
    .keys = workflow_step_keys,
};

const struct schema_key workflow_schema[] = {
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
        .doc = "The name of runs of this workflow.",
        .fallback = "the name of the file without .yaml",
        .example = "nightly",
    },
    {
        .name = "params",
        .known_as = "parameters variables",
        .type = SCHEMA_MAP,
        .element = &param_element,
        .doc = "Values by name that every step may use. `--set "
               "params.NAME=VALUE` changes them for one run.",
        .fallback = "none",
        .example = "{epochs: 10}",
    },
    {
        .name = "steps",
        .known_as = "jobs tasks rules",
        .type = SCHEMA_MAP | SCHEMA_ANY_LIST,
        .required = true,
        .element = &workflow_step,
        .doc = "The jobs. A map of steps by name: each starts when the "
               "steps that it `needs` have ended. Or a list, in order: an "
               "item is a step with a `name`, or {NAME: STEP}, or "
               "{parallel: [...]}, whose items start together; one of "
               "those may be a list, in order again. In a list, a step "
               "whose `if` is false is skipped, and the next one starts.",
        .example = "{build: {command: make}, test: {needs: build, command: "
                   "make check}}",
    },
    {
        .name = "on_failure",
        .type = SCHEMA_MAP,
        .element = &workflow_step,
        .told_in = "steps",
        .doc = "Steps that start when all of `steps` have ended, and one "
               "of them has failed that may not.",
        .fallback = "none",
        .example = "{report: {command: ./report}}",
    },
    {
        .name = "always",
        .type = SCHEMA_MAP,
        .element = &workflow_step,
        .told_in = "steps",
        .doc = "Steps that start when all of `steps` have ended, with any "
               "result.",
        .fallback = "none",
        .example = "{sweep_up: {command: rm -rf scratch}}",
    },
    {
        .name = "defaults",
        .type = SCHEMA_MAP,
        .keys = WORKFLOW_DEFAULT_KEYS,
        .told_in = "steps",
        .doc =
            "Defaults for the keys of each step: metrics, env, "
            "channels, resources, timeout, pool, pools, executor, "
            "retry, checkpoints, cache, parallel, may_fail, allow_empty, "
            "priority. Maps, such as env and resources, are merged key by key.",
        .fallback = "none",
        .example = "{resources: {cpus: 1, time: 1h}}",
    },
    {
        .name = "pools",
        .type = SCHEMA_MAP,
        .element = &pool_element,
        .doc = "Limits by name that steps share: a step that takes from a "
               "`pool` starts when enough is left in it. Child runs take "
               "from the same pools.",
        .fallback = "none",
        .example = "{gpu: 4, licences: 2}",
    },
    {
        .name = "parallel",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 10000,
        .doc = "The number of jobs at the same time.",
        .fallback = "as many as the CPUs allow",
        .example = "8",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 3650 * DAY_S,
        .doc = "After this time the run ends, and running jobs are "
               "stopped. `smtune retry RUN --failed` continues it.",
        .fallback = "no limit",
        .example = "12h",
    },
    {
        .name = "executor",
        .type = SCHEMA_MAP | SCHEMA_LIST,
        .keys = experiment_executor_keys,
        .element = &executor_element,
        .shorthand = "name",
        .doc = "Where jobs run. In a list, the first is for steps that "
               "name no `executor`.",
        .fallback = "local",
        .example = "{name: local, cpus: 8}",
    },
    {
        .name = "outputs",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_MAP,
        .element = &output_element,
        .doc = "The outputs of the workflow as a step of another one: "
               "expressions by name, evaluated when all steps have ended.",
        .fallback = "none",
        .example = "{model: train.model}",
    },
    {
        .name = "refresh",
        .type = SCHEMA_LIST,
        .element = &step_name_element,
        .doc = "Steps that run even on a cache hit, set by smtune run "
               "--force. Their new results are added to the cache.",
        .fallback = "none",
        .example = "[prepare]",
    },
    {
        .name = "take_over",
        .type = SCHEMA_MAP,
        .keys = take_over_keys,
        .doc = "Results of an earlier run of the file, set by smtune run "
               "--from and --only.",
        .fallback = "none",
        .example = "{run: 12, steps: [prepare, tune]}",
    },
    {
        .name = "touch",
        .type = SCHEMA_BOOL,
        .doc = "Whether files that exist count as the results of their "
               "steps, set by smtune run --touch. No command runs before the "
               "first retry.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "notify",
        .type = SCHEMA_LIST | SCHEMA_MAP,
        .keys = experiment_receiver_keys,
        .element = &experiment_receiver,
        .shorthand = "url",
        .doc = "Addresses that get a POST request with a JSON object for "
               "each event. It is repeated until the receiver accepts it.",
        .fallback = "nobody",
        .example = "[{url: \"https://hooks.example.org/T0/B0\", events: "
                   "[succeeded, failed]}]",
    },
    {.name = NULL},
};
