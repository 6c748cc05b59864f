/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Building a flow: the static part of what workflows/flow.c runs.
 *
 * Steps are copied into a few arrays, so that a flow of a hundred thousand
 * steps takes few allocations. `edges` holds all needs and then all dependents.
 * A circle is found by removing steps without needs until none is left (Kahn's
 * algorithm); the rest of the code relies on its absence. Steps are ranked by
 * priority and then by their order in the file. Steps that claim the same from
 * the pools form a class: if one member cannot start, none can.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "workflows/flow_impl.h"

const char *const flow_when_names[] = {"all_success", "all_done", "any_failed",
                                       "always", NULL};

static void *copy_array(const void *array, size_t count, size_t size)
{
    void *copy = mem_array(count + 1, size);

    if (count > 0)
        memcpy(copy, array, count * size);
    return copy;
}

static void copy_steps(struct flow *flow, const struct flow_step *steps)
{
    size_t needs = 0, claims = 0, reads = 0;

    for (size_t i = 0; i < flow->count; i++) {
        needs += steps[i].need_count;
        reads += steps[i].read_count;
        claims += steps[i].claim_count;
    }
    flow->edges = mem_array(2 * needs + 1, sizeof(*flow->edges));
    flow->claims = mem_array(claims + 1, sizeof(*flow->claims));
    flow->reads = mem_array(reads + 1, sizeof(*flow->reads));
    needs = claims = reads = 0;
    for (size_t i = 0; i < flow->count; i++) {
        struct flow_step *spec = &flow->nodes[i].spec;

        *spec = steps[i];
        for (size_t k = 0; k < spec->need_count; k++)
            flow->edges[needs + k] = spec->needs[k];
        spec->needs = flow->edges + needs;
        for (size_t k = 0; k < spec->claim_count; k++)
            flow->claims[claims + k] = spec->claims[k];
        spec->claims = flow->claims + claims;
        for (size_t k = 0; k < spec->read_count; k++)
            flow->reads[reads + k] = spec->reads[k];
        spec->reads = flow->reads + reads;
        needs += spec->need_count;
        reads += spec->read_count;
        claims += spec->claim_count;
    }
}

/* Behind all needs in `edges` come all dependents. */
static void find_dependents(struct flow *flow)
{
    size_t *next = flow->edges;

    for (size_t i = 0; i < flow->count; i++) {
        const struct flow_step *spec = &flow->nodes[i].spec;

        flow->nodes[i].open_needs = spec->need_count;
        for (size_t k = 0; k < spec->need_count; k++)
            flow->nodes[spec->needs[k]].dependent_count++;
        next += spec->need_count;
    }
    for (size_t i = 0; i < flow->count; i++) {
        flow->nodes[i].dependents = next;
        next += flow->nodes[i].dependent_count;
        flow->nodes[i].dependent_count = 0;
    }
    for (size_t i = 0; i < flow->count; i++) {
        const struct flow_step *spec = &flow->nodes[i].spec;

        for (size_t k = 0; k < spec->need_count; k++) {
            struct flow_node *need = &flow->nodes[spec->needs[k]];

            flow->edges[(size_t)(need->dependents - flow->edges) +
                        need->dependent_count++] = i;
        }
    }
}

static bool has_circle(const struct flow *flow)
{
    size_t *open = mem_array(flow->count + 1, sizeof(*open));
    size_t *order = mem_array(flow->count + 1, sizeof(*order));
    size_t found = 0;

    for (size_t i = 0; i < flow->count; i++) {
        open[i] = flow->nodes[i].open_needs;
        if (open[i] == 0)
            order[found++] = i;
    }
    for (size_t i = 0; i < found; i++) {
        const struct flow_node *node = &flow->nodes[order[i]];

        for (size_t k = 0; k < node->dependent_count; k++)
            if (--open[node->dependents[k]] == 0)
                order[found++] = node->dependents[k];
    }
    free(open);
    free(order);
    return found < flow->count;
}

static int compare_order(const void *a, const void *b, void *context)
{
    const struct flow_node *nodes = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;

    if (nodes[i].spec.priority != nodes[j].spec.priority)
        return nodes[i].spec.priority > nodes[j].spec.priority ? -1 : 1;
    return i < j ? -1 : 1;
}

