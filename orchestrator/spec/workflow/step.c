/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One step of a workflow's file, built in two passes.
 *
 * workflow_build_step() finds what kind of step it is and what it is called.
 * Only when all steps have names can expressions refer to them:
 * workflow_build_work() then compiles conditions, commands and the rest. Two
 * tables say which keys a kind allows, so a key that would be ignored is an
 * error.
 *
 * `own` is the step as written, `map` is the step with the file's `defaults`. A
 * key that only makes sense for one step is read from `own`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/units.h"
#include "orchestrator/spec/experiment/executor_build.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/* What a step may be: exactly one of these keys. */
static const struct {
    const char *key;
    enum step_kind kind;
} kinds[] = {
    {"command", STEP_TASK},
    {"shell", STEP_TASK},
    {"experiment", STEP_EXPERIMENT},
    {"workflow", STEP_WORKFLOW},
    {"fail", STEP_FAIL},
};

#define TASK  (1u << STEP_TASK)
#define BELOW (1u << STEP_EXPERIMENT | 1u << STEP_WORKFLOW)

/* Keys that not all kinds have a use for. */
static const struct {
    const char *key;
    unsigned kinds; /* bits 1 << enum step_kind */
} uses[] = {
    {"with", BELOW},
    {"matrix", TASK | BELOW},
    {"copies", TASK},
    {"success_if", TASK | BELOW},
    {"outputs", TASK},
    {"continue", TASK},
    {"repeat", TASK},
    {"metrics", TASK},
    {"workdir", TASK},
    {"setup", TASK},
    {"container", TASK},
    {"conda", TASK},
    {"env", TASK},
    {"env_from", TASK},
    {"env_file", TASK},
    {"tty", TASK},
    {"channels", TASK},
    {"resources", TASK | BELOW},
    {"timeout", TASK | BELOW},
    {"pool", TASK | BELOW},
    {"pools", TASK | BELOW},
    {"executor", TASK},
    {"retry", TASK | BELOW},
    {"checkpoints", TASK},
    {"cache", TASK | 1u << STEP_EXPERIMENT},
    {"parallel", TASK | BELOW},
    {"fail_fast", TASK | BELOW},
};

static void check_uses(struct workflow_build *w,
                       const struct step_source *source, const char *kind_key,
                       enum step_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        const struct conf_node *key = conf_get_key(source->own, uses[i].key);

        if (key != NULL && (uses[i].kinds & 1u << kind) == 0)
            diags_add(w->build.diags, key->place, NULL,
                      "key '%s' is not allowed in a step with '%s'",
                      uses[i].key, kind_key);
    }
}

/* `shell` beside `command` names the shell that runs it. */
static bool is_interpreter(const struct conf_node *map, const char *key)
{
    return strcmp(key, "shell") == 0 && conf_get(map, "command") != NULL;
}

/* The key that says what it does; NULL: none, or more than one. */
static const struct conf_node *find_kind(struct workflow_build *w,
                                         const struct step_source *source,
                                         enum step_kind *kind)
{
    const struct conf_node *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct conf_node *key = conf_get_key(source->own, kinds[i].key);

        if (key == NULL || is_interpreter(source->own, kinds[i].key))
            continue;
        if (found != NULL) {
            diags_add(w->build.diags, key->place, NULL,
                      "%s has both '%s' and '%s': use one", source->what,
                      found->text, key->text);
            return NULL;
        }
        found = key;
        *kind = kinds[i].kind;
    }
    if (found == NULL)
        diags_add(w->build.diags, source->name->place,
                  "one of: command, shell, experiment, workflow, fail",
                  "missing key: %s has no command", source->what);
    return found;
}

void workflow_build_step(struct workflow_build *w, size_t index)
{
    const struct step_source *source = &w->sources[index];
    struct step *step = &w->workflow->steps[index];
    enum step_kind kind = STEP_TASK;
    const struct conf_node *key;

    step->copies = 1;
    step->executor = w->file->executors[0].name;
    step->kind = STEP_JOIN;
    if (source->name == NULL)
        return;
    step->kind = STEP_TASK;
    if (source->own->type == CONF_MAP) {
        key = find_kind(w, source, &kind);
        if (key != NULL)
            check_uses(w, source, key->text, kind);
        step->kind = kind;
    }
    workflow_build_axes(w, index);
    workflow_build_results(w, index);
    scope_build_step(w, index);
}

/* ---- expressions ---- */

static int prepare(struct job_spec_build *t, const struct conf_node *text)
{
    struct step_build *s = (struct step_build *)t;
    const struct scope_reader reader = {.w = s->w,
                                        .step = s->index,
                                        .knows_itself = s->knows_itself,
                                        .node = text};
    int rc = scope_admit(&reader);

    t->tables = s->step->scope.tables;
    t->table_count = s->step->scope.table_count;
    return rc;
}

