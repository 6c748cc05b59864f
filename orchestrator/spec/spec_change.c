/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two files side by side, as maps in maps. A list is one value. A short form
 * (`search: random`) is the map that it stands for. Numbers and texts are
 * compared by what they are, so comments, quotes and the order of keys are no
 * change, except where the order counts: parameters and the axes of a matrix.
 *
 * A table has what a run that has begun can take over. All else is what its
 * suggestions and its schedule were decided by: a replay would decide
 * otherwise. Steps of a workflow can change in all but their names: what a step
 * has done by then may not hold any more, and the table has that, too.
 */
#include "orchestrator/spec/spec_change.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/conf/json.h"
#include "base/conf/schema.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/spec_mask.h"
#include "orchestrator/spec/workflow/step_change.h"
#include "orchestrator/spec/workflow/workflow.h"

/* ---- what may change ---- */

struct rule {
    const char *key; /* and all inside of it, unless a longer one fits */
    const char *why; /* the run keeps it; NULL: it does not */
    enum spec_effect effect; /* on a step */
};

#define BY_SEARCH "the search depends on it"
#define BY_RESULT "results of the run depend on it"

static const struct rule experiment_rules[] = {
    {.key = "trial"},
    {.key = "trial.checkpoints",
     .why = "retries and the schedule depend on it"},
    {.key = "budget"},
    {.key = "executor"},
    {.key = "notify"},
    {.key = "name", .why = "a run keeps its name"},
    {.key = "version", .why = "a run keeps the format of its file"},
    {.key = "", .why = BY_SEARCH},
};

static const struct rule workflow_rules[] = {
    {.key = "time"},
    {.key = "parallel"},
    {.key = "pools"},
    {.key = "executor"},
    {.key = "notify"},
    {.key = "outputs"},
    {.key = "name", .why = "a run keeps its name"},
    {.key = "version", .why = "a run keeps the format of its file"},
    {.key = "", .why = BY_RESULT},
};

/* Inside of a step, or of `defaults`. All else decides whether it begins, with
 * which copies, and what they are. */
static const struct rule step_rules[] = {
    {.key = "command", .effect = EFFECT_RESULT},
    {.key = "shell", .effect = EFFECT_RESULT},
    {.key = "env", .effect = EFFECT_RESULT},
    {.key = "env_from", .effect = EFFECT_RESULT},
    {.key = "env_file", .effect = EFFECT_RESULT},
    {.key = "setup", .effect = EFFECT_RESULT},
    {.key = "container", .effect = EFFECT_RESULT},
    {.key = "conda", .effect = EFFECT_RESULT},
    {.key = "workdir", .effect = EFFECT_RESULT},
    {.key = "metrics", .effect = EFFECT_RESULT},
    {.key = "channels", .effect = EFFECT_RESULT},
    {.key = "outputs", .effect = EFFECT_RESULT},
    {.key = "tty", .effect = EFFECT_RESULT},
    {.key = "success_if", .effect = EFFECT_OUTCOME},
    {.key = "may_fail", .effect = EFFECT_OUTCOME},
    {.key = "checkpoints", .effect = EFFECT_IDLE},
    {.key = "continue", .effect = EFFECT_IDLE},
    {.key = "resources", .effect = EFFECT_NEXT},
    {.key = "timeout", .effect = EFFECT_NEXT},
    {.key = "retry", .effect = EFFECT_NEXT},
    {.key = "executor", .effect = EFFECT_NEXT},
    {.key = "cache", .effect = EFFECT_NEXT},
    {.key = "parallel", .effect = EFFECT_NEXT},
    {.key = "pool", .effect = EFFECT_NEXT},
    {.key = "pools", .effect = EFFECT_NEXT},
    {.key = "priority", .effect = EFFECT_NEXT},
    {.key = "fail_fast", .effect = EFFECT_NEXT},
    {.key = "", .effect = EFFECT_BEGIN},
};

static bool is_inside(const char *key, const char *outer)
{
    size_t length = strlen(outer);

    return length == 0 || (strncmp(key, outer, length) == 0 &&
                           (key[length] == '\0' || key[length] == '.'));
}

