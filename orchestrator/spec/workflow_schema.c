/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/executor.h"
#include "orchestrator/spec/workflow_impl.h"

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
        .doc = "The steps whose results are taken over.",
        .fallback = "none",
        .example = "[prepare, tune]",
    },
    {
        .name = "only",
        .type = SCHEMA_TEXT,
        .doc = "The one step that is run besides.",
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
        .fallback = "the file's name without .yaml",
        .example = "nightly",
    },
    {
        .name = "params",
        .known_as = "parameters variables",
        .type = SCHEMA_MAP,
        .element = &param_element,
        .doc = "Values by name, which every step may use. They are changed "
               "for one run by `--set params.NAME=VALUE`.",
        .fallback = "none",
        .example = "{epochs: 10}",
    },
    {
        .name = "steps",
        .known_as = "jobs tasks rules",
        .type = SCHEMA_MAP | SCHEMA_ANY_LIST,
        .required = true,
        .element = &workflow_step,
        .doc = "What is done. A map of steps by name: each starts when those "
               "that it `needs` are over. Or a list, in order: an item is a "
               "step with a `name`, or {NAME: STEP}, or {parallel: [...]}, "
               "whose items start together; one of those may be a list, in "
               "order again. In a list, a step that its `if` leaves out is "
               "passed over.",
        .example = "{build: {command: make}, test: {needs: build, command: "
                   "make check}}",
    },
    {
        .name = "on_failure",
        .type = SCHEMA_MAP,
        .element = &workflow_step,
        .told_in = "steps",
        .doc = "Steps that start when all of `steps` are over, and one of "
               "them has failed that may not.",
        .fallback = "none",
        .example = "{tell: {command: ./tell}}",
    },
    {
        .name = "always",
        .type = SCHEMA_MAP,
        .element = &workflow_step,
        .told_in = "steps",
        .doc = "Steps that start when all of `steps` are over, however they "
               "ended.",
        .fallback = "none",
        .example = "{sweep_up: {command: rm -rf scratch}}",
    },
    {
        .name = "defaults",
        .type = SCHEMA_MAP,
        .keys = WORKFLOW_DEFAULT_KEYS,
        .told_in = "steps",
        .doc = "What holds for each step that does not say it itself: metrics, "
               "env, channels, resources, timeout, pool, pools, executor, "
               "retry, checkpoints, cache, parallel, may_fail, priority. Maps, "
               "such as env and resources, are merged key by key.",
        .fallback = "none",
        .example = "{resources: {cpus: 1, time: 1h}}",
    },
    {
        .name = "pools",
        .type = SCHEMA_MAP,
        .element = &pool_element,
        .doc = "Limits by name, which steps share: a step that takes from a "
               "`pool` starts when enough is left in it. Runs below this one "
               "take from the same pools.",
        .fallback = "none",
        .example = "{gpu: 4, licences: 2}",
    },
    {
        .name = "parallel",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 10000,
        .doc = "How many jobs at once.",
        .fallback = "as many as the CPUs suffice for",
        .example = "8",
    },
    {
        .name = "time",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 3650 * DAY_S,
        .doc = "After this time the run ends, and what still runs is stopped. "
               "`smtune retry RUN --failed` goes on with it.",
        .fallback = "no limit",
        .example = "12h",
    },
    {
        .name = "executor",
        .type = SCHEMA_MAP | SCHEMA_LIST,
        .keys = experiment_executor_keys,
        .element = &executor_element,
        .shorthand = "name",
        .doc = "Where jobs run. Of a list, the first is for steps that name "
               "no `executor`.",
        .fallback = "local",
        .example = "{name: local, cpus: 8}",
    },
    {
        .name = "outputs",
        .type = SCHEMA_MAP,
        .element = &output_element,
        .doc = "What the workflow gives to one that has it as a step: "
               "expressions by name, asked when all steps are over.",
        .fallback = "none",
        .example = "{model: train.model}",
    },
    {
        .name = "refresh",
        .type = SCHEMA_LIST,
        .element = &step_name_element,
        .doc = "Steps that run even where their cache has a result, as smtune "
               "run --force sets it. What they give then is in the cache.",
        .fallback = "none",
        .example = "[prepare]",
    },
    {
        .name = "take_over",
        .type = SCHEMA_MAP,
        .keys = take_over_keys,
        .doc = "Results that an earlier run of the file has, as smtune run "
               "--from and --only set it.",
        .fallback = "none",
        .example = "{run: 12, steps: [prepare, tune]}",
    },
    {
        .name = "notify",
        .type = SCHEMA_LIST | SCHEMA_MAP,
        .keys = experiment_receiver_keys,
        .element = &experiment_receiver,
        .shorthand = "url",
        .doc = "Addresses to which a JSON object is posted when something "
               "happens. It is sent again until it is taken.",
        .fallback = "nobody",
        .example = "[{url: \"https://hooks.example.org/T0/B0\", events: "
                   "[finished, failed]}]",
    },
    {.name = NULL},
};
