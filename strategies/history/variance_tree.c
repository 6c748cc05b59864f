/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One honest regression tree for parameter importance;
 * strategies/history/variance_tree.h has the formula and the reason for it.
 *
 * Settings are binned, so a node of the tree is a set of bins a parameter, kept
 * as bits. `tree.bins` holds the set on the path to the node that is being
 * grown. Its share of the full sets is the node's volume. Rows are partitioned
 * in place, both halves alike: the first half chooses splits, the second gives
 * means.
 *
 * A parameter that is inactive in any row of a node is not split there: its
 * bins would not divide the node's space.
 */
#include "strategies/history/variance_tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"

enum { LEAF_MIN = 2, DEPTH_MAX = 10, NODES_MAX = 1 << (DEPTH_MAX + 1) };

/* How many of the parameters a split looks at, so that trees differ. */
static const double look_share = 0.6;

/* Rows of both halves. */
struct sample {
    size_t *choose, *mean;
    size_t choose_count, mean_count;
};

struct node {
    size_t parameter; /* of the split; SIZE_MAX: a leaf */
    size_t left, right;
    double volume;     /* share of the space */
    double left_share; /* of the node */
    double mean, variance;
    size_t count; /* a leaf's rows of the mean half */
};

struct tree {
    const struct variance_table *table;
    struct rng *rng;
    struct node *nodes;
    size_t count;
    uint32_t *bins; /* [dimension]: those in the node being grown */
    double square_sum;
    double freedom; /* rows less leaves */
};

struct split {
    double gain; /* less squared error by that */
    size_t parameter;
    uint32_t bins; /* that go left */
};

/* ---- choosing a split ---- */

struct histogram {
    double sums[VARIANCE_BINS];
    size_t counts[VARIANCE_BINS];
    size_t order[VARIANCE_BINS]; /* [used] */
    size_t used;
};

static uint8_t bin_of(const struct tree *tree, size_t row, size_t parameter)
{
    return tree->table->bins[row * tree->table->dimension + parameter];
}

/* False where the parameter is not active in all. */
static bool fill_histogram(const struct tree *tree, const struct sample *sample,
                           size_t parameter, struct histogram *histogram)
{
    *histogram = (struct histogram){.used = 0};
    for (size_t i = 0; i < sample->choose_count; i++) {
        size_t row = sample->choose[i];
        uint8_t bin = bin_of(tree, row, parameter);

        if (bin == VARIANCE_INACTIVE)
            return false;
        histogram->sums[bin] += tree->table->values[row];
        histogram->counts[bin]++;
    }
    for (size_t b = 0; b < tree->table->bin_counts[parameter]; b++) {
        if (histogram->counts[b] > 0)
            histogram->order[histogram->used++] = b;
    }
    return true;
}

static double bin_mean(const struct histogram *histogram, size_t bin)
{
    return histogram->sums[bin] / (double)histogram->counts[bin];
}

/* In the order of their means, the best split of bins without order is one
 * between neighbours (Breiman et al., "Classification and Regression Trees",
 * 1984, theorem 4.5). */
static void sort_by_mean(struct histogram *histogram)
{
    for (size_t i = 1; i < histogram->used; i++) {
        size_t bin = histogram->order[i], k = i;

        for (; k > 0 && bin_mean(histogram, histogram->order[k - 1]) >
                            bin_mean(histogram, bin);
             k--)
            histogram->order[k] = histogram->order[k - 1];
        histogram->order[k] = bin;
    }
}

/* The bins up to halfway between two neighbours that hold results. */
static uint32_t bins_up_to(size_t left, size_t right)
{
    return (UINT32_C(1) << ((left + right + 1) / 2)) - 1;
}

static void try_parameter(const struct tree *tree, const struct sample *sample,
                          size_t parameter, struct split *best)
{
    bool is_unordered = tree->table->is_unordered[parameter];
    struct histogram histogram;
    double total = 0.0, left = 0.0, n = (double)sample->choose_count;
    size_t left_count = 0;
    uint32_t bins = 0;

    if (tree->table->bin_counts[parameter] < 2 ||
        !fill_histogram(tree, sample, parameter, &histogram))
        return;
    if (is_unordered)
        sort_by_mean(&histogram);
    for (size_t i = 0; i < histogram.used; i++)
        total += histogram.sums[histogram.order[i]];
    for (size_t i = 0; i + 1 < histogram.used; i++) {
        size_t bin = histogram.order[i];
        double k, gain;

        left += histogram.sums[bin];
        left_count += histogram.counts[bin];
        bins |= UINT32_C(1) << bin;
        if (left_count < LEAF_MIN ||
            sample->choose_count - left_count < LEAF_MIN)
            continue;
        k = (double)left_count;
        gain = left * left / k + (total - left) * (total - left) / (n - k) -
               total * total / n;
        if (gain > best->gain)
            *best = (struct split){
                gain, parameter,
                is_unordered ? bins : bins_up_to(bin, histogram.order[i + 1])};
    }
}

static struct split choose_split(const struct tree *tree,
                                 const struct sample *sample)
{
    struct split best = {.gain = 1e-12, .parameter = SIZE_MAX};

    for (size_t d = 0; d < tree->table->dimension; d++) {
        if (rng_uniform(tree->rng) < look_share)
            try_parameter(tree, sample, d, &best);
    }
    for (size_t d = 0; d < tree->table->dimension && best.parameter == SIZE_MAX;
         d++)
        try_parameter(tree, sample, d, &best);
    return best;
}