static const struct rule *find_rule(const struct rule *rules, size_t count,
                                    const char *key)
{
    const struct rule *best = &rules[count - 1]; /* of "" */

    for (size_t i = 0; i < count; i++) {
        if (is_inside(key, rules[i].key) &&
            strlen(rules[i].key) > strlen(best->key))
            best = &rules[i];
    }
    return best;
}

/* ---- the walk ---- */

struct walk {
    struct spec_changes *changes;
    const struct rule *rules;
    size_t rule_count;
    const char *prefix; /* of the keys, before those that the rules have */
    int64_t step;
};

static char *join(const char *outer, const char *name)
{
    return outer[0] == '\0' ? mem_copy_string(name)
                            : mem_printf("%s.%s", outer, name);
}

static json_t *to_json(const struct conf_node *node)
{
    return node != NULL ? conf_to_json(node) : NULL;
}

static struct spec_change *add(struct spec_changes *changes, char *key)
{
    struct spec_change *change;

    changes->items = mem_grow(changes->items, changes->count,
                              &changes->capacity, sizeof(*changes->items));
    change = &changes->items[changes->count++];
    *change = (struct spec_change){.step = -1};
    change->key = key;
    return change;
}

static void add_nodes(const struct walk *walk, const char *key,
                      const struct conf_node *before,
                      const struct conf_node *after)
{
    const struct rule *rule = find_rule(walk->rules, walk->rule_count, key);
    struct spec_change *change = add(walk->changes, join(walk->prefix, key));

    change->before = to_json(before);
    change->after = to_json(after);
    change->step = walk->step;
    change->effect = rule->effect;
    change->refused = rule->why;
}

/* How the file describes the item of a key. */
static const struct schema_key *find_schema(const struct schema_key *outer,
                                            const char *name)
{
    if (outer == NULL)
        return NULL;
    for (const struct schema_key *key = outer->keys;
         key != NULL && key->name != NULL; key++)
        if (strcmp(key->name, name) == 0)
            return key;
    return outer->element;
}

static bool may_be_map(const struct schema_key *schema,
                       const struct conf_node *node)
{
    return node == NULL || node->type == CONF_MAP ||
           (node->type != CONF_LIST && schema != NULL &&
            schema->shorthand != NULL);
}

/* Of a map, or of what stands for one. */
static const struct conf_node *get(const struct schema_key *schema,
                                   const struct conf_node *node,
                                   const char *name)
{
    if (node == NULL || node->type == CONF_MAP)
        return conf_get(node, name);
    return schema != NULL && schema->shorthand != NULL &&
                   strcmp(name, schema->shorthand) == 0
               ? node
               : NULL;
}

static void compare(const struct walk *walk, const char *key,
                    const struct schema_key *schema,
                    const struct conf_node *before,
                    const struct conf_node *after);

static void compare_item(const struct walk *walk, const char *outer,
                         const char *name, const struct schema_key *schema,
                         const struct conf_node *const sides[2])
{
    char *key = join(outer, name);

    compare(walk, key, find_schema(schema, name), get(schema, sides[0], name),
            get(schema, sides[1], name));
    free(key);
}

/* Each key once: those of the new file, then those that it lacks. */
static void compare_maps(const struct walk *walk, const char *key,
                         const struct schema_key *schema,
                         const struct conf_node *const sides[2])
{
    for (int side = 1; side >= 0; side--) {
        const struct conf_node *map = sides[side], *other = sides[1 - side];

        if (map != NULL && map->type != CONF_MAP &&
            (side == 1 || get(schema, other, schema->shorthand) == NULL))
            compare_item(walk, key, schema->shorthand, schema, sides);
        for (size_t i = 0;
             map != NULL && map->type == CONF_MAP && i < map->count; i++) {
            const char *name = map->keys[i]->text;

            if (side == 1 || get(schema, other, name) == NULL)
                compare_item(walk, key, name, schema, sides);
        }
    }
}

