/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/*
 * Whoever holds a pool while it wants another one waits for who holds that. If
 * such orders close a circle, and their steps may run at once, all of them can
 * come to wait for ever. Steps of which one needs the other, near or far, never
 * run at once; of what is below one step all is taken to, for what keeps it
 * apart stands in another file.
 */

struct circle {
    const struct workflow *workflow;
    struct pool_order *orders; /* [count] of pools that this file has */
    size_t count;
    size_t told;    /* the first so many are of one step alone */
    bool *apart;    /* [told * told] whose steps never run at once */
    bool *is_left;  /* [count] they may be in a circle */
    bool *was_seen; /* [count] by leads_to() */
};

static bool has_pool(const struct workflow *workflow, const char *name)
{
    for (size_t i = 0; i < workflow->pool_count; i++)
        if (strcmp(workflow->pools[i].name, name) == 0)
            return true;
    return false;
}

/* Another file's own pools are not the same ones here. */
static void take_own_orders(struct circle *circle)
{
    const struct workflow *workflow = circle->workflow;

    circle->orders =
        mem_array(workflow->pool_order_count, sizeof(*circle->orders));
    for (size_t i = 0; i < workflow->pool_order_count; i++)
        if (has_pool(workflow, workflow->pool_orders[i].held) &&
            has_pool(workflow, workflow->pool_orders[i].wanted))
            circle->orders[circle->count++] = workflow->pool_orders[i];
}

/* Those that run before a step, or after it. */
static void mark_apart(const struct workflow *workflow, size_t step,
                       bool *marks)
{
    bool is_final = workflow->flow_steps[step].is_final;

    for (size_t i = 0; i < workflow->step_count; i++)
        marks[i] = false;
    graph_mark_ancestors(workflow->graph, step, marks);
    graph_mark_descendants(workflow->graph, step, marks);
    for (size_t i = 0; i < workflow->step_count; i++)
        marks[i] |= workflow->flow_steps[i].is_final != is_final;
}

static void find_apart(struct circle *circle)
{
    const struct workflow *workflow = circle->workflow;
    bool *marks = mem_array(workflow->step_count, sizeof(*marks));

    while (circle->told < circle->count &&
           !circle->orders[circle->told].is_elsewhere)
        circle->told++;
    circle->apart = mem_array(circle->told * circle->told, sizeof(bool));
    for (size_t i = 0; i < circle->told; i++) {
        mark_apart(workflow, circle->orders[i].step, marks);
        for (size_t k = 0; k < circle->told; k++)
            circle->apart[i * circle->told + k] = marks[circle->orders[k].step];
    }
    free(marks);
}

static bool are_apart(const struct circle *circle, size_t a, size_t b)
{
    return a < circle->told && b < circle->told &&
           circle->apart[a * circle->told + b];
}

/* Whether who holds `from` may, over others who wait beside that order, wait
 * for `to`. */
static bool leads_to(const struct circle *circle, size_t order,
                     const char *from, const char *to)
{
    for (size_t i = 0; i < circle->count; i++) {
        const struct pool_order *next = &circle->orders[i];

        if (!circle->is_left[i] || circle->was_seen[i] ||
            are_apart(circle, order, i) || strcmp(next->held, from) != 0)
            continue;
        circle->was_seen[i] = true;
        if (strcmp(next->wanted, to) == 0 ||
            leads_to(circle, order, next->wanted, to))
            return true;
    }
    return false;
}

static bool is_in_circle(const struct circle *circle, size_t order)
{
    for (size_t i = 0; i < circle->count; i++)
        circle->was_seen[i] = false;
    return leads_to(circle, order, circle->orders[order].wanted,
                    circle->orders[order].held);
}

/* Drops what is in no circle of those left, until that changes nothing. How
 * many are left; then *last is one. */
static size_t drop_harmless(struct circle *circle, size_t *last)
{
    size_t left = circle->count, before;

    do {
        before = left;
        for (size_t i = 0; i < circle->count; i++) {
            if (!circle->is_left[i])
                continue;
            circle->is_left[i] = is_in_circle(circle, i);
            left -= !circle->is_left[i];
            *last = circle->is_left[i] ? i : *last;
        }
    } while (left != before);
    return left;
}

static void refuse(struct workflow_build *w, const struct pool_order *order)
{
    const struct step *step = &w->workflow->steps[order->step];

    diags_add(w->build.diags, step->place,
              "let one of the two take nothing (`pools: {}`), or need the "
              "other",
              "possible deadlock: pool '%s' would be held while the "
              "child run of step '%s' waits for '%s', and elsewhere in "
              "the other order",
              order->held, step->name, order->wanted);
}

void workflow_check_pool_orders(struct workflow_build *w)
{
    struct circle circle = {.workflow = w->workflow};
    size_t last = 0;

    take_own_orders(&circle);
    circle.is_left = mem_array(circle.count, sizeof(*circle.is_left));
    circle.was_seen = mem_array(circle.count, sizeof(*circle.was_seen));
    for (size_t i = 0; i < circle.count; i++)
        circle.is_left[i] = true;
    find_apart(&circle);
    if (drop_harmless(&circle, &last) > 0)
        refuse(w, &circle.orders[last]);
    free(circle.orders);
    free(circle.apart);
    free(circle.is_left);
    free(circle.was_seen);
}
