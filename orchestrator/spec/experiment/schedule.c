/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/text.h"
#include "orchestrator/spec/experiment/experiment_impl.h"

/* The keys `schedule` and `early_stopping`, and the search methods that stand
 * for a schedule as well. */

enum {
    MAX_MIN = 2,
    MAX_MAX = 1000000000,
    DEFAULT_ETA = 3,
    DEFAULT_POPULATION = 4
};

#define DEFAULT_QUANTILE 0.25
#define DEFAULT_RESAMPLE 0.25
#define DEFAULT_RESOURCE "epochs"

struct shorthand {
    const char *name, *search;
    double random_fraction;
};

static const struct shorthand shorthands[] = {
#define X(name, search, fraction) {name, search, fraction},
    EXPERIMENT_SHORTHANDS(X)
#undef X
};

/* What SageMaker takes the most of its resource from. */
static const char *const usual_names[] = {"epochs", "num_epochs", "n_epochs",
                                          "numepochs", "n-epochs"};

/* The keys of a method besides those that all have. */
struct method_rule {
    const char *method;
    bool lives_without_max;
    const char *needs; /* a key that must be there; NULL: none */
    const char *keys[4];
};

static const struct method_rule method_rules[] = {
    {"asha", false, NULL, {"eta", "brackets", "type"}},
    {"hyperband", false, NULL, {"eta", "brackets"}},
    {"median", true, NULL, {"rule", "min_trials"}},
    {"patient", true, "patience", {"patience", "min_delta"}},
    {"threshold", true, NULL, {"lower", "upper"}},
    {"pbt", false, NULL, {"population", "quantile", "resample"}},
};

static const char *const common_keys[] = {"method", "resource", "metric", "min",
                                          "max"};

/* Where to point at for what is said of the schedule as a whole. */
static struct diag_place schedule_place(const struct conf_node *root)
{
    static const char *const keys[] = {"search", "early_stopping", "schedule"};
    struct diag_place place = root->place;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (conf_get(root, keys[i]) != NULL)
            place = conf_get(root, keys[i])->place;
    return place;
}

/* ---- which method ---- */

static const struct shorthand *find_shorthand(const char *search)
{
    for (size_t i = 0; i < ARRAY_LEN(shorthands); i++)
        if (strcmp(shorthands[i].name, search) == 0)
            return &shorthands[i];
    return NULL;
}

static const struct method_rule *find_rule(const char *method)
{
    for (size_t i = 0; i < ARRAY_LEN(method_rules); i++)
        if (strcmp(method_rules[i].method, method) == 0)
            return &method_rules[i];
    return NULL;
}

/* The search stands for a schedule too; `given` is what `schedule` says. */
static const char *expand_search(struct build *build,
                                 const struct shorthand *shorthand,
                                 struct diag_place place, const char *given)
{
    struct strategy_options *search = &build->experiment->search;

    search->method = shorthand->search;
    search->random_fraction = shorthand->random_fraction;
    if (given != NULL && strcmp(given, "hyperband") != 0)
        diags_add(build->diags, place,
                  "remove the method of the schedule, or use another search",
                  "search '%s' has the schedule hyperband, not '%s'",
                  shorthand->name, given);
    return "hyperband";
}

/* The schedule's method; NULL: there is none. */
static const char *find_method(struct build *build,
                               const struct conf_node *root)
{
    const struct conf_node *node = conf_get(root, "schedule");
    const struct conf_node *early = conf_get(root, "early_stopping");
    const struct shorthand *shorthand =
        find_shorthand(build->experiment->search.method);
    const char *given = conf_read_text(node, "method", NULL);
    bool has_schedule;
    bool stops_early =
        strcmp(conf_read_text(root, "early_stopping", ""), "auto") == 0;

    if (node != NULL && node->type == CONF_TEXT)
        given = node->text;
    has_schedule =
        node != NULL && (given == NULL || strcmp(given, "none") != 0);
    if (stops_early && (has_schedule || shorthand != NULL))
        diags_add(build->diags, early->place,
                  "it is short for 'schedule: median'",
                  "'early_stopping' and a schedule exclude each other");
    if (shorthand != NULL)
        return expand_search(build, shorthand, schedule_place(root), given);
    if (stops_early)
        return "median";
    if (node == NULL || node->type != CONF_MAP ||
        conf_get(node, "method") != NULL)
        return given;
    diags_add(build->diags, node->place, NULL,
              "missing key 'method' in 'schedule'");
    return "";
}