struct expr *workflow_compile(struct step_build *s,
                              const struct conf_node *node, const char *label)
{
    const struct scope_reader reader = {.w = s->w,
                                        .step = s->index,
                                        .knows_itself = s->knows_itself,
                                        .is_bare = true,
                                        .node = node};

    if (node == NULL || node->text == NULL || scope_admit(&reader) != 0)
        return NULL;
    return workflow_compile_in(s->w, &s->step->scope, node, label);
}

/* ${{ }} around the whole, replaced by blanks. */
static char *without_marker(const char *text)
{
    size_t length = strlen(text);
    char *copy = mem_copy_string(text);
    size_t start = strspn(copy, " \t\n"), end = length;

    while (end > 0 && strchr(" \t\n", copy[end - 1]) != NULL)
        end--;
    if (end - start < 5 || strncmp(copy + start, "${{", 3) != 0 ||
        strncmp(copy + end - 2, "}}", 2) != 0)
        return copy;
    memset(copy + start, ' ', 3);
    memset(copy + end - 2, ' ', 2);
    return copy;
}

struct expr *workflow_compile_in(struct workflow_build *w,
                                 const struct scope *scope,
                                 const struct conf_node *node,
                                 const char *label)
{
    char *text = without_marker(node->text);
    struct err err;
    struct expr *expr = expr_compile(w->workflow->env, text, scope->tables,
                                     scope->table_count, &err);

    if (expr == NULL) {
        err.line = 1;
        err_prefix(&err, "%s", label);
        build_add_error(&w->build, node, &err);
    }
    free(text);
    return expr;
}

/* Whether the expression reads a column that each copy has its own of. */
static bool reads_copy(const struct step *step, const struct expr *expr)
{
    for (size_t i = 0; i < step->scope.count; i++) {
        const struct scope_column *column = &step->scope.columns[i];
        bool is_of_copy =
            column->kind == COLUMN_AXIS ||
            (column->kind == COLUMN_OWN && column->index == OWN_COPY);

        if (is_of_copy && expr_uses(expr, i))
            return true;
    }
    return false;
}

static void build_condition(struct step_build *s)
{
    struct step *step = s->step;

    step->condition = workflow_compile(s, conf_get(s->source->own, "if"), "if");
    if (step->condition != NULL)
        step->condition_is_of_copy = reads_copy(step, step->condition);
}

/* ---- what it takes ---- */

static void build_time(struct step_build *s)
{
    const struct step_source *source = s->source;
    const struct conf_node *own_time =
        conf_get_key(conf_get(source->own, "resources"), "time");
    struct resources *resources = &s->task.task->resources;

    if (own_time != NULL && conf_get(source->own, "timeout") != NULL)
        diags_add(s->w->build.diags,
                  conf_get_key(source->own, "timeout")->place, NULL,
                  "%s has both 'timeout' and 'resources.time': use one",
                  source->what);
    if (own_time == NULL)
        resources->time_ms =
            conf_read_ms(source->map, "timeout", resources->time_ms);
}

static bool is_below(const struct step_build *s)
{
    return (BELOW & 1u << s->step->kind) != 0;
}

/* The word in the file; NULL: the workflow's first. A child run is started
 * beside this one's engine: its jobs go where its own file says. */
static const char *executor_word(const struct step_build *s)
{
    if (!is_below(s))
        return conf_read_text(s->source->map, "executor", NULL);
    return s->w->file->executors[0].slurm != NULL ? "local" : NULL;
}

static const struct executor_options *find_executor(struct step_build *s)
{
    struct workflow_file *file = s->w->file;
    struct workflow *workflow = s->w->workflow;
    const char *name = executor_word(s);
    size_t i = 0;

    if (name == NULL)
        return &file->executors[0];
    while (i < workflow->executor_count &&
           strcmp(file->executors[i].name, name) != 0)
        i++;
    if (i == workflow->executor_count) {
        const struct conf_node *word =
            is_below(s) ? NULL : conf_get(s->source->map, "executor");

        file->executors =
            mem_resize(file->executors, i + 1, sizeof(*file->executors));
        executor_build(&s->w->build, word, &file->executors[i]);
        workflow->executors = file->executors;
        workflow->executor_count++;
    }
    return &file->executors[i];
}

static void build_executor(struct step_build *s)
{
    const struct executor_options *executor = find_executor(s);

    s->step->executor = executor->name;
    if (!is_below(s))
        job_spec_settle(&s->task, conf_get(s->source->map, "resources"),
                        executor);
}

/* ---- what it does ---- */

