/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rungs of successive halving, and the results that trials have at one
 * rung.
 *
 * A rung is a treap, because a run may have a hundred thousand trials. It finds
 * the rank of a result, the result of a rank and the best open result in
 * logarithmic time. Each node counts the results and the open results below it;
 * every change keeps both counts true on the whole path.
 *
 * Links are index + 1, so that the array may move as it grows and 0 is none.
 * Priorities are a hash of the link instead of random numbers: the tree is the
 * same in every replay.
 */
#include "strategies/schedules/rungs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/schedules/scheduler.h"

enum { ETA_MAX = 1000 };

int ladder_init(struct ladder *ladder, const struct schedule_options *options,
                struct err *err)
{
    uint64_t down[LADDER_MAX];
    size_t count = 0;

    if (options->eta < 2 || options->eta > ETA_MAX)
        return err_set(err, ERR_FILE, "eta must be from 2 to %d, not %" PRIu64,
                       ETA_MAX, options->eta);
    for (uint64_t at = options->max; at > options->min; at /= options->eta)
        down[count++] = at;
    down[count++] = options->min;
    *ladder = (struct ladder){.count = count, .eta = options->eta};
    for (size_t i = 0; i < count; i++)
        ladder->resources[i] = down[count - 1 - i];
    if (options->brackets > count)
        return err_set(err, ERR_FILE,
                       "out of range: brackets is %" PRIu64
                       ", and there are %zu rungs from %" PRIu64 " to %" PRIu64
                       " with eta %" PRIu64,
                       options->brackets, count, options->min, options->max,
                       options->eta);
    return 0;
}

uint64_t ladder_trials(const struct ladder *ladder, size_t bracket)
{
    uint64_t s = ladder->count - 1 - bracket;
    uint64_t trials = ladder->count;

    for (uint64_t i = 0; i < s; i++)
        trials *= ladder->eta;
    return (trials + s) / (s + 1);
}

void rung_clear(struct rung *rung)
{
    free(rung->results);
    *rung = (struct rung){0};
}

static struct rung_result *node_of(const struct rung *rung, uint32_t link)
{
    return &rung->results[link - 1];
}

/* Whether one result comes before another; both are links. */
static bool is_before(const struct rung *rung, uint32_t a, uint32_t b)
{
    double x = node_of(rung, a)->value, y = node_of(rung, b)->value;

    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? a < b : isnan(y);
    return x < y || (x == y && a < b);
}

/* As good as chance, so that the tree is flat; and the same every time. */
static uint64_t priority_of(uint32_t link)
{
    uint64_t x = link * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void update(const struct rung *rung, struct rung_result *node)
{
    node->size = 1;
    node->open = node->is_open ? 1 : 0;
    if (node->left != 0) {
        node->size += node_of(rung, node->left)->size;
        node->open += node_of(rung, node->left)->open;
    }
    if (node->right != 0) {
        node->size += node_of(rung, node->right)->size;
        node->open += node_of(rung, node->right)->open;
    }
}

/* Takes a tree apart into what comes before a result, and what behind. */
static void split(const struct rung *rung, uint32_t tree, uint32_t at,
                  uint32_t *before, uint32_t *behind)
{
    struct rung_result *node;

    if (tree == 0) {
        *before = *behind = 0;
        return;
    }
    node = node_of(rung, tree);
    if (is_before(rung, tree, at)) {
        *before = tree;
        split(rung, node->right, at, &node->right, behind);
    } else {
        *behind = tree;
        split(rung, node->left, at, before, &node->left);
    }
    update(rung, node);
}

size_t rung_add(struct rung *rung, uint64_t trial, double value, bool is_open)
{
    size_t index = rung->count;
    uint32_t added = (uint32_t)index + 1, *link = &rung->root;
    struct rung_result *result;

    rung->results = mem_grow(rung->results, rung->count, &rung->capacity,
                             sizeof(*rung->results));
    rung->count++;
    result = &rung->results[index];
    *result = (struct rung_result){
        .value = value, .trial = trial, .is_open = is_open};
    while (*link != 0 && priority_of(*link) > priority_of(added)) {
        struct rung_result *node = node_of(rung, *link);

        node->size++;
        node->open += result->is_open ? 1 : 0;
        link = is_before(rung, *link, added) ? &node->right : &node->left;
    }
    split(rung, *link, added, &result->left, &result->right);
    update(rung, result);
    *link = added;
    return index;
}

void rung_close(struct rung *rung, size_t index)
{
    uint32_t closed = (uint32_t)index + 1, link = rung->root;

    if (!rung->results[index].is_open)
        return;
    rung->results[index].is_open = false;
    for (;;) {
        struct rung_result *node = node_of(rung, link);

        node->open--;
        if (link == closed)
            return;
        link = is_before(rung, link, closed) ? node->right : node->left;
    }
}

static size_t size_of(const struct rung *rung, uint32_t link)
{
    return link != 0 ? node_of(rung, link)->size : 0;
}

static size_t open_in(const struct rung *rung, uint32_t link)
{
    return link != 0 ? node_of(rung, link)->open : 0;
}

size_t rung_rank(const struct rung *rung, size_t index)
{
    uint32_t wanted = (uint32_t)index + 1, link = rung->root;
    size_t rank = 0;

    for (;;) {
        const struct rung_result *node = node_of(rung, link);

        if (link == wanted)
            return rank + size_of(rung, node->left);
        if (is_before(rung, link, wanted)) {
            rank += size_of(rung, node->left) + 1;
            link = node->right;
        } else {
            link = node->left;
        }
    }
}

const struct rung_result *rung_at(const struct rung *rung, size_t rank)
{
    uint32_t link = rung->root;

    for (;;) {
        const struct rung_result *node = node_of(rung, link);
        size_t left = size_of(rung, node->left);

        if (rank == left)
            return node;
        if (rank < left) {
            link = node->left;
        } else {
            rank -= left + 1;
            link = node->right;
        }
    }
}

const struct rung_result *rung_best_open(const struct rung *rung, size_t *rank)
{
    uint32_t link = open_in(rung, rung->root) > 0 ? rung->root : 0;
    size_t better = 0;

    while (link != 0) {
        const struct rung_result *node = node_of(rung, link);

        if (open_in(rung, node->left) > 0) {
            link = node->left;
            continue;
        }
        better += size_of(rung, node->left);
        if (node->is_open) {
            if (rank != NULL)
                *rank = better;
            return node;
        }
        better++;
        link = node->right;
    }
    return NULL;
}