static bool has_other_order(const struct conf_node *a,
                            const struct conf_node *b)
{
    if (a == NULL || b == NULL || a->type != CONF_MAP || b->type != CONF_MAP)
        return false;
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(a->keys[i]->text, b->keys[i]->text) != 0)
            return true;
    return false;
}

/* Parameters, and groups of them, are suggested in their order; the axes of a
 * matrix number its copies. */
static bool counts_order(const char *key, const struct conf_node *map)
{
    return strcmp(key, "matrix") == 0 ||
           (is_inside(key, "parameters") && map->items[0]->type == CONF_MAP);
}

/* What differs of an item. */
static void compare(const struct walk *walk, const char *key,
                    const struct schema_key *schema,
                    const struct conf_node *before,
                    const struct conf_node *after)
{
    const struct conf_node *const sides[] = {before, after};
    size_t count = walk->changes->count;
    bool are_maps =
        may_be_map(schema, before) && may_be_map(schema, after) &&
        ((before != NULL && before->type == CONF_MAP && before->count > 0) ||
         (after != NULL && after->type == CONF_MAP && after->count > 0));

    if (conf_is_same(before, after))
        return;
    if (!are_maps) {
        add_nodes(walk, key, before, after);
        return;
    }
    compare_maps(walk, key, schema, sides);
    if (walk->changes->count == count && has_other_order(before, after) &&
        counts_order(key, after))
        add_nodes(walk, key, before, after);
}

/* ---- a workflow ---- */

static void refuse_names(struct spec_changes *changes, char *key,
                         const struct spec *const specs[2], const char *why)
{
    struct spec_change *change = add(changes, key);
    json_t **const lists[] = {&change->before, &change->after};

    for (int side = 0; side < 2; side++) {
        const struct workflow *workflow = specs[side]->workflow;

        *lists[side] = json_array();
        for (size_t i = 0; i < workflow->step_count; i++)
            json_array_append_new(*lists[side],
                                  json_from_text(workflow->steps[i].name));
    }
    change->refused = why;
}

static bool have_same_steps(const struct workflow *a, const struct workflow *b)
{
    if (a->step_count != b->step_count)
        return false;
    for (size_t i = 0; i < a->step_count; i++)
        if (strcmp(a->steps[i].name, b->steps[i].name) != 0)
            return false;
    return true;
}

static json_t *names_json(const struct workflow *workflow, const size_t *steps,
                          size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list,
                              json_from_text(workflow->steps[steps[i]].name));
    return list;
}

static json_t *needs_json(const struct workflow *workflow, size_t step)
{
    size_t count;
    const size_t *needs = step_needs(workflow, step, &count);

    return names_json(workflow, needs, count);
}

static bool are_same_steps(const size_t *a, size_t a_count, const size_t *b,
                           size_t b_count)
{
    return a_count == b_count &&
           (a_count == 0 || memcmp(a, b, a_count * sizeof(*a)) == 0);
}

/* Whether the same steps come before it, for the same reasons. */
static bool has_same_place(const struct flow_step *a, const struct flow_step *b)
{
    return a->is_final == b->is_final && a->order_count == b->order_count &&
           are_same_steps(a->needs, a->need_count, b->needs, b->need_count) &&
           are_same_steps(a->reads, a->read_count, b->reads, b->read_count);
}

/* No key of the step need tell of its place: the order of a list does, or an
 * output that a command reads. */
static void compare_places(struct spec_changes *changes, size_t from,
                           const struct spec *const specs[2], size_t step)
{
    const struct workflow *before = specs[0]->workflow;
    const struct workflow *after = specs[1]->workflow;
    struct spec_change *change;

    if (has_same_place(&before->flow_steps[step], &after->flow_steps[step]))
        return;
    for (size_t i = from; i < changes->count; i++)
        changes->items[i].effect = EFFECT_BEGIN;
    if (changes->count > from)
        return;
    change =
        add(changes, mem_printf("steps.%s.needs", after->steps[step].name));
    change->before = needs_json(before, step);
    change->after = needs_json(after, step);
    change->step = (int64_t)step;
    change->effect = EFFECT_BEGIN;
}

