/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune whatif`: which schedules are compared, and with which options.
 * orchestrator/search/whatif.c plays them.
 *
 * Options that are not given come from the run's own schedule. Schedulers
 * minimize, so bounds of an objective to maximize change sign and place. Two
 * variants with the same label are the same schedule and are tried once.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/show/run/run_view.h"
#include "cli/show/whatif_view.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/whatif.h"

struct options {
    struct opt_texts schedules;
    int64_t eta, min, max, brackets, patience, min_trials;
    const char *rule, *type, *min_delta, *lower, *upper;
};

static const char *const rules[] = {"sagemaker", "vizier", NULL};
static const char *const types[] = {"promotion", "stopping", NULL};

static const struct opt opts[] = {
    {"schedule", 's', OPT_TEXTS, offsetof(struct options, schedules), "METHOD",
     "asha, hyperband, median, patient or threshold; repeat it, "
     "or separate several by commas",
     0, NULL},
    {"eta", 0, OPT_INT, offsetof(struct options, eta), "N",
     "one trial in N is promoted", 2, NULL},
    {"min", 0, OPT_INT, offsetof(struct options, min), "N",
     "resource of the first rung", 1, NULL},
    {"max", 0, OPT_INT, offsetof(struct options, max), "N",
     "resource of a complete trial", 1, NULL},
    {"brackets", 0, OPT_INT, offsetof(struct options, brackets), "N",
     "number of brackets", 1, NULL},
    {"type", 0, OPT_CHOICE, offsetof(struct options, type), "TYPE",
     "asha: promotion (trials pause) or stopping", 0, types},
    {"rule", 0, OPT_CHOICE, offsetof(struct options, rule), "RULE",
     "median: sagemaker or vizier", 0, rules},
    {"min-trials", 0, OPT_INT, offsetof(struct options, min_trials), "N",
     "median: number of curves before any trial is stopped", 1, NULL},
    {"patience", 0, OPT_INT, offsetof(struct options, patience), "N",
     "patient: resource without improvement", 1, NULL},
    {"min-delta", 0, OPT_TEXT, offsetof(struct options, min_delta), "X",
     "patient: smallest improvement that counts", 0, NULL},
    {"lower", 0, OPT_TEXT, offsetof(struct options, lower), "X",
     "threshold: a value below it stops the trial", 0, NULL},
    {"upper", 0, OPT_TEXT, offsetof(struct options, upper), "X",
     "threshold: a value above it stops the trial", 0, NULL},
    {0},
};

/* ---- one schedule ---- */

static void set_if_given(uint64_t *field, int64_t given)
{
    if (given > 0)
        *field = (uint64_t)given;
}

static int set_real(double *field, const char *name, const char *given,
                    struct err *err)
{
    char *end;

    if (given == NULL)
        return 0;
    *field = strtod(given, &end);
    if (end == given || *end != '\0' || !isfinite(*field))
        return err_set(
            err, ERR_USAGE,
            "option '--%s': type mismatch: expected a number, got '%s'", name,
            given);
    return 0;
}

/* Schedulers are told values of which the lower is the better. */
static int set_bounds(const struct options *given, bool maximize,
                      struct schedule_options *options, struct err *err)
{
    double *lower = maximize ? &options->upper : &options->lower;
    double *upper = maximize ? &options->lower : &options->upper;

    if (set_real(lower, "lower", given->lower, err) < 0 ||
        set_real(upper, "upper", given->upper, err) < 0)
        return -1;
    if (maximize && given->lower != NULL)
        *lower = -*lower;
    if (maximize && given->upper != NULL)
        *upper = -*upper;
    return 0;
}

static int set_options(const struct options *given, bool maximize,
                       struct schedule_options *options, struct err *err)
{
    set_if_given(&options->eta, given->eta);
    set_if_given(&options->min, given->min);
    set_if_given(&options->max, given->max);
    set_if_given(&options->brackets, given->brackets);
    set_if_given(&options->patience, given->patience);
    set_if_given(&options->min_trials, given->min_trials);
    if (given->rule != NULL)
        options->rule = given->rule;
    if (given->type != NULL)
        options->type = strcmp(given->type, types[0]) == 0 ? SCHEDULE_PROMOTION
                                                           : SCHEDULE_STOPPING;
    if (set_real(&options->min_delta, "min-delta", given->min_delta, err) < 0)
        return -1;
    return set_bounds(given, maximize, options, err);
}

/* ---- all of them ---- */

struct comparison {
    const struct whatif *whatif;
    const struct options *given;
    struct whatif_row *rows; /* [count] */
    size_t count, capacity;
};

struct variant {
    const char *method;
    uint64_t eta;     /* 0: as it is */
    const char *rule; /* NULL: as it is */
};

/* What is compared where nothing is said. */
static const struct variant variants[] = {
    {"asha", 2, NULL},      {"asha", 3, NULL},          {"asha", 4, NULL},
    {"hyperband", 0, NULL}, {"median", 0, "sagemaker"}, {"median", 0, "vizier"},
};

/* The same one twice is one. */
static bool is_there(const struct comparison *comparison, const char *label)
{
    for (size_t i = 0; i < comparison->count; i++) {
        if (strcmp(comparison->rows[i].label, label) == 0)
            return true;
    }
    return false;
}

static int try_variant(struct comparison *comparison,
                       const struct variant *variant, struct err *err)
{
    const struct whatif_run *run = whatif_run(comparison->whatif);
    struct whatif_row row;

    whatif_options(comparison->whatif, &row.options);
    row.options.method = whatif_method(variant->method);
    if (variant->eta > 0)
        row.options.eta = variant->eta;
    if (variant->rule != NULL)
        row.options.rule = variant->rule;
    if (set_options(comparison->given, run->maximize, &row.options, err) < 0)
        return -1;
    schedule_label(&row.options, row.label);
    if (is_there(comparison, row.label))
        return 0;
    if (whatif_try(comparison->whatif, &row.options, &row.result, err) < 0)
        return -1;
    comparison->rows =
        mem_grow(comparison->rows, comparison->count, &comparison->capacity,
                 sizeof(*comparison->rows));
    comparison->rows[comparison->count++] = row;
    return 0;
}

/* "asha,median" */
static int try_list(struct comparison *comparison, const char *list,
                    struct err *err)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        char *method = mem_copy_bytes(list, length);
        int status =
            try_variant(comparison, &(struct variant){.method = method}, err);

        free(method);
        if (status < 0 || list[length] == '\0')
            return status;
        list += length + 1;
    }
}

static int try_all(struct comparison *comparison, struct err *err)
{
    const struct opt_texts *schedules = &comparison->given->schedules;
    int status = 0;

    for (size_t i = 0; i < schedules->count && status == 0; i++)
        status = try_list(comparison, schedules->items[i], err);
    if (schedules->count > 0)
        return status;
    for (size_t i = 0; i < ARRAY_LEN(variants) && status == 0; i++)
        status = try_variant(comparison, &variants[i], err);
    return status;
}

static int compare(const struct cli *cli, const struct run_view *view,
                   const struct options *given, struct err *err)
{
    struct experiment *experiment =
        run_read_experiment(view->store, view->row.id, err);
    struct comparison comparison = {.given = given};
    struct whatif *whatif = NULL;
    int status = -1;

    if (experiment != NULL)
        whatif = whatif_create(view->store, view->row.id, experiment, err);
    comparison.whatif = whatif;
    if (whatif != NULL)
        status = try_all(&comparison, err);
    if (status == 0)
        status = whatif_print(cli, view->row.name, whatif, comparison.rows,
                              comparison.count, err);
    free(comparison.rows);
    whatif_destroy(whatif);
    experiment_destroy(experiment);
    return status;
}

static int exec_whatif(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)count;
    if (status == 0)
        status = compare(cli, &view, options, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_whatif = {
    .name = "whatif",
    .operands = "RUN",
    .summary = "estimate how much another schedule would have saved",
    .details = "Repeats the run under other schedules with the recorded "
               "learning curves: the same trials in the same order, with "
               "the same parallelism and speed. For each schedule it "
               "shows the resource and the time that it would have used, "
               "whether the best trial of the run would have completed, "
               "and the trial that would have been the best. It starts "
               "and writes nothing.\n\n"
               "Without --schedule it compares asha with eta 2, 3 and 4, "
               "hyperband, and both rules of median. Missing options have "
               "the value of the schedule of the run. If it has none, the "
               "first step of any trial is the first rung, and the "
               "longest curve is a complete trial.\n\n"
               "If a trial was stopped early, the rest of its curve is "
               "unknown. It ends there in each schedule, and counts as "
               "unknown. The schedule would then have used at least the "
               "resource shown, and one of these trials may have been the "
               "best.",
    .examples = "smtune whatif last\n"
                "smtune whatif mlp --schedule asha --eta 4\n"
                "smtune whatif mlp --schedule asha,median --type stopping\n"
                "smtune whatif mlp -o json  # for programs\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_whatif,
};