static int compare_claims(const struct flow_step *a, const struct flow_step *b)
{
    if (a->claim_count != b->claim_count)
        return a->claim_count < b->claim_count ? -1 : 1;
    for (size_t k = 0; k < a->claim_count; k++) {
        if (a->claims[k].pool != b->claims[k].pool)
            return a->claims[k].pool < b->claims[k].pool ? -1 : 1;
        if (a->claims[k].amount != b->claims[k].amount)
            return a->claims[k].amount < b->claims[k].amount ? -1 : 1;
    }
    return 0;
}

static int compare_by_claims(const void *a, const void *b, void *context)
{
    const struct flow_node *nodes = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = compare_claims(&nodes[i].spec, &nodes[j].spec);

    return order != 0 ? order : i < j ? -1 : 1;
}

static struct step_heap make_heap(const struct flow *flow)
{
    return (struct step_heap){.rank = flow->rank, .place = flow->place};
}

static void find_ranks(struct flow *flow, size_t *order)
{
    qsort_r(order, flow->count, sizeof(*order), compare_order, flow->nodes);
    for (size_t k = 0; k < flow->count; k++)
        flow->rank[order[k]] = k;
}

static void find_classes(struct flow *flow, size_t *order)
{
    struct flow_node *last = NULL;

    qsort_r(order, flow->count, sizeof(*order), compare_by_claims, flow->nodes);
    for (size_t k = 0; k < flow->count; k++) {
        struct flow_node *node = &flow->nodes[order[k]];

        if (last == NULL || compare_claims(&last->spec, &node->spec) != 0)
            flow->class_count++;
        node->claim_class = flow->class_count - 1;
        last = node;
    }
    flow->classes = mem_array(flow->class_count + 1, sizeof(*flow->classes));
    flow->lined_up =
        mem_array(flow->class_count + 1, sizeof(struct claim_class *));
    for (size_t i = 0; i < flow->count; i++) {
        const struct flow_node *node = &flow->nodes[i];

        flow->classes[node->claim_class] = (struct claim_class){
            .claims = node->spec.claims,
            .claim_count = node->spec.claim_count,
            .startable = make_heap(flow),
        };
    }
}

static void set_up(struct flow *flow)
{
    size_t *order = mem_array(flow->count + 1, sizeof(*order));

    flow->rank = mem_array(flow->count + 1, sizeof(*flow->rank));
    flow->place = mem_array(flow->count + 1, sizeof(*flow->place));
    flow->finals = mem_array(flow->count + 1, sizeof(*flow->finals));
    flow->beginning = flow->ending = make_heap(flow);
    for (size_t i = 0; i < flow->count; i++) {
        order[i] = i;
        if (flow->nodes[i].spec.is_final)
            flow->finals[flow->final_count++] = i;
    }
    flow->open_count = flow->count - flow->final_count;
    find_ranks(flow, order);
    find_classes(flow, order);
    free(order);
}

struct flow *flow_create(const struct flow_step *steps, size_t step_count,
                         const int64_t *pools, size_t pool_count,
                         struct err *err)
{
    struct flow *flow = mem_zero(sizeof(*flow));

    flow->count = step_count;
    flow->nodes = mem_array(step_count + 1, sizeof(*flow->nodes));
    flow->pool_count = pool_count;
    flow->sizes = copy_array(pools, pool_count, sizeof(*pools));
    flow->used = mem_array(pool_count + 1, sizeof(*flow->used));
    flow->set_aside = mem_array(pool_count + 1, sizeof(*flow->set_aside));
    copy_steps(flow, steps);
    find_dependents(flow);
    if (has_circle(flow)) {
        err_set(err, ERR_FILE, "the steps depend on each other in a cycle");
        flow_destroy(flow);
        return NULL;
    }
    set_up(flow);
    for (size_t i = 0; i < step_count; i++)
        flow_advance(flow, i);
    return flow;
}

void flow_destroy(struct flow *flow)
{
    if (flow == NULL)
        return;
    for (size_t i = 0; i < flow->count; i++)
        free(flow->nodes[i].many);
    for (size_t i = 0; i < flow->class_count; i++)
        step_heap_clear(&flow->classes[i].startable);
    step_heap_clear(&flow->beginning);
    step_heap_clear(&flow->ending);
    free(flow->nodes);
    free(flow->finals);
    free(flow->sizes);
    free(flow->used);
    free(flow->set_aside);
    free(flow->classes);
    free(flow->lined_up);
    free(flow->rank);
    free(flow->place);
    free(flow->edges);
    free(flow->reads);
    free(flow->claims);
    free(flow->work);
    free(flow);
}