static void compare_steps(struct spec_changes *changes,
                          const struct spec *const specs[2],
                          const struct conf_node *const roots[2])
{
    const struct schema_key file = {.keys = workflow_schema};
    const struct schema_key *step =
        find_schema(find_schema(&file, "steps"), "");
    const struct workflow *before = specs[0]->workflow;

    for (size_t i = 0; i < before->step_count; i++) {
        const char *name = before->steps[i].name;
        char *prefix = mem_printf("steps.%s", name);
        const struct walk walk = {changes, step_rules, ARRAY_LEN(step_rules),
                                  prefix, (int64_t)i};
        size_t from = changes->count;

        compare(&walk, "", step, step_find_node(roots[0], name),
                step_find_node(roots[1], name));
        compare_places(changes, from, specs, i);
        free(prefix);
    }
}

/* Whether an attempt ended by its time limit decides about its next link. */
static void note_time_of_links(struct spec_changes *changes,
                               const struct workflow *workflow)
{
    for (size_t i = 0; i < changes->count; i++) {
        struct spec_change *change = &changes->items[i];
        bool has_links = false;

        if (!text_ends_with(change->key, ".resources.time") &&
            !text_ends_with(change->key, ".timeout"))
            continue;
        for (size_t step = 0; step < workflow->step_count; step++)
            has_links |= (change->step < 0 || change->step == (int64_t)step) &&
                         workflow->steps[step].link.max > 0;
        if (has_links && change->effect < EFFECT_IDLE)
            change->effect = EFFECT_IDLE;
    }
}

static bool is_of_steps(const char *key)
{
    static const char *const keys[] = {"steps", "on_failure", "always",
                                       "defaults"};

    return text_is_among(key, keys, ARRAY_LEN(keys));
}

static void compare_workflows(struct spec_changes *changes,
                              const struct spec *const specs[2],
                              const struct conf_node *const roots[2])
{
    const struct walk top = {changes, workflow_rules, ARRAY_LEN(workflow_rules),
                             "", -1};
    const struct walk defaults = {changes, step_rules, ARRAY_LEN(step_rules),
                                  "defaults", -1};
    const struct schema_key file = {.keys = workflow_schema};

    for (int side = 1; side >= 0; side--) {
        const struct conf_node *root = roots[side];

        for (size_t i = 0; i < root->count; i++) {
            const char *name = root->keys[i]->text;

            if (!is_of_steps(name) && strcmp(name, "touch") != 0 &&
                (side == 1 || conf_get(roots[1], name) == NULL))
                compare_item(&top, "", name, &file, roots);
        }
    }
    compare(&defaults, "", find_schema(&file, "defaults"),
            conf_get(roots[0], "defaults"), conf_get(roots[1], "defaults"));
    if (have_same_steps(specs[0]->workflow, specs[1]->workflow))
        compare_steps(changes, specs, roots);
    else
        refuse_names(changes, mem_copy_string("steps"), specs,
                     "a run keeps its steps, their names and order");
    note_time_of_links(changes, specs[0]->workflow);
}

/* ---- both ---- */

/* is_masked: as a copy has it whose secrets are masked. */
static struct conf_doc *read_doc(const struct spec *spec, bool is_masked,
                                 struct err *err)
{
    const struct experiment *experiment = spec->experiment;
    struct diags *diags = diags_create(experiment->path);
    struct buf masked = BUF_INIT;
    const char *text = experiment->source;
    struct conf_doc *doc;

    if (is_masked) {
        spec_mask_like_copy(text, &masked);
        text = buf_text(&masked);
    }
    doc = conf_parse(text, strlen(text), diags);
    if (doc == NULL)
        diags_to_err(diags, err);
    diags_destroy(diags);
    buf_clear(&masked);
    return doc;
}

static int assign(struct conf_doc *doc, const struct spec *spec, bool is_masked,
                  struct err *err)
{
    const struct experiment *experiment = spec->experiment;
    const struct schema_key *keys =
        spec->workflow != NULL ? workflow_schema : experiment_schema;
    int result = 0;