static void build_cache(struct step_build *s)
{
    const struct conf_node *node = conf_get(s->source->map, "cache");
    const struct conf_node *inputs = conf_get(node, "inputs");
    const struct conf_node *variables = conf_get(node, "env");
    struct cache_rule *cache = &s->step->cache;

    cache->is_on = node != NULL && (node->type == CONF_MAP || //
                                    (node->type == CONF_BOOL && node->boolean));
    if (!cache->is_on || node->type != CONF_MAP)
        return;
    cache->expire_ms = conf_read_ms(node, "expire", 0);
    cache->inputs = mem_array(conf_item_count(inputs), sizeof(void *));
    for (size_t i = 0; i < conf_item_count(inputs); i++) {
        const struct conf_node *item = conf_item_at(inputs, i);

        if (item->type == CONF_TEXT)
            cache->inputs[cache->input_count] =
                job_spec_build_text(&s->task, item, TEMPLATE_TEXT, "cache");
        cache->input_count += cache->inputs[cache->input_count] != NULL;
    }
    cache->variables =
        mem_array(conf_item_count(variables), sizeof(*cache->variables));
    build_take(s->w->build.file, cache->variables);
    for (size_t i = 0; i < conf_item_count(variables); i++) {
        const struct conf_node *item = conf_item_at(variables, i);

        if (item->type != CONF_TEXT)
            continue;
        if (!job_spec_is_variable(item->text))
            diags_add(s->w->build.diags, item->place, NULL,
                      "'%s' is not a valid name for an environment variable",
                      item->text);
        cache->variables[cache->variable_count++] = item->text;
    }
}

/* Files that are shared out are the same for all copies. */
static void check_share(struct step_build *s, const struct channel *channel,
                        const struct conf_node *place)
{
    const struct scope *scope = &s->step->scope;

    for (size_t i = 0; channel->is_sharded && i < scope->count; i++) {
        if (!workflow_is_of_job(&scope->columns[i]) ||
            !template_uses(channel->path, i))
            continue;
        diags_add(s->w->build.diags, place->place, NULL,
                  "channel '%s' is shared out, and its path depends on "
                  "values of a single copy",
                  channel->name);
        return;
    }
}

static void build_channels(struct step_build *s)
{
    const struct conf_node *map = conf_get(s->source->map, "channels");
    const struct job_spec *spec = s->task.task;

    job_spec_build_channels(&s->task, map);
    for (size_t i = 0; i < spec->channel_count; i++)
        check_share(s, &spec->channels[i],
                    conf_get(map, spec->channels[i].name));
}

/* Steps that name no metric share what finds them all. */
static void build_metrics(struct step_build *s)
{
    const struct conf_node *metrics = conf_get(s->source->map, "metrics");

    if (metrics != NULL || s->w->file->every_metric == NULL)
        job_spec_build_metrics(&s->task, metrics);
    if (metrics != NULL)
        return;
    if (s->w->file->every_metric == NULL)
        s->w->file->every_metric = s->task.task->metrics;
    s->task.task->metrics = s->w->file->every_metric;
}

static void build_task(struct step_build *s)
{
    const struct conf_node *map = s->source->map;
    const struct conf_node *command = conf_get(map, "command");
    const struct conf_node *shell = conf_get(map, "shell");
    size_t checkpoint_dir = s->w->workflow->param_count + OWN_CHECKPOINT_DIR;

    s->step->command = command != NULL ? command : shell;
    s->step->environment = conf_get(map, "env");
    s->step->workdir = conf_get(map, "workdir");
    s->step->channels = conf_get(map, "channels");
    s->step->container = conf_get(map, "container");
    s->step->resources = conf_get(map, "resources");
    s->task.allows_files = true;
    if (command != NULL && shell != NULL)
        job_spec_build_interpreter(&s->task, command, shell);
    else if (command != NULL)
        job_spec_build_command(&s->task, command, false);
    else if (shell != NULL)
        job_spec_build_command(&s->task, shell, true);
    job_spec_build_environment(&s->task, map);
    s->task.allows_files = false;
    job_spec_build_workdir(&s->task, conf_get(map, "workdir"));
    job_spec_build_setup(&s->task, conf_get(map, "setup"));
    job_spec_build_container(&s->task, map, s->source->own);
    build_channels(s);
    build_metrics(s);
    s->task.task->has_tty = conf_read_bool(map, "tty", false);
    s->task.task->has_checkpoints = conf_read_bool(
        map, "checkpoints",
        job_spec_reads(&s->task, map, checkpoint_dir, "SMTUNE_CHECKPOINT_DIR"));
    workflow_build_outputs(s);
    workflow_build_link(s);
    workflow_build_rounds(s);
}

