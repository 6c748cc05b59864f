/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment_impl.h"

/* The key `schedule` of the experiment file. Which of its keys a method has,
 * experiment_schedule.c knows. */

/* Far beyond what anybody means, and sums of it still fit. */
#define RESOURCE_MAX 1e9

const char *const experiment_search_shorthands[] = {
#define X(name, search, fraction) name,
    EXPERIMENT_SHORTHANDS(X)
#undef X
        NULL};

static const char *const no_method[] = {"none", NULL};
static const char *const types[] = {"auto", "promotion", "stopping", NULL};
static const char *const rules[] = {"sagemaker", "vizier", NULL};

const struct schema_key experiment_schedule_keys[] = {
    {
        .name = "method",
        .type = SCHEMA_TEXT,
        .names = scheduler_method_names,
        .choices = no_method,
        .doc = "asha: one in `eta` of the trials that reach a rung goes on to "
               "the next, `eta` times as far. hyperband: the same in waves, "
               "with several smallest rungs. median: stops a trial that is "
               "worse than the median of those before it. patient: stops one "
               "that no longer improves. threshold: stops one outside of "
               "bounds. pbt: bad trials go on from the checkpoints of good "
               "ones, with changed settings.",
        .fallback = "none; hyperband where the search is hyperband or bohb",
        .example = "asha",
    },
    {
        .name = "resource",
        .type = SCHEMA_TEXT,
        .doc = "What a trial gets more or less of, in whole units. In "
               "templates its name stands for up to how much the trial may "
               "use now, as SMTUNE_RESOURCE does in its environment. What it "
               "has used is the step of its metrics.",
        .fallback = "the constant parameter that is called epochs, num_epochs, "
                    "n_epochs, numepochs or n-epochs, else epochs",
        .example = "epochs",
    },
    {
        .name = "metric",
        .type = SCHEMA_TEXT,
        .doc = "The objective whose value decides.",
        .fallback = "the first objective",
        .example = "val_error",
    },
    {
        .name = "min",
        .known_as = "grace_period min_iter min_resource",
        .type = SCHEMA_INT,
        .min = 1,
        .max = RESOURCE_MAX,
        .doc = "The least that a trial gets. pbt: how much it gets from one "
               "comparison to the next.",
        .fallback = "1",
        .example = "1",
    },
    {
        .name = "max",
        .known_as = "max_t max_iter max_resource",
        .type = SCHEMA_INT,
        .min = 2,
        .max = RESOURCE_MAX,
        .doc = "The most that a trial gets.",
        .fallback = "the constant parameter that `resource` names; median, "
                    "patient and threshold can do without",
        .example = "27",
    },
    {
        .name = "eta",
        .known_as = "reduction_factor",
        .type = SCHEMA_INT,
        .min = 2,
        .max = 100,
        .doc = "asha, hyperband: one trial in so many goes on to the next "
               "rung.",
        .fallback = "3",
        .example = "4",
    },
    {
        .name = "brackets",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 100,
        .doc = "asha, hyperband: in how many brackets trials are, of which "
               "each begins at a higher rung than the one before.",
        .fallback = "asha: 1; hyperband: as many as there can be",
        .example = "2",
    },
    {
        .name = "type",
        .type = SCHEMA_TEXT,
        .choices = types,
        .doc = "asha: promotion pauses each trial at a rung, and lets the best "
               "go on from their checkpoints. stopping starts each with all "
               "it can get and stops those that are not among the best.",
        .fallback = "auto: promotion where trials keep checkpoints, else "
                    "stopping",
        .example = "stopping",
    },
    {
        .name = "rule",
        .type = SCHEMA_TEXT,
        .choices = rules,
        .doc = "median: sagemaker compares a trial's value with the median of "
               "the running averages that completed trials had by then, vizier "
               "its best value.",
        .fallback = "sagemaker",
        .example = "vizier",
    },
    {
        .name = "min_trials",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1e6,
        .doc = "median: no trial is stopped before so many that have completed "
               "had come as far.",
        .fallback = "sagemaker: 1; vizier: 5",
        .example = "10",
    },
    {
        .name = "patience",
        .type = SCHEMA_INT,
        .min = 1,
        .max = RESOURCE_MAX,
        .doc = "patient: a trial is stopped when it has used so much without "
               "improving. Required there.",
        .example = "5",
    },
    {
        .name = "min_delta",
        .type = SCHEMA_NUMBER,
        .min = 0,
        .max = 1e300,
        .doc = "patient: what is less is no improvement.",
        .fallback = "0",
        .example = "0.001",
    },
    {
        .name = "lower",
        .type = SCHEMA_NUMBER,
        .doc = "threshold: a trial whose value is below is stopped.",
        .fallback = "no bound",
        .example = "0.5",
    },
    {
        .name = "upper",
        .type = SCHEMA_NUMBER,
        .doc = "threshold: a trial whose value is above is stopped.",
        .fallback = "no bound",
        .example = "10",
    },
    {
        .name = "population",
        .type = SCHEMA_INT,
        .min = 2,
        .max = 10000,
        .doc = "pbt: how many trials live at once.",
        .fallback = "4",
        .example = "16",
    },
    {
        .name = "quantile",
        .type = SCHEMA_NUMBER,
        .min = 0.001,
        .max = 0.5,
        .doc = "pbt: the share of trials that give way, to as many of the "
               "best.",
        .fallback = "0.25",
        .example = "0.2",
    },
    {
        .name = "resample",
        .type = SCHEMA_NUMBER,
        .min = 0,
        .max = 1,
        .doc = "pbt: the chance that a parameter of a trial that goes on from "
               "another one's checkpoint gets a fresh value; else it is moved "
               "a step.",
        .fallback = "0.25",
        .example = "0.1",
    },
    {.name = NULL},
};
