/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/experiment_impl.h"

/* The key `schedule` of the experiment file. Which of its keys a method has,
 * schedule.c knows. */

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
        .doc = "asha: one in `eta` of the trials at a rung is promoted to "
               "the next, with `eta` times the resource. hyperband: the "
               "same in brackets with different first rungs. median: "
               "stops a trial that is worse than the median of those "
               "before it. patient: stops one that no longer improves. "
               "threshold: stops one outside the limits. pbt: bad trials "
               "continue from the checkpoints of good ones, with changed "
               "settings.",
        .fallback = "none; hyperband if the search is hyperband or bohb",
        .example = "asha",
    },
    {
        .name = "resource",
        .type = SCHEMA_TEXT,
        .doc = "The resource of the schedule, in whole units. In "
               "templates its name is the amount that the trial may use "
               "now, like SMTUNE_RESOURCE in its environment. The step of "
               "its metrics is the amount used: the number that a line has "
               "under this name, singular (epoch for epochs) before plural, "
               "as NAME=N, JSON key, or words (Epoch 3/9); else that of an "
               "earlier line; else step, epoch, iteration or round; else "
               "[N] at the line's start. A line with several has the step of "
               "the first. Without any, each value counts as one unit. "
               "Fractions count when they complete a unit. Steps may begin "
               "at 0.",
        .fallback = "the constant parameter with the name epochs, num_epochs, "
                    "n_epochs, numepochs or n-epochs, else epochs",
        .example = "epochs",
    },
    {
        .name = "metric",
        .type = SCHEMA_TEXT,
        .doc = "The objective that the schedule compares.",
        .fallback = "the first objective",
        .example = "val_error",
    },
    {
        .name = "min",
        .known_as = "grace_period min_iter min_resource",
        .type = SCHEMA_INT,
        .min = 1,
        .max = RESOURCE_MAX,
        .doc = "The smallest resource of a trial. pbt: the resource "
               "between two comparisons.",
        .fallback = "1",
        .example = "1",
    },
    {
        .name = "max",
        .known_as = "max_t max_iter max_resource",
        .type = SCHEMA_INT,
        .min = 2,
        .max = RESOURCE_MAX,
        .doc = "The largest resource of a trial.",
        .fallback = "the constant parameter that `resource` names; optional "
                    "for median, patient and threshold",
        .example = "27",
    },
    {
        .name = "eta",
        .known_as = "reduction_factor",
        .type = SCHEMA_INT,
        .min = 2,
        .max = 100,
        .doc = "asha, hyperband: one in `eta` trials is promoted to the "
               "next rung.",
        .fallback = "3",
        .example = "4",
    },
    {
        .name = "brackets",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 100,
        .doc = "asha, hyperband: the number of brackets. The first rung "
               "of each is one above that of the bracket before.",
        .fallback = "asha: 1; hyperband: all possible ones",
        .example = "2",
    },
    {
        .name = "type",
        .type = SCHEMA_TEXT,
        .choices = types,
        .doc = "asha: promotion pauses each trial at a rung, and promotes "
               "the best from their checkpoints. stopping starts each "
               "with the full resource and stops those that are not among "
               "the best.",
        .fallback = "auto: promotion if trials keep checkpoints, else stopping",
        .example = "stopping",
    },
    {
        .name = "rule",
        .type = SCHEMA_TEXT,
        .choices = rules,
        .doc = "median: sagemaker compares the value of a trial with the "
               "median of the running averages that completed trials had "
               "at that step, vizier its best value.",
        .fallback = "sagemaker",
        .example = "vizier",
    },
    {
        .name = "min_trials",
        .type = SCHEMA_INT,
        .min = 1,
        .max = 1e6,
        .doc = "median: the number of completed trials with a value at "
               "that step before a trial can be stopped.",
        .fallback = "sagemaker: 1; vizier: 5",
        .example = "10",
    },
    {
        .name = "patience",
        .type = SCHEMA_INT,
        .min = 1,
        .max = RESOURCE_MAX,
        .doc = "patient: the resource without improvement after which a "
               "trial is stopped. Required for patient.",
        .example = "5",
    },
    {
        .name = "min_delta",
        .type = SCHEMA_NUMBER,
        .min = 0,
        .max = 1e300,
        .doc = "patient: the smallest improvement that counts.",
        .fallback = "0",
        .example = "0.001",
    },
    {
        .name = "lower",
        .type = SCHEMA_NUMBER,
        .doc = "threshold: a trial with a value below it is stopped.",
        .fallback = "no limit",
        .example = "0.5",
    },
    {
        .name = "upper",
        .type = SCHEMA_NUMBER,
        .doc = "threshold: a trial with a value above it is stopped.",
        .fallback = "no limit",
        .example = "10",
    },
    {
        .name = "population",
        .type = SCHEMA_INT,
        .min = 2,
        .max = 10000,
        .doc = "pbt: the number of trials in the population.",
        .fallback = "4",
        .example = "16",
    },
    {
        .name = "quantile",
        .type = SCHEMA_NUMBER,
        .min = 0.001,
        .max = 0.5,
        .doc = "pbt: the share of trials that copies of the best replace.",
        .fallback = "0.25",
        .example = "0.2",
    },
    {
        .name = "resample",
        .type = SCHEMA_NUMBER,
        .min = 0,
        .max = 1,
        .doc = "pbt: the probability that a parameter of a trial that "
               "continues from the checkpoint of another gets a new "
               "value; else it is moved a step.",
        .fallback = "0.25",
        .example = "0.1",
    },
    {.name = NULL},
};