static void build_success(struct step_build *s)
{
    const struct conf_node *node = conf_get(s->source->own, "success_if");
    double wanted = conf_read_number(s->source->own, "success_if", (double)NAN);
    int64_t copies = workflow_copies(s->step);

    if (isnan(wanted) || wanted > 1e6)
        return;
    if (wanted <= 0 || (wanted > 1 && wanted != (double)(int64_t)wanted))
        diags_add(s->w->build.diags, node->place, NULL,
                  "type mismatch: 'success_if': expected a number of copies, "
                  "or a share of them between 0 and 1, got %s",
                  node->text);
    else if (wanted < 1)
        s->flow->success_fraction = wanted;
    else
        s->flow->success_count = (int64_t)wanted;
    if (copies > 0 && s->flow->success_count > copies)
        diags_add(s->w->build.diags, node->place, NULL,
                  "out of range: %s has %lld %s, and %s must succeed",
                  s->source->what, (long long)copies,
                  copies == 1 ? "copy" : "copies", node->text);
}

static enum flow_when read_when(struct step_build *s)
{
    const struct conf_node *node = conf_get(s->source->own, "when");
    enum flow_when when = FLOW_ALL_SUCCESS;

    if (s->source->section != SECTION_STEPS && node != NULL)
        diags_add(s->w->build.diags, node->place, NULL,
                  "key 'when' is not allowed in a step of 'on_failure' or "
                  "'always'");
    if (s->source->section == SECTION_ON_FAILURE)
        return FLOW_ANY_FAILED;
    if (s->source->section == SECTION_ALWAYS)
        return FLOW_ALWAYS;
    for (int i = 0; node != NULL && flow_when_names[i] != NULL; i++)
        if (node->text != NULL && strcmp(node->text, flow_when_names[i]) == 0)
            when = (enum flow_when)i;
    if (when == FLOW_ANY_FAILED && s->flow->need_count == 0)
        diags_add(s->w->build.diags, node->place, NULL,
                  "%s needs no step, so none can fail", s->source->what);
    return when;
}

static void build_flow(struct step_build *s)
{
    const struct conf_node *map = s->source->map;
    struct flow_step *flow = s->flow;

    flow->when = read_when(s);
    flow->is_final = s->source->section != SECTION_STEPS;
    flow->may_fail = conf_read_bool(map, "may_fail", false);
    s->step->allows_empty = conf_read_bool(map, "allow_empty", false);
    flow->priority = conf_read_int(map, "priority", 0);
    flow->parallel = conf_read_int(map, "parallel", 0);
    flow->starts_all = !conf_read_bool(map, "fail_fast", true);
    s->step->kills_copies =
        strcmp(conf_read_text(map, "fail_fast", ""), "kill") == 0;
    flow->reads = s->source->reads;
    flow->read_count = s->source->read_count;
    if (s->step->kind == STEP_FAIL)
        return;
    build_success(s);
    workflow_build_claims(s);
}

/* A child run takes no slot, since its own jobs take theirs, and needs time to
 * end these. */
static void fit_child(struct resources *resources)
{
    enum { GRACE_MS = 60000 };

    resources->cpus = resources->gpus = 0;
    resources->tasks = 1;
    if (resources->grace_ms < GRACE_MS)
        resources->grace_ms = GRACE_MS;
}

static void build_resources(struct step_build *s)
{
    const struct conf_node *retry = conf_get(s->source->map, "retry");

    job_spec_build_resources(&s->task, conf_get(s->source->map, "resources"));
    build_time(s);
    build_executor(s);
    if (is_below(s))
        fit_child(&s->task.task->resources);
    job_spec_build_retries(&s->task, retry);
    job_spec_check_retries(&s->task, retry);
}

static void build_message(struct step_build *s)
{
    const struct conf_node *node = conf_get(s->source->own, "fail");

    if (node->type == CONF_TEXT)
        s->step->message =
            job_spec_build_text(&s->task, node, TEMPLATE_TEXT, "fail");
}

void workflow_build_work(struct workflow_build *w, size_t index)
{
    struct step *step = &w->workflow->steps[index];
    struct step_build s = {
        .task = {.build = &w->build,
                 .task = &step->task,
                 .what = w->sources[index].what,
                 .who = "the step",
                 .tables = step->scope.tables,
                 .table_count = step->scope.table_count,
                 .prepare = prepare},
        .w = w,
        .source = &w->sources[index],
        .step = step,
        .flow = &w->workflow->flow_steps[index],
        .index = index,
    };

    s.flow->may_fail = step->kind == STEP_JOIN; /* its members decide */
    if (step->kind == STEP_JOIN || s.source->own->type != CONF_MAP)
        return;
    s.task.place = s.source->name->place;
    workflow_build_sources(&s);
    build_condition(&s);
    if (step->kind == STEP_FAIL)
        build_message(&s);
    else
        build_resources(&s);
    if (step->kind == STEP_TASK)
        build_task(&s);
    if (step->kind == STEP_EXPERIMENT || step->kind == STEP_WORKFLOW)
        workflow_build_assignments(&s);
    if (step->kind == STEP_TASK || step->kind == STEP_EXPERIMENT)
        build_cache(&s);
    build_flow(&s);
}
