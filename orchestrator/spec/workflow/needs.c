/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/*
 * Who needs whom, and the question whether one step comes before another: an
 * expression may read only what came before. Most name a step that is near, and
 * a short search back finds it. Where it does not, all steps that come behind
 * the named one are marked, and the marks kept: in large files many steps read
 * the same few.
 */

enum {
    SEARCH_MAX = 256, /* steps looked at before marks are made */
    MARKS_MAX = 32,   /* steps whose marks are kept */
    CIRCLE_SHOWN = 10
};

struct reach {
    size_t *stack, *visited_by; /* [step_count] */
    size_t searches;            /* the last of them marks visited_by */
    bool *behind[MARKS_MAX];    /* [step_count]: what needs of[i] */
    size_t of[MARKS_MAX];
    size_t mark_count, next;
};

int64_t workflow_find(const struct workflow *workflow, const char *name)
{
    const struct workflow_file *file = (const struct workflow_file *)workflow;
    size_t low = 0, high = workflow->step_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        size_t step = file->by_name[middle];
        int order = strcmp(name, workflow->steps[step].name);

        if (order == 0)
            return (int64_t)step;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

int workflow_refuse_step(const struct workflow_build *w,
                         struct diag_place place, const char *name)
{
    size_t count = w->workflow->step_count;
    const char **names;
    size_t known = 0;

    /* a search among all names is slow, and later ones are not shown */
    if (diags_count(w->build.diags) >= DIAG_MAX)
        return diags_add(w->build.diags, place, NULL, "unknown step '%s'",
                         name);
    names = mem_array(count, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        if (w->sources[i].name != NULL)
            names[known++] = w->workflow->steps[i].name;
    }
    diags_add_unknown(w->build.diags, place, name, names, known,
                      "unknown step '%s'", name);
    free(names);
    return -1;
}

static int refuse_need(const struct workflow_build *w, size_t step,
                       const struct conf_node *node, const char *why)
{
    return diags_add(w->build.diags, node->place, NULL,
                     "%s cannot need '%s': %s", w->sources[step].what,
                     node->text, why);
}

static void add_named(struct workflow_build *w, size_t step, size_t need)
{
    struct reach *reach = w->reach;

    graph_add(w->workflow->graph, step, need);
    w->sources[step].named_count += reach->visited_by[need] != reach->searches;
    reach->visited_by[need] = reach->searches;
}

static void add_need(struct workflow_build *w, size_t step,
                     const struct conf_node *node)
{
    enum section section = w->sources[step].section;
    int64_t need;

    if (node->text == NULL || node->type == CONF_NULL)
        return;
    need = workflow_find(w->workflow, node->text);
    if (need < 0 || w->sources[need].name == NULL)
        workflow_refuse_step(w, node->place, node->text);
    else if ((size_t)need == step)
        refuse_need(w, step, node, "a step starts before itself ends");
    else if (section == SECTION_STEPS &&
             w->sources[need].section != SECTION_STEPS)
        refuse_need(w, step, node,
                    "that step starts when all others have ended");
    else if (section != SECTION_STEPS &&
             w->sources[need].section == SECTION_STEPS)
        refuse_need(w, step, node, "it starts when all of 'steps' have ended");
    else
        add_named(w, step, (size_t)need);
}

/* What it names comes before what it follows by its place alone. */
static void add_needs(struct workflow_build *w, size_t step)
{
    const struct step_source *source = &w->sources[step];
    const struct conf_node *needs = conf_get(source->own, "needs");

    w->reach->searches++;
    if (needs != NULL && needs->type != CONF_LIST)
        add_need(w, step, needs);
    for (size_t i = 0; needs != NULL && i < needs->count; i++)
        if (needs->type == CONF_LIST)
            add_need(w, step, needs->items[i]);
    for (size_t i = 0; i < source->after_count; i++)
        graph_add(w->workflow->graph, step, source->after[i]);
}

/* Where a step says that it needs another one, which comes later in the file:
 * not by its place alone. */
static struct diag_place need_place(const struct workflow_build *w, size_t step,
                                    size_t need)
{
    const struct conf_node *needs = conf_get(w->sources[step].own, "needs");
    const struct conf_node *said = needs;
    const char *name = w->workflow->steps[need].name;

    for (size_t i = 0; i < needs->count; i++)
        if (needs->items[i]->text != NULL &&
            strcmp(needs->items[i]->text, name) == 0)
            said = needs->items[i];
    return said->place;
}

/* The circle's first step is the first of its steps in the file. */
static void check_circle(struct workflow_build *w)
{
    const struct step *steps = w->workflow->steps;
    size_t *circle = NULL;
    size_t count = graph_circle(w->workflow->graph, &circle);
    size_t shown = count <= CIRCLE_SHOWN ? count : CIRCLE_SHOWN;
    struct buf text = BUF_INIT;

    if (count == 0)
        return;
    for (size_t i = 0; i < shown; i++)
        buf_printf(&text, "'%s' needs ", steps[circle[i]].name);
    if (shown < count)
        buf_printf(&text, "(%zu steps more) needs ", count - shown);
    buf_printf(&text, "'%s'", steps[circle[0]].name);
    diags_add(w->build.diags, need_place(w, circle[0], circle[1 % count]), NULL,
              "steps depend on each other in a cycle: %s", buf_text(&text));
    buf_clear(&text);
    free(circle);
}

static size_t copy_needs(struct workflow_build *w, size_t step)
{
    struct flow_step *flow = &w->workflow->flow_steps[step];
    size_t count;
    const size_t *needs = graph_needs(w->workflow->graph, step, &count);
    size_t *copy;

    if (count == 0)
        return 0;
    copy = build_take(w->build.file, mem_array(count, sizeof(*copy)));
    memcpy(copy, needs, count * sizeof(*copy));
    flow->needs = copy;
    flow->need_count = count;
    flow->order_count = count - w->sources[step].named_count;
    return count;
}

void workflow_build_needs(struct workflow_build *w)
{
    struct workflow *workflow = w->workflow;
    size_t count = workflow->step_count;

    workflow->graph = graph_create(count);
    workflow->flow_steps = mem_array(count, sizeof(*workflow->flow_steps));
    w->reach = mem_zero(sizeof(*w->reach));
    w->reach->stack = mem_array(count, sizeof(size_t));
    w->reach->visited_by = mem_array(count, sizeof(size_t));
    for (size_t i = 0; i < count; i++)
        add_needs(w, i);
    check_circle(w);
    for (size_t i = 0; i < count; i++)
        copy_needs(w, i);
}

/* 1: found, 0: not there, -1: too far to tell. */
static int search_back(struct workflow_build *w, size_t step, size_t wanted)
{
    const struct flow_step *flows = w->workflow->flow_steps;
    struct reach *reach = w->reach;
    size_t depth = 0, seen = 0;

    reach->searches++;
    reach->stack[depth++] = step;
    while (depth > 0) {
        const struct flow_step *flow = &flows[reach->stack[--depth]];

        for (size_t i = 0; i < flow->need_count; i++) {
            size_t need = flow->needs[i];

            if (need == wanted)
                return 1;
            if (++seen > SEARCH_MAX)
                return -1;
            if (reach->visited_by[need] == reach->searches)
                continue;
            reach->visited_by[need] = reach->searches;
            reach->stack[depth++] = need;
        }
    }
    return 0;
}

static const bool *mark_behind(struct workflow_build *w, size_t wanted)
{
    struct reach *reach = w->reach;
    size_t slot;

    for (size_t i = 0; i < reach->mark_count; i++)
        if (reach->of[i] == wanted)
            return reach->behind[i];
    slot = reach->next++ % MARKS_MAX;
    free(reach->behind[slot]);
    reach->behind[slot] = mem_array(w->workflow->step_count, sizeof(bool));
    reach->of[slot] = wanted;
    if (reach->mark_count < MARKS_MAX)
        reach->mark_count++;
    graph_mark_descendants(w->workflow->graph, wanted, reach->behind[slot]);
    return reach->behind[slot];
}

bool workflow_is_needed(struct workflow_build *w, size_t step, size_t need)
{
    int found;

    /* final steps need all that are not */
    if (w->sources[step].section != SECTION_STEPS &&
        w->sources[need].section == SECTION_STEPS)
        return true;
    found = search_back(w, step, need);
    return found >= 0 ? found == 1 : mark_behind(w, need)[step];
}

void workflow_end_needs(struct workflow_build *w)
{
    struct reach *reach = w->reach;

    for (size_t i = 0; i < MARKS_MAX; i++)
        free(reach->behind[i]);
    free(reach->stack);
    free(reach->visited_by);
    free(reach);
}
