/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/experiment.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/experiment/config_files.h"
#include "orchestrator/spec/experiment/executor_build.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/experiment/job_spec_build.h"

enum { DEFAULT_TRIALS = 50, DEFAULT_GRID_POINTS = 5 };

#define DEFAULT_IMPROVEMENT 0.01 /* as in SageMaker */

/* The file's name without folder and ending, made fit for a name. */
static const char *default_name(struct experiment_file *file, const char *kind)
{
    const char *slash = strrchr(file->experiment.path, '/');
    char *name = mem_copy_string(slash != NULL ? slash + 1 : kind);
    char *dot = strrchr(name, '.');

    if (dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
        *dot = '\0';
    build_take_text(file, name);
    if (text_is_name(name))
        return name;
    for (char *p = name; *p != '\0'; p++) {
        char letter[] = {'_', *p, '\0'};

        if (!text_is_name(letter))
            *p = '_';
    }
    return text_is_name(name) ? name : kind;
}

void experiment_build_name(struct build *build, const struct conf_node *root,
                           const char *kind)
{
    const struct conf_node *node = conf_get(root, "name");
    const char *name = conf_read_text(root, "name", NULL);

    if (name != NULL && !text_is_name(name))
        diags_add(build->diags, node->place,
                  "expected letters, digits and _ first, then . and - too; "
                  "at most 128",
                  "'%s' is not a valid name for %s %s", name,
                  strchr("aeiou", *kind) != NULL ? "an" : "a", kind);
    build->experiment->name =
        name != NULL ? name : default_name(build->file, kind);
}

/* "minimize loss" in one text, without a goal of its own, would be the name of
 * a metric. */
static void refuse_goal_in_name(struct build *build,
                                const struct conf_node *metric)
{
    size_t length = strcspn(metric->text, " ");
    char *help;

    if (length != strlen("minimize") || metric->text[length] == '\0' ||
        (strncmp(metric->text, "minimize", length) != 0 &&
         strncmp(metric->text, "maximize", length) != 0))
        return;
    help = mem_printf("write {metric: %s, goal: %.*s}",
                      metric->text + length + 1, (int)length, metric->text);
    diags_add(build->diags, metric->place, help,
              "'%s' has a goal in the name of a metric", metric->text);
    free(help);
}

static void add_objective(struct build *build, const struct conf_node *node)
{
    struct experiment *experiment = build->experiment;
    struct objective *objective =
        &experiment->objectives[experiment->objective_count];
    const struct conf_node *metric =
        node->type == CONF_MAP ? conf_get(node, "metric") : node;

    if (metric == NULL || metric->type != CONF_TEXT)
        return;
    build_check_metric_name(build, metric);
    if (node->type != CONF_MAP || conf_get(node, "goal") == NULL)
        refuse_goal_in_name(build, metric);
    for (size_t i = 0; i < experiment->objective_count; i++)
        if (strcmp(experiment->objectives[i].metric, metric->text) == 0)
            diags_add(build->diags, metric->place, NULL,
                      "duplicate objective: metric '%s'", metric->text);
    objective->metric = metric->text;
    objective->maximize =
        strcmp(conf_read_text(node, "goal", ""), "maximize") == 0;
    if (strcmp(conf_read_text(node, "value", ""), "best") == 0)
        objective->value = OBJECTIVE_BEST;
    experiment->objective_count++;
}

static void build_objectives(struct build *build, const struct conf_node *node)
{
    struct experiment *experiment = build->experiment;
    bool is_list = node != NULL && node->type == CONF_LIST;
    size_t count = is_list ? node->count : 1;

    if (node == NULL)
        return;
    experiment->objectives = mem_array(count, sizeof(*experiment->objectives));
    if (count == 0)
        diags_add(build->diags, node->place, NULL, "missing objective");
    if (!is_list)
        add_objective(build, node);
    for (size_t i = 0; is_list && i < count; i++)
        add_objective(build, node->items[i]);
    experiment->search.objective_count = experiment->objective_count;
}

static void build_duplicates(struct build *build, const struct conf_node *root)
{
    struct strategy_options *search = &build->experiment->search;
    const struct conf_node *node =
        conf_get(conf_get(root, "search"), "duplicates");

    search->replicates = (uint64_t)conf_read_int(root, "repeats", 1);
    if (search->replicates > 1)
        search->duplicates = DUPLICATES_REPLICATE;
    if (node == NULL || node->type != CONF_TEXT ||
        strcmp(node->text, "reuse") != 0)
        return;
    if (search->replicates > 1)
        diags_add(build->diags, node->place, "remove one of them",
                  "'search.duplicates: reuse' evaluates no setting twice, and "
                  "'repeats' is %" PRIu64,
                  search->replicates);
    search->duplicates = DUPLICATES_REUSE;
}

int64_t experiment_repeat(const struct experiment *experiment, int64_t trial)
{
    return (trial - 1) % (int64_t)experiment->search.replicates + 1;
}

static void build_learning_rates(struct build *build,
                                 const struct conf_node *node)
{
    struct strategy_options *search = &build->experiment->search;

    search->adapts_rates = conf_read_bool(node, "lr_adapt", false);
    if (search->adapts_rates && strcmp(search->method, "cmaes") != 0)
        diags_add(build->diags, conf_get_key(node, "lr_adapt")->place,
                  "write 'method: cmaes', or remove it",
                  "'search.lr_adapt' is only for cmaes, not for '%s'",
                  search->method);
}

static void build_search(struct build *build, const struct conf_node *node)
{
    struct strategy_options *search = &build->experiment->search;

    search->method = conf_read_text(node, "method", "auto");
    if (node != NULL && node->type == CONF_TEXT)
        search->method = node->text;
    search->seed = (uint64_t)conf_read_int(node, "seed", 0);
    search->grid_points =
        (uint64_t)conf_read_int(node, "points", DEFAULT_GRID_POINTS);
    build_learning_rates(build, node);
}

/* What needs one number to compare has no meaning with many. */
static void refuse_with_many(struct build *build,
                             const struct conf_node *budget, const char *key)
{
    const struct conf_node *node = conf_get_key(budget, key);

    if (node != NULL && build->experiment->objective_count > 1)
        diags_add(build->diags, node->place, NULL,
                  "'budget.%s' is not allowed with several objectives", key);
}

/* Nobody can say beforehand what an attempt will take, without a max. */
static void build_budget_resource(struct build *build,
                                  const struct conf_node *node)
{
    const struct schedule *schedule = &build->experiment->schedule;
    const struct conf_node *resource = conf_get(node, "resource");

    build->experiment->budget.resource = conf_read_int(node, "resource", 0);
    if (resource == NULL)
        return;
    if (!schedule->is_on)
        diags_add(build->diags, resource->place, NULL,
                  "'budget.resource' requires a schedule, which sets the "
                  "resource of a trial");
    else if (schedule->options.max == SCHEDULE_NO_MAX)
        diags_add(build->diags, resource->place, NULL,
                  "'budget.resource' requires 'schedule.max', the largest "
                  "resource of a trial");
}

int64_t experiment_parallel(const struct experiment *experiment)
{
    return experiment->budget.parallel > 0 ? experiment->budget.parallel
                                           : experiment->executor.parallel;
}

static void build_budget(struct build *build, const struct conf_node *node)
{
    struct budget *budget = &build->experiment->budget;
    bool is_grid = strcmp(build->experiment->search.method, "grid") == 0;
    bool is_limited;

    build_budget_resource(build, node);
    budget->time_ms = budget->file_time_ms = conf_read_ms(node, "time", 0);
    is_limited = budget->time_ms > 0 || budget->resource > 0 || is_grid;
    budget->trials = budget->file_trials =
        conf_read_int(node, "trials", is_limited ? 0 : DEFAULT_TRIALS);
    budget->parallel = conf_read_int(node, "parallel", 0);
    budget->target = conf_read_number(node, "target", (double)NAN);
    budget->has_target = !isnan(budget->target);
    budget->no_improvement = conf_read_int(node, "no_improvement", 0);
    budget->improvement =
        conf_read_number(node, "improvement", DEFAULT_IMPROVEMENT);
    budget->convergence = conf_read_bool(node, "convergence", false);
    budget->failures = conf_read_int(node, "failures", 0);
    budget->gives_up = conf_get(node, "failures") == NULL;
    build->experiment->search.budget_trials = (uint64_t)budget->trials;
    /* Other programs decide when they have enough; the default is a plan. */
    if (build->experiment->is_asked && conf_get(node, "trials") == NULL)
        budget->trials = budget->file_trials = 0;
    build->experiment->search.parallel =
        (uint64_t)experiment_parallel(build->experiment);
    refuse_with_many(build, node, "target");
    refuse_with_many(build, node, "no_improvement");
    refuse_with_many(build, node, "convergence");
}

int experiment_enqueue(const struct experiment *experiment,
                       struct strategy *strategy, struct err *err)
{
    size_t width = space_count(experiment->space);

    for (size_t i = 0; i < experiment->enqueued_count; i++) {
        if (strategy_enqueue(strategy, experiment->enqueued + i * width, err) !=
            0)
            return err_prefix(err, "enqueued setting %zu", i + 1);
    }
    return 0;
}

/* The method itself may find that it cannot search this space. One that is
 * not named is chosen such that it can. */
static void check_search(struct build *build, const struct conf_node *root)
{
    const struct conf_node *node = conf_get(root, "search");
    struct experiment *experiment = build->experiment;
    struct strategy *strategy;
    struct err err;

    if (diags_count(build->diags) > 0)
        return;
    strategy = strategy_create(&experiment->search, experiment->space, &err);
    if (strategy == NULL || experiment_enqueue(experiment, strategy, &err) != 0)
        diags_add(build->diags, node->place, NULL, "search: %s", err.text);
    strategy_destroy(strategy);
}

static void build_all(struct build *build)
{
    const struct conf_node *root = conf_root(build->file->doc);

    schema_check(experiment_schema, root, NULL, build->diags);
    if (root->type != CONF_MAP)
        return;
    experiment_build_name(build, root, "experiment");
    build_objectives(build, conf_get(root, "objective"));
    experiment_build_outcomes(build, conf_get(root, "outcomes"));
    build_search(build, conf_get(root, "search"));
    build_duplicates(build, root);
    experiment_build_schedule(build, root);
    executor_build(build, conf_get(root, "executor"),
                   &build->experiment->executor);
    build_budget(build, conf_get(root, "budget"));
    experiment_build_space(build, root);
    experiment_build_enqueue(build, conf_get(root, "enqueue"));
    experiment_build_warm_start(build, conf_get(root, "warm_start"));
    experiment_build_trial(build, conf_get(root, "trial"));
    experiment_finish_schedule(build, root);
    experiment_build_notify(build, conf_get(root, "notify"));
    experiment_check_metrics(build, root);
    check_search(build, root);
}

/* `trial: null` leaves it out, too. */
static bool lacks_trial(const struct conf_doc *doc)
{
    const struct conf_node *root = conf_root(doc);
    const struct conf_node *trial =
        root->type == CONF_MAP ? conf_get(root, "trial") : root;

    return trial == NULL || trial->type == CONF_NULL;
}

static int assign_one(struct experiment_file *file,
                      const struct schema_key *keys, char *assignment,
                      struct err *err)
{
    struct experiment *experiment = &file->experiment;

    experiment->assignments[experiment->assignment_count++] =
        build_take_text(file, assignment);
    return conf_set(file->doc, keys, assignment, err);
}

/* The words of --set, then what the configuration files add. */
static int assign(struct experiment_file *file,
                  const struct experiment_source *source,
                  const struct schema_key *keys, struct err *err)
{
    size_t count = source->assignment_count;
    int rc = 0;

    file->experiment.assignments =
        mem_array(count + CONFIG_COUNT, sizeof(*file->experiment.assignments));
    build_take(file, file->experiment.assignments);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = assign_one(file, keys, mem_copy_string(source->assignments[i]),
                        err);
    for (size_t i = 0; source->config != NULL && i < CONFIG_COUNT && rc == 0;
         i++) {
        char *assignment = config_assignment(source->config, i, file->doc);

        if (assignment != NULL)
            rc = assign_one(file, keys, assignment, err);
    }
    return rc;
}

struct experiment_file *experiment_open(struct conf_doc *doc,
                                        const struct experiment_source *source,
                                        const struct schema_key *keys,
                                        struct err *err)
{
    struct experiment_file *file = mem_zero(sizeof(*file));
    struct experiment *experiment = &file->experiment;
    const char *path = source->path;
    int rc;

    file->doc = doc;
    experiment->source = conf_source(doc);
    experiment->path = "";
    if (*path != '\0' && strcmp(path, "-") != 0)
        experiment->path = build_take_text(file, fs_absolute(path));
    experiment->folder = ".";
    if (experiment->path[0] != '\0')
        experiment->folder = build_resolve_path(file, ".");
    rc = assign(file, source, keys, err);
    experiment->is_asked = rc == 0 && source->is_for_search &&
                           keys == experiment_schema && lacks_trial(doc);
    if (experiment->is_asked)
        rc = conf_set(doc, keys, "trial={command: 'true', checkpoints: true}",
                      err);
    if (rc == 0)
        experiment->env = expr_env_create(err);
    if (experiment->env != NULL)
        return file;
    experiment_destroy(experiment);
    return NULL;
}

/* Takes the document, which is source->text already read. */
static struct experiment *build_from(struct conf_doc *doc,
                                     const struct experiment_source *source,
                                     struct diags *diags, struct err *err)
{
    struct experiment_file *file =
        experiment_open(doc, source, experiment_schema, err);
    struct build build = {.file = file, .diags = diags};

    if (file == NULL)
        return NULL;
    build.experiment = &file->experiment;
    experiment_flatten(doc);
    build_all(&build);
    free(build.columns);
    if (diags_count(diags) == 0)
        return build.experiment;
    experiment_destroy(build.experiment);
    return NULL;
}

struct experiment *experiment_load_for_search(const char *path,
                                              const char *const *assignments,
                                              size_t assignment_count,
                                              struct diags *diags,
                                              struct err *err)
{
    struct experiment_source source = {
        .path = path,
        .assignments = assignments,
        .assignment_count = assignment_count,
        .is_for_search = true,
    };
    struct conf_doc *doc = conf_load(path, diags, err);

    return doc != NULL ? build_from(doc, &source, diags, err) : NULL;
}

struct experiment *experiment_parse(const struct experiment_source *source,
                                    struct diags *diags, struct err *err)
{
    struct conf_doc *doc = conf_parse(source->text, source->length, diags);

    return doc != NULL ? build_from(doc, source, diags, err) : NULL;
}

void experiment_destroy(struct experiment *experiment)
{
    struct experiment_file *file = (struct experiment_file *)experiment;

    if (experiment == NULL)
        return;
    for (size_t i = 0; i < file->taken_count; i++)
        free(file->taken[i]);
    job_spec_clear(&experiment->task);
    space_destroy(experiment->space);
    expr_env_destroy(experiment->env);
    free(experiment->earlier_runs);
    free(experiment->enqueued);
    free(experiment->receivers);
    free(experiment->objectives);
    free(experiment->outcomes);
    free(file->taken);
    conf_destroy(file->doc);
    free(file);
}
