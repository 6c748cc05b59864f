/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/experiment_impl.h"
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
        .doc = "The metric to optimize.",
        .example = "val_error",
    },
    {
        .name = "goal",
        .known_as = "direction mode",
        .type = SCHEMA_TEXT,
        .choices = goals,
        .doc = "Whether small or large values are better.",
        .fallback = "minimize",
        .example = "maximize",
    },
    {
        .name = "value",
        .type = SCHEMA_TEXT,
        .choices = objective_values,
        .doc = "The value of a trial: the last one that it reports, or "
               "the best one.",
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
        .doc = "A metric that a trial reports; its last value counts.",
        .example = "latency_ms",
    },
    {
        .name = "min",
        .type = SCHEMA_NUMBER,
        .doc = "The smallest value of a feasible trial.",
        .fallback = "none",
        .example = "0.9",
    },
    {
        .name = "max",
        .type = SCHEMA_NUMBER,
        .doc = "The largest value of a feasible trial.",
        .fallback = "none; 0 without a min",
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

#define ANY_VALUE                                                              \
    (SCHEMA_SCALAR | SCHEMA_ANY_LIST | SCHEMA_ANY_MAP | SCHEMA_NULL)

static const struct schema_key value_element = {
    .name = "value",
    .type = ANY_VALUE,
};

static const struct schema_key param_keys[] = {
    {
        .name = "type",
        .known_as = "distribution",
        .type = SCHEMA_TEXT,
        .choices = param_types,
        .doc = "float and int have min and max; categorical values have "
               "no order, ordinal values are in order; bool is false or "
               "true. A constant has no type.",
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
        .doc = "The scale on which a float or int is searched evenly: log "
               "for orders of magnitude (min > 0), reverse_log close "
               "below 1 (such as a momentum; max < 1), logit near both 0 "
               "and 1.",
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
        .doc = "The values of a categorical or ordinal parameter: "
               "numbers, texts, true, false, null, lists and maps. A list "
               "or a map is JSON in a command and in `env`; null is "
               "nothing there, as in an inactive parameter, and null in "
               "JSON. At most 100,000.",
        .example = "[sgd, adam]",
    },
    {
        .name = "value",
        .known_as = "const constant",
        .type = ANY_VALUE,
        .doc = "Makes the parameter a constant.",
        .example = "128",
    },
    {
        .name = "when",
        .known_as = "if condition",
        .type = SCHEMA_TEXT,
        .doc = "An expression over the other parameters. If it is not "
               "true, this parameter is inactive: it has no value, and "
               "its option is omitted from the command.",
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
    .nests = true,
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

static const struct schema_key search_keys[] = {
    {
        .name = "method",
        .known_as = "algorithm sampler",
        .type = SCHEMA_TEXT,
        .names = strategy_method_names,
        .choices = experiment_search_shorthands,
        .doc = "auto: grid if the budget covers every setting, else the "
               "best method for the space and the results so far. random: "
               "independent settings. grid: every combination, each once. "
               "sobol: a scrambled Sobol sequence, more even than chance. "
               "bayesian: the most promising setting of a Gaussian "
               "process. tpe: the setting where good trials are densest. "
               "cmaes: a normal distribution that moves towards good "
               "trials. nsga2: children of good trials, for several "
               "objectives. hyperband: random, with the schedule "
               "hyperband. bohb: tpe with a third of its settings drawn "
               "at random, with the same schedule.",
        .fallback = "auto",
        .example = "sobol",
    },
    {
        .name = "seed",
        .known_as = "random_seed random_state",
        .type = SCHEMA_INT,
        .min = 0,
        .max = 0x1p53,
        .doc = "The seed of all random numbers: the same file, seed and "
               "results so far give the same next setting.",
        .fallback = "0",
        .example = "1",
    },
    {
        .name = "points",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1e6,
        .doc =
            "The number of values of a float without a step in a grid. An int "
            "has each of its values.",
        .fallback = "5",
        .example = "9",
    },
    {
        .name = "lr_adapt",
        .type = SCHEMA_BOOL,
        .doc = "Whether cmaes adapts its learning rates: if results are "
               "very noisy, it takes smaller steps and does not restart. "
               "It needs a thousand trials or more; without such noise it "
               "is slower.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "duplicates",
        .type = SCHEMA_TEXT,
        .choices = duplicates,
        .doc = "The treatment of a setting that was evaluated before: "
               "skip evaluates no setting twice if others are left; reuse "
               "lets the method suggest it, and uses its result. `repeats` "
               "evaluates every setting several times.",
        .fallback = "skip",
        .example = "reuse",
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
        .doc = "same: the earlier trials count as evaluated, if they are "
               "in the ranges of this file; the parameters must be the "
               "same. transfer: ranges, parameters or data have changed, "
               "and the earlier results guide the search without "
               "constraining it.",
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
        .doc = "The largest number of trials.",
        .fallback = "50; no limit if `time` or `resource` is set or the search "
                    "is a grid",
        .example = "60",
    },
    {
        .name = "parallel",
        .known_as = "n_jobs max_parallel max_concurrent parallelism",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 10000,
        .doc = "The number of trials at the same time.",
        .fallback = "as many as the CPUs allow",
        .example = "4",
    },
    {
        .name = "time",
        .known_as = "timeout max_time max_runtime",
        .type = SCHEMA_DURATION,
        .min = 1,
        .max = 3650 * DAY_S,
        .doc = "After this time the run ends, and running trials are "
               "stopped.",
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
        .doc = "The run ends after this number of trials in a row without "
               "a better one.",
        .fallback = "no limit",
        .example = "30",
    },
    {
        .name = "improvement",
        .type = SCHEMA_NUMBER,
        .min = 0,
        .max = 1,
        .doc = "The least improvement that counts for `no_improvement` "
               "and `convergence`, as a share of the best value.",
        .fallback = "0.01",
        .example = "0.001",
    },
    {
        .name = "convergence",
        .type = SCHEMA_BOOL,
        .doc = "The run ends when a model of its results considers an "
               "improvement very unlikely.",
        .fallback = "false",
        .example = "true",
    },
    {
        .name = "resource",
        .type = SCHEMA_INT,
        .min = 1,
        .max = BUDGET_COUNT_MAX,
        .doc = "The resource of the schedule that all trials may use "
               "together, in all their attempts.",
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
        .doc = "The run ends and fails after this number of failed "
               "trials, each with all its retries. With none it continues "
               "after any failure.",
        .fallback = "it ends if the first 10 trials all fail, and no other has "
                    "succeeded, or if the first trial to finish has no value "
                    "of the objective",
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
        .fallback = "the name of the file without .yaml",
        .example = "fashion-mlp",
    },
    {
        .name = "objective",
        .secrecy = SECRECY_OPEN,
        .known_as = "metric",
        .type = SCHEMA_MAP | SCHEMA_LIST,
        .required = true,
        .keys = objective_keys,
        .element = &objective_element,
        .shorthand = "metric",
        .doc = "The metric to optimize. A list of objectives searches for "
               "the best compromises.",
        .example = "{metric: val_error, goal: minimize}",
    },
    {
        .name = "parameters",
        .secrecy = SECRECY_OPEN,
        .known_as = "params search_space space",
        .type = SCHEMA_MAP,
        .required = true,
        .element = &experiment_param,
        .doc = "The parameters, by name. A bare value is a constant. "
               "Parameters may be in groups: lr in a map `model` is the "
               "parameter `model.lr`, also in expressions and templates.",
        .example = "{lr: {type: float, min: 1e-4, max: 1, scale: log}}",
    },
    {
        .name = "constraints",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .element = &text_element,
        .doc = "Expressions over the parameters that every trial "
               "satisfies. An expression that is null, because a "
               "parameter in it is inactive, counts as satisfied.",
        .fallback = "none",
        .example = "[\"width * batch <= 32768\"]",
    },
    {
        .name = "outcomes",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_LIST | SCHEMA_MAP,
        .keys = outcome_keys,
        .element = &outcome_element,
        .shorthand = "metric",
        .doc = "Constraints on metrics. A trial that violates one is "
               "infeasible: it is never the best. A bare metric must not "
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
        .doc = "The search method.",
        .fallback = "auto",
        .example = "{method: sobol, seed: 1}",
    },
    {
        .name = "repeats",
        .known_as = "replicates replicate n_repeats seeds",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1000,
        .doc = "The number of trials of every setting, in a row. Settings "
               "are compared by the mean. In a trial, ${{ repeat }} is 1, "
               "2 ... of its setting, for its random seed.",
        .fallback = "1",
        .example = "3",
    },
    {
        .name = "warm_start",
        .type = SCHEMA_MAP,
        .keys = warm_start_keys,
        .shorthand = "from",
        .doc = "Earlier runs in the same store whose results the search "
               "starts with.",
        .fallback = "none",
        .example = "{from: [earlier-run], mode: same}",
    },
    {
        .name = "enqueue",
        .secrecy = SECRECY_OPEN,
        .type = SCHEMA_LIST,
        .element = &setting_element,
        .doc = "Settings to evaluate first, in this order, each once. Missing "
               "parameters are drawn at random.",
        .fallback = "none",
        .example = "[{lr: 0.01, optimizer: sgd}]",
    },
    {
        .name = "schedule",
        .known_as = "scheduler pruner early_terminate",
        .type = SCHEMA_MAP,
        .keys = experiment_schedule_keys,
        .shorthand = "method",
        .doc = "The amount of a resource, such as epochs, of each trial.",
        .fallback = "none",
        .example = "{method: asha, max: 27}",
    },
    {
        .name = "early_stopping",
        .type = SCHEMA_TEXT,
        .choices = early_stops,
        .doc = "auto is short for `schedule: median`: trials that are "
               "worse than the others were are stopped.",
        .fallback = "off",
        .example = "auto",
    },
    {
        .name = "budget",
        .type = SCHEMA_MAP,
        .keys = budget_keys,
        .doc = "The limits of the run. It ends at the first limit that it "
               "reaches.",
        .fallback = "50 trials",
        .example = "{trials: 60, parallel: 4, time: 2h}",
    },
    {
        .name = "trial",
        .type = SCHEMA_MAP,
        .required = true,
        .keys = experiment_trial_keys,
        .doc = "The command of a trial: exactly one of `command` and "
               "`shell`, and their options.",
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
        .doc = "Addresses that get a POST request with a JSON object for "
               "each event. It is repeated until the receiver accepts it.",
        .fallback = "nobody",
        .example = "[{url: \"https://hooks.example.org/T0/B0\", events: "
                   "[succeeded, failed]}]",
    },
    {.name = NULL},
};