static bool has_key(const struct method_rule *rule, const char *key)
{
    return text_is_among(key, common_keys, ARRAY_LEN(common_keys)) ||
           text_list_has(rule->keys, key);
}

static char *list_keys(const struct method_rule *rule)
{
    struct buf text = BUF_INIT;

    buf_add_string(&text, "its keys:");
    for (size_t i = 1; i < ARRAY_LEN(common_keys); i++)
        buf_printf(&text, " %s,", common_keys[i]);
    for (size_t i = 0; rule->keys[i] != NULL; i++)
        buf_printf(&text, " %s%s", rule->keys[i],
                   rule->keys[i + 1] != NULL ? "," : "");
    return buf_take(&text);
}

static void check_keys(struct build *build, const struct method_rule *rule,
                       const struct conf_node *node)
{
    char *help = list_keys(rule);

    for (size_t i = 0; node->type == CONF_MAP && i < node->count; i++) {
        const char *key = node->keys[i]->text;

        if (!has_key(rule, key))
            diags_add(build->diags, node->keys[i]->place, help,
                      "key '%s' is not allowed in schedule '%s'", key,
                      rule->method);
    }
    if (rule->needs != NULL && conf_get(node, rule->needs) == NULL)
        diags_add(build->diags, node->place, NULL,
                  "missing key '%s' in schedule '%s'", rule->needs,
                  rule->method);
    free(help);
}

/* ---- the resource ---- */

/* The value of a constant parameter, or NULL. */
static const struct conf_node *find_constant(const struct conf_node *root,
                                             const char *name)
{
    const struct conf_node *param =
        conf_get(conf_get(root, "parameters"), name);

    if (param == NULL || param->type == CONF_LIST)
        return NULL;
    return param->type == CONF_MAP ? conf_get(param, "value") : param;
}

static const char *name_resource(struct build *build,
                                 const struct conf_node *root,
                                 const struct conf_node *node)
{
    const struct conf_node *given = conf_get(node, "resource");

    for (size_t i = 0; given == NULL && i < ARRAY_LEN(usual_names); i++)
        if (find_constant(root, usual_names[i]) != NULL)
            return usual_names[i];
    if (given == NULL || given->type != CONF_TEXT)
        return DEFAULT_RESOURCE;
    if (experiment_is_own_column(given->text))
        diags_add(build->diags, given->place, NULL,
                  "'%s' is not a valid name for a resource: in a command it "
                  "is reserved",
                  given->text);
    else if (!text_is_name(given->text))
        diags_add(build->diags, given->place,
                  "expected letters, digits and _ first, then . and - too",
                  "'%s' is not a valid name for a resource", given->text);
    return given->text;
}

static uint64_t read_constant(struct build *build, const char *name,
                              const struct conf_node *constant)
{
    const char *quote;

    if (constant->type == CONF_INT && constant->integer >= MAX_MIN &&
        constant->integer <= MAX_MAX)
        return (uint64_t)constant->integer;
    quote = constant->text != NULL ? "'" : "";
    diags_add(build->diags, constant->place, NULL,
              "constant '%s' is the largest resource of a trial: "
              "expected a whole number from %d to %d, got %s%s%s",
              name, MAX_MIN, MAX_MAX, quote,
              constant->text != NULL ? constant->text
                                     : conf_type_name(constant->type),
              quote);
    return MAX_MAX;
}

/* What is searched and given out at once would be two values; it is no
 * constant. */