    for (size_t i = 0; i < experiment->assignment_count && result == 0; i++) {
        const char *word = experiment->assignments[i];
        struct buf masked = BUF_INIT;

        if (is_masked && !spec_is_masked(word)) {
            spec_mask_word(experiment->source, word, &masked);
            word = buf_text(&masked);
        }
        result = conf_set(doc, keys, word, err);
        buf_clear(&masked);
    }
    return result;
}

/* What the file itself has of "a.b.c"; NULL: nothing. */
static const struct conf_node *find_dotted(const struct conf_node *node,
                                           const char *key)
{
    char *parts = mem_copy_string(key), *rest = parts;
    const char *part;

    while (node != NULL && (part = strsep(&rest, ".")) != NULL)
        node = conf_get(node, part);
    free(parts);
    return node;
}

/* Before the words of --set are assigned. */
static void find_overridden(const struct spec *after,
                            const struct conf_doc *old,
                            const struct conf_doc *new,
                            struct spec_changes *changes)
{
    const struct experiment *experiment = after->experiment;

    changes->overridden =
        mem_array(experiment->assignment_count, sizeof(*changes->overridden));
    for (size_t i = 0; i < experiment->assignment_count; i++) {
        const char *word = experiment->assignments[i];
        char *key = mem_copy_bytes(word, strcspn(word, "="));

        if (conf_is_same(find_dotted(conf_root(old), key),
                         find_dotted(conf_root(new), key)))
            free(key);
        else
            changes->overridden[changes->overridden_count++] = key;
    }
}

static void compare_files(struct spec_changes *changes,
                          const struct spec *const specs[2],
                          const struct conf_node *const roots[2])
{
    const struct walk walk = {changes, experiment_rules,
                              ARRAY_LEN(experiment_rules), "", -1};
    const struct schema_key file = {.keys = experiment_schema};

    if (specs[0]->workflow != NULL)
        compare_workflows(changes, specs, roots);
    else
        compare(&walk, "", &file, roots[0], roots[1]);
}

int spec_change_find(const struct spec *before, const struct spec *after,
                     struct spec_changes *changes, struct err *err)
{
    const struct spec *const specs[] = {before, after};
    bool is_masked = spec_is_masked(before->experiment->source);
    struct conf_doc *old, *new = NULL;
    int result = -1;

    if ((before->workflow == NULL) != (after->workflow == NULL))
        return err_set(err, ERR_USAGE, "the file is %s, and the run is of %s",
                       after->workflow != NULL ? "a workflow" : "an experiment",
                       before->workflow != NULL ? "a workflow"
                                                : "an experiment");
    old = read_doc(before, false, err);
    if (old != NULL)
        new = read_doc(after, is_masked, err);
    if (new != NULL) {
        find_overridden(after, old, new, changes);
        result = assign(old, before, is_masked, err);
    }
    if (result == 0)
        result = assign(new, after, is_masked, err);
    if (result == 0) {
        const struct conf_node *const roots[] = {conf_root(old),
                                                 conf_root(new)};

        compare_files(changes, specs, roots);
    }
    conf_destroy(old);
    conf_destroy(new);
    return result;
}

void spec_changes_clear(struct spec_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->items[i].key);
        json_decref(changes->items[i].before);
        json_decref(changes->items[i].after);
    }
    for (size_t i = 0; i < changes->overridden_count; i++)
        free(changes->overridden[i]);
    free(changes->overridden);
    free(changes->items);
    *changes = (struct spec_changes){0};
}

/* ---- questions ---- */

bool spec_changes_have(const struct spec_changes *changes, const char *key)
{
    for (size_t i = 0; i < changes->count; i++)
        if (is_inside(changes->items[i].key, key))
            return true;
    return false;
}

bool spec_changes_have_retries(const struct spec_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const char *key = changes->items[i].key;

        if (strstr(key, ".retry") != NULL ||
            strstr(key, ".resources") != NULL ||
            strstr(key, ".timeout") != NULL)
            return true;
    }
    return false;
}

const struct spec_change *spec_changes_refused(
    const struct spec_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].refused != NULL)
            return &changes->items[i];
    return NULL;
}
