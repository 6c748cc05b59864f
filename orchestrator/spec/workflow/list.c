/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/*
 * The steps as they stand in the file. In a map the order says nothing; in a
 * list each item starts when the one before is over. Where all of one group
 * would have to wait for all of another, they wait for a step in between, which
 * does nothing: so n + m arrows do for n * m. A step with a rule of its own
 * (`when`) waits for the others themselves, whose ends it asks for; and what
 * comes behind it waits for these as well, since it excuses no failure.
 */

/* The steps that what comes next waits for. */
struct step_set {
    size_t *steps; /* [count], kept by the file */
    size_t count;
    size_t join; /* a step that needs them all; NO_STEP: there is none */
};

static const struct step_set nothing = {NULL, 0, NO_STEP};

static const char name_help[] =
    "expected letters, digits and _ first, then - too; not a "
    "number";

static bool is_number(const struct conf_node *key)
{
    return key->type == CONF_INT || key->type == CONF_REAL ||
           key->text[strspn(key->text, "0123456789")] == '\0';
}

static void check_name(struct workflow_build *w, const struct conf_node *key)
{
    const struct expr_table *plain = &w->file->base.tables[0];

    if (!text_is_name(key->text) || strchr(key->text, '.') != NULL ||
        is_number(key)) {
        diags_add(w->build.diags, key->place, name_help,
                  "'%s' is not a valid name for a step", key->text);
        return;
    }
    for (size_t i = 0; i < plain->column_count; i++) {
        if (strcmp(plain->columns[i], key->text) != 0)
            continue;
        diags_add(
            w->build.diags, key->place, NULL,
            i < w->workflow->param_count
                ? "duplicate name '%s': a parameter has it"
                : "'%s' is not a valid name for a step: in expressions it is "
                  "reserved",
            key->text);
    }
}

static size_t add_source(struct workflow_build *w, struct step_source source)
{
    const struct diag_place whole_file = {0, 0, 0};
    size_t index = w->workflow->step_count;

    if (index == WORKFLOW_STEPS_MAX)
        diags_add(w->build.diags, whole_file, NULL,
                  "out of range: the file has more than %d steps",
                  WORKFLOW_STEPS_MAX);
    if (index >= WORKFLOW_STEPS_MAX)
        return index - 1;
    w->sources =
        mem_grow(w->sources, index, &w->source_capacity, sizeof(*w->sources));
    w->sources[index] = source;
    w->workflow->step_count++;
    return index;
}

static bool has_rule(const struct conf_node *map)
{
    const char *when = conf_read_text(map, "when", "all_success");

    return strcmp(when, "all_success") != 0;
}

/* What a step waits for by its place. */
static void set_after(struct workflow_build *w, struct step_source *source,
                      const struct step_set *before)
{
    size_t *join;

    source->after = before->steps;
    source->after_count = before->count;
    if (before->join == NO_STEP || has_rule(source->own))
        return;
    join = build_take(w->build.file, mem_alloc(sizeof(*join)));
    *join = before->join;
    source->after = join;
    source->after_count = 1;
}

static size_t add_step(struct workflow_build *w, const struct conf_node *name,
                       const struct conf_node *map,
                       const struct step_set *before, enum section section)
{
    struct step_source source = {.name = name, .own = map, .section = section};

    check_name(w, name);
    source.what = mem_printf("step '%s'", name->text);
    build_take_text(w->build.file, source.what);
    source.map = conf_merge(w->build.file->doc, map, w->defaults);
    set_after(w, &source, before);
    return add_source(w, source);
}

/* The sets of all items as one. */
static void append(struct step_set *all, size_t *capacity,
                   const struct step_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        all->steps = mem_grow(all->steps, all->count, capacity, sizeof(size_t));
        all->steps[all->count++] = set->steps[i];
    }
}

static struct step_set add_item(struct workflow_build *w,
                                const struct conf_node *item,
                                const struct step_set *before);

static struct step_set add_sequence(struct workflow_build *w,
                                    const struct conf_node *list,
                                    struct step_set before)
{
    for (size_t i = 0; i < list->count; i++)
        before = add_item(w, list->items[i], &before);
    return before;
}

static void add_join(struct workflow_build *w, struct step_set *set)
{
    const struct step_source source = {
        .after = set->steps, .after_count = set->count, .what = NULL};

    set->join = add_source(w, source);
}

static struct step_set add_group(struct workflow_build *w,
                                 const struct conf_node *list,
                                 const struct step_set *before)
{
    struct step_set start = *before, all = nothing;
    size_t capacity = 0;

    if (list->count == 0) {
        diags_add(w->build.diags, list->place, NULL, "the group has no steps");
        return *before;
    }
    if (list->count > 1 && start.count > 1 && start.join == NO_STEP)
        add_join(w, &start);
    for (size_t i = 0; i < list->count; i++) {
        struct step_set set = add_item(w, list->items[i], &start);

        append(&all, &capacity, &set);
    }
    build_take(w->build.file, all.steps);
    return all;
}

