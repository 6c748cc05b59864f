/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/gp/acquisition.h"
#include "strategies/gp/acquisition_impl.h"

/*
 * The expected improvement of a hypervolume: with independent normals Y_j it is
 *
 *     sum over boxes of prod_j (E(high_j - Y_j)+ - E(low_j - Y_j)+)
 *
 * A factor is the difference of two expected improvements. Only their
 * logarithms are taken, so that there is a slope where all of it is zero to all
 * digits (S. Ament et al., NeurIPS 2023, section 4).
 */

/* Of an edge: the logarithm of the expected improvement on it, over the
 * deviation; Phi and phi over the same. */
struct edge {
    double log, cdf, pdf;
};

static void measure_edges(const struct boxes *boxes, size_t objective,
                          const struct outlook *outlook, struct edge *edges)
{
    edges[0] = (struct edge){.log = -(double)INFINITY};
    for (size_t i = 1; i < boxes->edge_counts[objective]; i++) {
        double room = boxes->edges[objective][i] - outlook->mean;

        edges[i].log = acquisition_log_improvement(
            room / outlook->deviation, &edges[i].cdf, &edges[i].pdf);
    }
}

/* A factor's logarithm and what its derivatives by mean and deviation are
 * times the deviation. */
static struct edge subtract(const struct edge *high, const struct edge *low)
{
    double ratio = exp(low->log - high->log), rest = 1 - ratio;

    return (struct edge){.log = high->log + log(rest),
                         .cdf = (high->cdf - ratio * low->cdf) / rest,
                         .pdf = (high->pdf - ratio * low->pdf) / rest};
}

/* A sum of exponentials and, weighted by them, of slopes. */
struct total {
    double largest, sum;
    double cdf[BOXES_OBJECTIVES_MAX], pdf[BOXES_OBJECTIVES_MAX];
};

static void add(struct total *total, size_t goals, const struct edge *factors)
{
    double log = 0, weight;

    for (size_t j = 0; j < goals; j++)
        log += factors[j].log;
    if (!(log > -(double)INFINITY))
        return;
    if (log > total->largest) {
        double scale = exp(total->largest - log);

        total->sum *= scale;
        for (size_t j = 0; j < goals; j++) {
            total->cdf[j] *= scale;
            total->pdf[j] *= scale;
        }
        total->largest = log;
    }
    weight = exp(log - total->largest);
    total->sum += weight;
    for (size_t j = 0; j < goals; j++) {
        total->cdf[j] += weight * factors[j].cdf;
        total->pdf[j] += weight * factors[j].pdf;
    }
}

double acquisition_volume(const struct boxes *boxes, size_t goals,
                          struct outlook *outlook)
{
    struct total total = {.largest = -(double)INFINITY};
    struct edge factors[BOXES_OBJECTIVES_MAX], *edges[BOXES_OBJECTIVES_MAX];
    double value;

    for (size_t j = 0; j < goals; j++) {
        edges[j] = mem_array(boxes->edge_counts[j], sizeof(*edges[j]));
        measure_edges(boxes, j, &outlook[j], edges[j]);
    }
    for (size_t i = 0; i < boxes->count; i++) {
        const struct box *box = &boxes->list[i];

        for (size_t j = 0; j < goals; j++)
            factors[j] =
                subtract(&edges[j][box->high[j]], &edges[j][box->low[j]]);
        add(&total, goals, factors);
    }
    value = total.largest + log(total.sum);
    for (size_t j = 0; j < goals; j++) {
        double unit = total.sum * outlook[j].deviation;

        value += log(outlook[j].deviation);
        outlook[j].by_mean = -total.cdf[j] / unit;
        outlook[j].by_deviation = total.pdf[j] / unit;
        free(edges[j]);
    }
    return value;
}
