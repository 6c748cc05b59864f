/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment_impl.h"
#include "strategies/space/space.h"
#include "strategies/strategy.h"

/* The experiment file, key by key; what one key cannot know of another is
 * checked where the experiment is put together. */

static const char *const goals[] = {"minimize", "maximize", NULL};
static const char *const objective_values[] = {"last", "best", NULL};
static const char *const param_types[] = {"float",   "int",  "categorical",
                                          "ordinal", "bool", NULL};
static const char *const duplicates[] = {"skip", "reuse", NULL};
static const char *const warm_start_modes[] = {"same", "transfer", NULL};
static const char *const early_stops[] = {"auto", "off", NULL};

static const struct schema_key objective_keys[] = {
    {
        .name = "metric",
        .known_as = "name",
        .type = SCHEMA_TEXT,
        .required = true,
        .doc = "The metric that says how good a trial is.",
        .example = "val_error",
    },
    {
        .name = "goal",
        .known_as = "direction mode",
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

static const struct schema_key outcome_keys[] = {
    {
        .name = "metric",
        .type = SCHEMA_TEXT,
        .required = true,
        .doc = "A metric that a trial says; its last value counts.",
        .example = "latency_ms",
    },
    {
        .name = "min",
        .type = SCHEMA_NUMBER,
        .doc = "The smallest value with which a trial is feasible.",
        .fallback = "none",
        .example = "0.9",
    },
    {
        .name = "max",
        .type = SCHEMA_NUMBER,
        .doc = "The largest value with which a trial is feasible.",
        .fallback = "none; 0 where there is no min either",
        .example = "20",
    },
    {.name = NULL},
};

static const struct schema_key outcome_element = {
    .name = "outcome",
    .type = SCHEMA_MAP,
    .keys = outcome_keys,
    .shorthand = "metric",
};

static const struct schema_key value_element = {
    .name = "value",
    .type = SCHEMA_SCALAR,
};

static const struct schema_key param_keys[] = {
    {
        .name = "type",
        .known_as = "distribution",
        .type = SCHEMA_TEXT,
        .choices = param_types,
        .doc = "float and int have min and max; categorical values have no "
               "order, ordinal ones stand in theirs; bool is false or true. A "
               "constant has none.",
        .example = "float",
    },
    {
        .name = "min",
        .known_as = "low lower minimum",
        .type = SCHEMA_NUMBER,
        .doc = "The smallest value of a float or int.",
        .example = "1e-4",
    },
    {
        .name = "max",
        .known_as = "high upper maximum",
        .type = SCHEMA_NUMBER,
        .doc = "The largest value of a float or int.",
        .example = "1",
    },
    {
        .name = "scale",
        .known_as = "log scaling",
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
        .known_as = "q quantum",
        .type = SCHEMA_NUMBER,
        .doc = "The values of a float or int are min, min + step, and so on "
               "up to max, which must be one of them.",
        .fallback = "1 for int, none for float",
        .example = "8",
    },
    {
        .name = "values",
        .known_as = "choices options categories",
        .type = SCHEMA_LIST,
        .element = &value_element,
        .doc = "The values of a categorical or ordinal parameter.",
        .example = "[sgd, adam]",
    },
    {
        .name = "value",
        .known_as = "const constant",
        .type = SCHEMA_SCALAR,
        .doc = "Makes the parameter a constant.",
        .example = "128",
    },
    {
        .name = "when",
        .known_as = "if condition",
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
    .example = "{type: categorical, values: [sgd, adam]}",
};

static const struct schema_key text_element = {
    .name = "text",
    .type = SCHEMA_TEXT,
};

static const struct schema_key run_element = {
    .name = "run",
    .type = SCHEMA_TEXT | SCHEMA_INT,
};

static const struct schema_key replicate_keys[] = {
    {
        .name = "replicate",
        .type = SCHEMA_INT,
        .required = true,
        .min = 2,
        .max = 1000,
        .doc = "How often every setting is tried.",
        .example = "3",
    },
    {.name = NULL},
};

static const struct schema_key search_keys[] = {
    {
        .name = "method",
        .known_as = "algorithm sampler",
        .type = SCHEMA_TEXT,
        .names = strategy_method_names,
        .choices = experiment_search_shorthands,
        .doc = "auto: grid where the budget covers every setting, else what "
               "is best for the space and the results so far. random: "
               "independent points. grid: every combination, each once. "
               "sobol: a scrambled Sobol sequence, more even than chance. "
               "bayesian: the point that promises most by a Gaussian process. "
               "tpe: the point where good trials are densest. cmaes: a normal "
               "distribution that moves towards what was good. nsga2: "
               "children of good trials, for several objectives. hyperband: "
               "random, with the schedule hyperband. bohb: tpe with a third "
               "of its settings drawn at random, with the same schedule.",
        .fallback = "auto",
        .example = "sobol",
    },
    {
        .name = "seed",
        .known_as = "random_seed random_state",
        .type = SCHEMA_INT,
        .min = 0,
        .max = 0x1p53,
        .doc = "What is drawn at random follows from it: the same file, seed "
               "and results so far give the same next setting.",
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
    {
        .name = "lr_adapt",
        .type = SCHEMA_BOOL,
        .doc = "Whether cmaes adapts its learning rates: where results are so "
               "noisy that good and bad settings are hard to tell apart, it "
               "then goes smaller steps in place of starting anew. It takes a "
               "thousand trials or more; without such noise it is slower.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "duplicates",
        .type = SCHEMA_TEXT | SCHEMA_MAP,
        .choices = duplicates,
        .keys = replicate_keys,
        .doc = "What is done about a setting that was tried before: skip "
               "tries no setting twice as long as there are others; reuse "
               "lets the method suggest it, and takes over its result; "
               "{replicate: k} tries every setting k times in a row, and "
               "judges it by the mean.",
        .fallback = "skip",
        .example = "{replicate: 3}",
    },
    {.name = NULL},
};

static const struct schema_key warm_start_keys[] = {
    {
        .name = "from",
        .type = SCHEMA_TEXT | SCHEMA_INT | SCHEMA_LIST,
        .required = true,
        .element = &run_element,
        .doc = "The runs: names, ids, or last for the newest.",
        .example = "[mlp, mlp-2]",
    },
    {
        .name = "mode",
        .type = SCHEMA_TEXT,
        .choices = warm_start_modes,
        .doc = "same: the earlier trials count as seen, where this file's "
               "ranges allow them; the parameters must be the same. transfer: "
               "ranges, parameters or data have changed, and the earlier "
               "results guide the search without binding it.",
        .fallback = "same",
        .example = "transfer",
    },
    {.name = NULL},
};

static const struct schema_key setting_element = {
    .name = "setting",
    .type = SCHEMA_MAP,
    .element = &value_element,
};

static const char *const no_limit[] = {"none", NULL};

static const struct schema_key budget_keys[] = {
    {
        .name = "trials",
        .known_as = "n_trials max_trials num_samples run_cap",
        .type = SCHEMA_INT,
        .min = 1,
        .max = BUDGET_COUNT_MAX,
        .doc = "How many trials at most.",
        .fallback = "50; without limit where `time` or `resource` is given or "
                    "the search is a grid",
        .example = "60",
    },
    {
        .name = "parallel",
        .known_as = "n_jobs max_parallel max_concurrent parallelism",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 10000,
        .doc = "How many trials at once.",
        .fallback = "as many as the CPUs suffice for",
        .example = "4",
    },
    {
        .name = "time",
        .known_as = "timeout max_time max_runtime",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 3650 * DAY_S,
        .doc = "After this time the run ends, and what still runs is stopped.",
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
        .max = BUDGET_COUNT_MAX,
        .doc = "The run ends after so many trials in a row without a better "
               "one.",
        .fallback = "no limit",
        .example = "30",
    },
    {
        .name = "improvement",
        .type = SCHEMA_NUMBER,
        .min = 0,
        .max = 1,
        .doc = "How much better a trial must be to count as better for "
               "`no_improvement` and `convergence`, as a share of the best "
               "value.",
        .fallback = "0.01",
        .example = "0.001",
    },
    {
        .name = "convergence",
        .type = SCHEMA_BOOL,
        .doc = "The run ends when a model of its results holds it for very "
               "unlikely that a trial could still be better.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "resource",
        .type = SCHEMA_INT,
        .min = 1,
        .max = BUDGET_COUNT_MAX,
        .doc = "How much of the schedule's resource all trials get together, "
               "in all their attempts.",
        .fallback = "no limit",
        .example = "2000",
    },
    {
        .name = "failures",
        .known_as = "max_failures max_failed max_fails",
        .type = SCHEMA_INT | SCHEMA_TEXT,
        .choices = no_limit,
        .min = 1,
        .max = BUDGET_COUNT_MAX,
        .doc = "The run ends, and has failed, when so many trials have failed, "
               "each after all its retries. With none it goes on whatever "
               "fails.",
        .fallback = "it ends when the first 10 trials have all failed, and no "
                    "other has succeeded",
        .example = "3",
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
        .known_as = "metric",
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
        .known_as = "params search_space space",
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
        .name = "outcomes",
        .type = SCHEMA_LIST | SCHEMA_MAP,
        .keys = outcome_keys,
        .element = &outcome_element,
        .shorthand = "metric",
        .doc = "Bounds on what trials come to. One that ends outside of them "
               "is infeasible: it is never the best. A bare metric must not "
               "be above 0.",
        .fallback = "none",
        .example = "[{metric: latency_ms, max: 20}]",
    },
    {
        .name = "search",
        .known_as = "sampler strategy algorithm",
        .type = SCHEMA_MAP,
        .keys = search_keys,
        .shorthand = "method",
        .doc = "How settings are chosen.",
        .fallback = "auto",
        .example = "{method: sobol, seed: 1}",
    },
    {
        .name = "warm_start",
        .type = SCHEMA_MAP,
        .keys = warm_start_keys,
        .shorthand = "from",
        .doc = "Earlier runs in the same store whose results the search "
               "begins with.",
        .fallback = "none",
        .example = "{from: [earlier-run], mode: same}",
    },
    {
        .name = "enqueue",
        .type = SCHEMA_LIST,
        .element = &setting_element,
        .doc = "Settings to be tried first, in this order. What one leaves "
               "out is drawn at random.",
        .fallback = "none",
        .example = "[{lr: 0.01, optimizer: sgd}]",
    },
    {
        .name = "schedule",
        .known_as = "scheduler pruner early_terminate",
        .type = SCHEMA_MAP,
        .keys = experiment_schedule_keys,
        .shorthand = "method",
        .doc = "How much of a resource, such as epochs, each trial gets.",
        .fallback = "none",
        .example = "{method: asha, max: 27}",
    },
    {
        .name = "early_stopping",
        .type = SCHEMA_TEXT,
        .choices = early_stops,
        .doc = "auto is short for `schedule: median`: trials that do worse "
               "than the others did are stopped.",
        .fallback = "off",
        .example = "auto",
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
        .keys = experiment_trial_keys,
        .doc = "What a trial does: exactly one of `command` and `shell`, and "
               "what belongs to it.",
        .example = "{command: \"./train --lr ${{ lr }}\"}",
    },
    {
        .name = "executor",
        .type = SCHEMA_MAP,
        .keys = experiment_executor_keys,
        .shorthand = "name",
        .doc = "Where trials run.",
        .fallback = "local",
        .example = "{name: local, cpus: 8}",
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