static bool refuse_searched(struct build *build, const struct conf_node *root)
{
    const char *name = build->experiment->schedule.resource;
    const struct conf_node *param =
        conf_get_key(conf_get(root, "parameters"), name);

    if (param == NULL)
        return false;
    diags_add(build->diags, param->place,
              "remove the parameter and set 'schedule.max', or rename "
              "the resource of the schedule",
              "parameter '%s' is the resource of the schedule, and "
              "cannot be searched",
              name);
    return true;
}

static void read_max(struct build *build, const struct method_rule *rule,
                     const struct conf_node *root)
{
    struct schedule_options *options = &build->experiment->schedule.options;
    const char *name = build->experiment->schedule.resource;
    const struct conf_node *node = conf_get(root, "schedule");
    const struct conf_node *least = conf_get(node, "min");
    const struct conf_node *constant = find_constant(root, name);
    uint64_t given = (uint64_t)conf_read_int(node, "max", 0);

    options->max = given > 0 ? given : SCHEDULE_NO_MAX;
    if (constant != NULL)
        options->max = read_constant(build, name, constant);
    else if (!refuse_searched(build, root) && given == 0 &&
             !rule->lives_without_max)
        diags_add(build->diags, schedule_place(root), NULL,
                  "schedule '%s' requires 'schedule.max', the largest number "
                  "of %s of a trial",
                  rule->method, name);
    if (given > 0 && given != options->max)
        diags_add(build->diags, conf_get(node, "max")->place,
                  "remove one of them",
                  "'schedule.max' and the constant '%s' differ", name);
    options->min = (uint64_t)conf_read_int(node, "min", 1);
    if (least != NULL && options->min >= options->max)
        diags_add(
            build->diags, least->place, NULL,
            "out of range: 'schedule.min' must be below the max, %" PRIu64,
            options->max);
}

/* Without a schedule, trials get the max that it would have given them. */
static void read_unscheduled(struct build *build, const struct conf_node *root)
{
    struct schedule *schedule = &build->experiment->schedule;
    const struct conf_node *node = conf_get(root, "schedule");
    const char *name = name_resource(build, root, node);

    if (conf_get(node, "max") == NULL || find_constant(root, name) != NULL)
        return;
    schedule->resource = name;
    schedule->options.max = (uint64_t)conf_read_int(node, "max", 0);
}

/* ---- the rest ---- */

static void read_metric(struct build *build, const struct conf_node *node)
{
    const struct experiment *experiment = build->experiment;
    const char *metric = conf_read_text(node, "metric", NULL);
    const char *names[16];
    size_t count = 0;

    if (metric == NULL)
        return;
    for (size_t i = 0; i < experiment->objective_count; i++) {
        if (count < ARRAY_LEN(names))
            names[count++] = experiment->objectives[i].metric;
        if (strcmp(experiment->objectives[i].metric, metric) == 0) {
            build->experiment->schedule.objective = i;
            return;
        }
    }
    diags_add_unknown(build->diags, conf_get(node, "metric")->place, metric,
                      names, count, "metric '%s' is not an objective", metric);
}

/* Schedulers are told values of which lower is better. */
static void read_bounds(struct build *build, const struct method_rule *rule,
                        const struct conf_node *root)
{
    const struct conf_node *node = conf_get(root, "schedule");
    const struct experiment *experiment = build->experiment;
    struct schedule *schedule = &build->experiment->schedule;
    double lower = conf_read_number(node, "lower", (double)NAN);
    double upper = conf_read_number(node, "upper", (double)NAN);
    bool maximize = schedule->objective < experiment->objective_count &&
                    experiment->objectives[schedule->objective].maximize;

    if (strcmp(rule->method, "threshold") == 0 && isnan(lower) && isnan(upper))
        diags_add(build->diags, schedule_place(root), NULL,
                  "schedule 'threshold' requires 'lower' or 'upper'");
    if (lower >= upper)
        diags_add(build->diags, conf_get(node, "upper")->place, NULL,
                  "out of range: 'schedule.upper' %g is not above "
                  "'schedule.lower' %g",
                  upper, lower);
    schedule->options.maximize = maximize;
    schedule->options.lower = maximize ? -upper : lower;
    schedule->options.upper = maximize ? -lower : upper;
}