/* ---- growing ---- */

/* Those that go left to the front; how many. */
static size_t part(const struct tree *tree, const struct split *split,
                   size_t *rows, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        uint8_t bin = bin_of(tree, rows[i], split->parameter);
        size_t row = rows[i];

        if (bin == VARIANCE_INACTIVE || (split->bins >> bin & 1) == 0)
            continue;
        rows[i] = rows[left];
        rows[left++] = row;
    }
    return left;
}

static void make_leaf(struct tree *tree, struct node *node,
                      const struct sample *sample)
{
    const double *values = tree->table->values;
    double n = (double)sample->mean_count;

    node->count = sample->mean_count;
    for (size_t i = 0; i < sample->mean_count; i++)
        node->mean += values[sample->mean[i]] / n;
    for (size_t i = 0; i < sample->mean_count; i++)
        tree->square_sum += pow(values[sample->mean[i]] - node->mean, 2.0);
    tree->freedom += n - 1.0;
}

struct region {
    struct sample sample;
    double volume; /* share of the space */
    int depth;
};

static size_t grow(struct tree *tree, const struct region *region);

/* One side of a split, with the bins of its own. */
static size_t grow_side(struct tree *tree, const struct region *side,
                        size_t parameter, uint32_t bins)
{
    uint32_t before = tree->bins[parameter];
    size_t index;

    tree->bins[parameter] = bins;
    index = grow(tree, side);
    tree->bins[parameter] = before;
    return index;
}

static void part_sample(const struct tree *tree, const struct split *split,
                        const struct sample *both, struct sample *left,
                        struct sample *right)
{
    size_t choose = part(tree, split, both->choose, both->choose_count);
    size_t mean = part(tree, split, both->mean, both->mean_count);

    *left = (struct sample){both->choose, both->mean, choose, mean};
    *right =
        (struct sample){both->choose + choose, both->mean + mean,
                        both->choose_count - choose, both->mean_count - mean};
}

static bool divide(struct tree *tree, size_t index, const struct region *region)
{
    struct split split = choose_split(tree, &region->sample);
    struct region left = {.depth = region->depth + 1}, right = left;
    uint32_t bins;
    double share;

    if (split.parameter == SIZE_MAX)
        return false;
    part_sample(tree, &split, &region->sample, &left.sample, &right.sample);
    if (left.sample.mean_count == 0 || right.sample.mean_count == 0)
        return false;
    bins = tree->bins[split.parameter];
    share = (double)__builtin_popcount(bins & split.bins) /
            (double)__builtin_popcount(bins);
    left.volume = region->volume * share;
    right.volume = region->volume * (1.0 - share);
    tree->nodes[index].parameter = split.parameter;
    tree->nodes[index].left_share = share;
    tree->nodes[index].left =
        grow_side(tree, &left, split.parameter, bins & split.bins);
    tree->nodes[index].right =
        grow_side(tree, &right, split.parameter, bins & ~split.bins);
    return true;
}

static size_t grow(struct tree *tree, const struct region *region)
{
    size_t index = tree->count++;

    tree->nodes[index] =
        (struct node){.parameter = SIZE_MAX, .volume = region->volume};
    if (region->sample.choose_count < 2 * LEAF_MIN ||
        region->depth == DEPTH_MAX || !divide(tree, index, region))
        make_leaf(tree, &tree->nodes[index], &region->sample);
    return index;
}

/* ---- what it explains ---- */

/* Nodes stand behind the one that they hang on. */
static void explain(struct tree *tree, double *explained)
{
    double noise = tree->freedom > 0.0 ? tree->square_sum / tree->freedom : 0.0;

    for (size_t i = tree->count; i-- > 0;) {
        struct node *node = &tree->nodes[i];
        const struct node *left, *right;
        double p = node->left_share, q = 1.0 - p;

        if (node->parameter == SIZE_MAX) {
            node->variance = noise / (double)node->count;
            continue;
        }
        left = &tree->nodes[node->left];
        right = &tree->nodes[node->right];
        node->mean = p * left->mean + q * right->mean;
        node->variance = p * p * left->variance + q * q * right->variance;
        explained[node->parameter] += node->volume * p * q *
                                      (pow(left->mean - right->mean, 2.0) -
                                       left->variance - right->variance);
    }
}

void variance_tree_add(const struct variance_table *table, size_t *rows,
                       size_t count, struct rng *rng, double *explained)
{
    size_t half = count / 2;
    struct region all = {.volume = 1.0};
    size_t nodes = 2 * count < NODES_MAX ? 2 * count : NODES_MAX;
    struct tree tree = {.table = table, .rng = rng};

    tree.nodes = mem_array(nodes, sizeof(*tree.nodes));
    tree.bins = mem_array(table->dimension, sizeof(*tree.bins));
    for (size_t d = 0; d < table->dimension; d++)
        tree.bins[d] = (uint32_t)((UINT64_C(1) << table->bin_counts[d]) - 1);
    all.sample.choose = rows;
    all.sample.choose_count = half;
    all.sample.mean = rows + half;
    all.sample.mean_count = count - half;
    if (half > 0)
        grow(&tree, &all);
    explain(&tree, explained);
    free(tree.bins);
    free(tree.nodes);
}
