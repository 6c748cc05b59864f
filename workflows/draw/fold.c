/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folding of a long workflow: steps with the same kind, needs and dependents
 * share a line.
 *
 * Steps are grouped by a hash of these, a sum over mixed numbers, so that order
 * does not matter and grouping takes O(n log n). A collision would fold two
 * steps that differ, which only spoils a picture. Folding keeps the graph
 * without circles, because members of a group need the same steps and never
 * each other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "workflows/draw/draw_impl.h"

struct member {
    uint64_t key;
    size_t step;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->step < right->step ? -1 : left->step > right->step;
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Of what it needs and is needed by, in whichever order; that two sets of 64
 * such bits are the same by chance does no harm to more than a picture. */
static uint64_t fold_key(const struct drawing *drawing, size_t step)
{
    const struct draw_node *node = &drawing->nodes[step];
    uint64_t key = (uint64_t)node->kind << 8 | (uint64_t)node->when << 4 |
                   (node->is_final ? 1 : 0);
    size_t count;
    const size_t *ends = graph_needs(drawing->graph, step, &count);

    for (size_t i = 0; i < count; i++)
        key += mix(2 * (uint64_t)ends[i] + 0x9e3779b97f4a7c15);
    ends = graph_needed_by(drawing->graph, step, &count);
    for (size_t i = 0; i < count; i++)
        key += mix(2 * (uint64_t)ends[i] + 0x9e3779b97f4a7c16);
    return mix(key);
}

/* leaders[s]: the first of those that s shares a line with. */
static void find_leaders(const struct drawing *drawing, size_t *leaders)
{
    size_t count = graph_count(drawing->graph);
    struct member *members = mem_array(count + 1, sizeof(*members));

    for (size_t i = 0; i < count; i++)
        members[i] = (struct member){fold_key(drawing, i), i};
    qsort(members, count, sizeof(*members), compare_members);
    for (size_t i = 0; i < count; i++)
        leaders[members[i].step] = i > 0 && members[i].key == members[i - 1].key
                                       ? leaders[members[i - 1].step]
                                       : members[i].step;
    free(members);
}

/* One failed: all have. Some are over, some not: active. */
static enum flow_state state_of_all(const struct fold_node *node)
{
    static const enum flow_state first[] = {FLOW_FAILED, FLOW_ACTIVE};

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (node->states[first[i]] > 0)
            return first[i];
    for (int i = 0; i < DRAW_STATES; i++)
        if (node->states[i] == node->count)
            return (enum flow_state)i;
    return node->states[FLOW_WAITING] > 0 ? FLOW_ACTIVE : FLOW_SUCCEEDED;
}

void fold_init(struct fold *fold, const struct drawing *drawing,
               bool is_folding)
{
    size_t count = graph_count(drawing->graph), made = 0;
    size_t *leaders = mem_array(count + 1, sizeof(*leaders));
    size_t *places = mem_array(count + 1, sizeof(*places));

    for (size_t i = 0; i < count; i++)
        leaders[i] = i;
    if (is_folding)
        find_leaders(drawing, leaders);
    fold->nodes = mem_array(count + 1, sizeof(*fold->nodes));
    for (size_t i = 0; i < count; i++) {
        struct fold_node *node;

        places[i] = leaders[i] == i ? made++ : places[leaders[i]];
        node = &fold->nodes[places[i]];
        if (leaders[i] == i)
            node->first = i;
        node->last = i;
        node->count++;
        node->states[drawing->nodes[i].state]++;
    }
    fold->graph = graph_create(made);
    for (size_t i = 0; i < made; i++) {
        size_t ends;
        const size_t *needs =
            graph_needs(drawing->graph, fold->nodes[i].first, &ends);

        fold->nodes[i].state = state_of_all(&fold->nodes[i]);
        for (size_t k = 0; k < ends; k++)
            graph_add(fold->graph, i, places[needs[k]]);
    }
    free(places);
    free(leaders);
}

void fold_clear(struct fold *fold)
{
    graph_destroy(fold->graph);
    free(fold->nodes);
}

static void add_name(const struct drawing *drawing, size_t step,
                     struct buf *out)
{
    const char *name = drawing->nodes[step].name;

    text_escape(name, strlen(name), out);
}

void fold_name(const struct drawing *drawing, const struct fold_node *node,
               struct buf *out)
{
    add_name(drawing, node->first, out);
    if (node->count == 1)
        return;
    buf_add_string(out, node->count == 2 ? ", "
                        : drawing->utf8  ? " … "
                                         : " ... ");
    add_name(drawing, node->last, out);
}

static void note_states(const struct drawing *drawing,
                        const struct fold_node *node, struct buf *out)
{
    const char *comma = ": ";

    for (int i = 0; i < DRAW_STATES; i++) {
        if (node->states[i] == 0)
            continue;
        buf_printf(out, "%s%zu %s", comma, node->states[i],
                   draw_state_word(drawing, (enum flow_state)i));
        comma = ", ";
    }
}

void fold_note(const struct drawing *drawing, const struct fold_node *node,
               struct buf *out)
{
    struct buf note = BUF_INIT;
    struct draw_node shared = drawing->nodes[node->first];
    size_t begin = out->length;

    if (node->count > 1) {
        buf_printf(out, "%zu steps", node->count);
        if (drawing->has_states)
            note_states(drawing, node, out);
        shared = (struct draw_node){.kind = shared.kind,
                                    .when = shared.when,
                                    .is_final = shared.is_final,
                                    .copies = 1};
    } else if (drawing->has_states && shared.kind != DRAW_JOIN) {
        buf_add_string(out, draw_state_word(drawing, shared.state));
    }
    draw_note(drawing, &shared, &note);
    if (note.length > 0 && out->length > begin)
        buf_add_string(out, ", ");
    text_escape(buf_text(&note), note.length, out);
    buf_clear(&note);
}