static void read_options(struct build *build, const struct conf_node *node)
{
    struct schedule_options *options = &build->experiment->schedule.options;

    options->seed = build->experiment->search.seed;
    options->eta = (uint64_t)conf_read_int(node, "eta", DEFAULT_ETA);
    options->brackets = (uint64_t)conf_read_int(node, "brackets", 0);
    options->rule = conf_read_text(node, "rule", "sagemaker");
    options->min_trials = (uint64_t)conf_read_int(node, "min_trials", 0);
    options->patience = (uint64_t)conf_read_int(node, "patience", 0);
    options->min_delta = conf_read_number(node, "min_delta", 0);
    options->population =
        (uint64_t)conf_read_int(node, "population", DEFAULT_POPULATION);
    options->quantile = conf_read_number(node, "quantile", DEFAULT_QUANTILE);
    options->resample = conf_read_number(node, "resample", DEFAULT_RESAMPLE);
    options->lower = options->upper = (double)NAN;
}

void experiment_build_schedule(struct build *build,
                               const struct conf_node *root)
{
    struct schedule *schedule = &build->experiment->schedule;
    const struct conf_node *node = conf_get(root, "schedule");
    const char *method = find_method(build, root);
    const struct method_rule *rule;

    read_options(build, node);
    if (method == NULL)
        return;
    if (strcmp(method, "none") == 0) {
        read_unscheduled(build, root);
        return;
    }
    schedule->is_on = true;
    schedule->options.method = method;
    schedule->resource = name_resource(build, root, node);
    rule = find_rule(method);
    if (rule == NULL)
        return; /* as the schema has said */
    if (node != NULL)
        check_keys(build, rule, node);
    read_metric(build, node);
    read_max(build, rule, root);
    read_bounds(build, rule, root);
}

/* The method itself may find that its options do not go together, or with so
 * many trials. */
static void check_schedule(struct build *build, const struct conf_node *root)
{
    const struct experiment *experiment = build->experiment;
    const struct schedule_options *options = &experiment->schedule.options;
    struct scheduler *scheduler;
    struct schedule_plan plan = {0};
    struct err err;
    int rc = 0;

    if (diags_count(build->diags) > 0)
        return;
    scheduler = scheduler_create(options, experiment->space, &err);
    if (scheduler == NULL)
        rc = -1;
    else if (options->max != SCHEDULE_NO_MAX)
        rc = schedule_plan_init(&plan, options,
                                (uint64_t)experiment->budget.trials, &err);
    if (rc != 0)
        diags_add(build->diags, schedule_place(root), NULL, "schedule: %s",
                  err.text);
    schedule_plan_clear(&plan);
    scheduler_destroy(scheduler);
}

/* What a schedule is, hangs on whether trials keep checkpoints. */
void experiment_finish_schedule(struct build *build,
                                const struct conf_node *root)
{
    const struct experiment *experiment = build->experiment;
    struct schedule_options *options = &build->experiment->schedule.options;
    const char *type =
        conf_read_text(conf_get(root, "schedule"), "type", "auto");

    options->type = experiment->task.has_checkpoints ? SCHEDULE_PROMOTION
                                                     : SCHEDULE_STOPPING;
    if (!experiment->schedule.is_on)
        return;
    if (strcmp(type, "promotion") == 0)
        options->type = SCHEDULE_PROMOTION;
    if (strcmp(type, "stopping") == 0)
        options->type = SCHEDULE_STOPPING;
    if (strcmp(options->method, "pbt") == 0 &&
        !experiment->task.has_checkpoints)
        diags_add(build->diags, schedule_place(root),
                  "write 'checkpoints: true' in 'trial' if it saves them in "
                  "SMTUNE_CHECKPOINT_DIR",
                  "schedule 'pbt' requires trials that resume from "
                  "checkpoints");
    check_schedule(build, root);
}