static bool is_step_key(const char *word)
{
    const struct schema_key *key = workflow_step_keys;

    while (key->name != NULL && strcmp(key->name, word) != 0)
        key++;
    return key->name != NULL;
}

/* Those of a map have been checked with the rest of the file. */
static struct step_set add_listed(struct workflow_build *w,
                                  const struct conf_node *name,
                                  const struct conf_node *map,
                                  const struct step_set *before)
{
    size_t step = add_step(w, name, map, before, SECTION_STEPS);
    const struct step_set itself = {&step, 1, NO_STEP};
    struct step_set set = nothing;
    size_t capacity = 0;

    schema_check(workflow_step_keys, map, w->sources[step].what,
                 w->build.diags);
    append(&set, &capacity, &itself);
    if (has_rule(map))
        append(&set, &capacity, before);
    build_take(w->build.file, set.steps);
    return set;
}

/* A step's own keys, its name among them. */
static struct step_set add_named(struct workflow_build *w,
                                 const struct conf_node *map,
                                 const struct step_set *before)
{
    const struct conf_node *name = conf_get(map, "name");

    if (name == NULL || name->text == NULL || name->type == CONF_NULL) {
        diags_add(w->build.diags, map->place,
                  "write `name: NAME` in it, or {NAME: {...}}",
                  "missing name of a step in a list");
        return *before;
    }
    return add_listed(w, name, map, before);
}

static struct step_set add_item(struct workflow_build *w,
                                const struct conf_node *item,
                                const struct step_set *before)
{
    const struct conf_node *group = conf_get(item, "parallel");

    if (item->type == CONF_LIST)
        return add_sequence(w, item, *before);
    if (item->type != CONF_MAP) {
        diags_add(w->build.diags, item->place, NULL,
                  "type mismatch: expected a step, a map of keys, got %s",
                  conf_type_name(item->type));
        return *before;
    }
    if (group == NULL || group->type != CONF_LIST) {
        if (item->count != 1 || is_step_key(item->keys[0]->text))
            return add_named(w, item, before);
        return add_listed(w, item->keys[0], item->items[0], before);
    }
    for (size_t i = 0; i < item->count; i++) {
        if (item->items[i] != group)
            diags_add(w->build.diags, item->keys[i]->place, NULL,
                      "key '%s' is not allowed beside a group of steps",
                      item->keys[i]->text);
    }
    return add_group(w, group, before);
}

static void add_map(struct workflow_build *w, const struct conf_node *map,
                    enum section section)
{
    if (map == NULL || map->type != CONF_MAP)
        return;
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *name = conf_get_key(map->items[i], "name");

        if (name != NULL)
            diags_add(w->build.diags, name->place, NULL,
                      "step '%s' has a name already", map->keys[i]->text);
        add_step(w, map->keys[i], map->items[i], &nothing, section);
    }
}

/* ---- names ---- */

static const char *source_name(struct workflow_build *w, size_t index)
{
    const struct conf_node *name = w->sources[index].name;

    if (name != NULL)
        return name->text;
    return build_take_text(w->build.file, mem_printf("join.%zu", index + 1));
}

static int compare_names(const void *a, const void *b, void *user)
{
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const struct step *steps = user;
    int order = strcmp(steps[left].name, steps[right].name);

    return order != 0 ? order : (left > right) - (left < right);
}

static void name_steps(struct workflow_build *w)
{
    struct workflow *workflow = w->workflow;
    size_t count = workflow->step_count;
    size_t *sorted = mem_array(count, sizeof(*sorted));

    workflow->steps = mem_array(count, sizeof(*workflow->steps));
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *name = w->sources[i].name;

        sorted[i] = i;
        workflow->steps[i].name = source_name(w, i);
        if (name != NULL)
            workflow->steps[i].place = name->place;
    }
    qsort_r(sorted, count, sizeof(*sorted), compare_names, workflow->steps);
    w->file->by_name = sorted;
    for (size_t i = 1; i < count; i++) {
        const struct step *first = &workflow->steps[sorted[i - 1]];
        const struct step *again = &workflow->steps[sorted[i]];

        if (strcmp(first->name, again->name) == 0)
            diags_add(w->build.diags, again->place, NULL,
                      "duplicate step '%s' (first defined at line %d)",
                      again->name, first->place.line);
    }
}

void workflow_gather(struct workflow_build *w, const struct conf_node *root)
{
    const struct conf_node *steps = conf_get(root, "steps");

    if (steps != NULL && steps->type == CONF_LIST)
        add_sequence(w, steps, nothing);
    else
        add_map(w, steps, SECTION_STEPS);
    if (steps != NULL && steps->count == 0 &&
        (steps->type == CONF_LIST || steps->type == CONF_MAP))
        diags_add(w->build.diags, steps->place, NULL, "missing steps");
    add_map(w, conf_get(root, "on_failure"), SECTION_ON_FAILURE);
    add_map(w, conf_get(root, "always"), SECTION_ALWAYS);
    name_steps(w);
}
