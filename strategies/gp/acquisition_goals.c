/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/gp/acquisition.h"
#include "strategies/gp/acquisition_impl.h"

/*
 * The expected improvement of the least of several independent normals:
 *
 *     integral over t > 0 of prod_j Phi((bound_j - share_j t - mean_j) / dev_j)
 *
 * by the trapezoidal rule in log t, which for such integrands converges fast,
 * around the scale of the objective that falls off first.
 */

enum { NODES = 16 };

static const double first_node = -5.4, node_step = 0.6;

/* What is left of the reference beyond the fantasy's target. */
static double bound_of(const struct acquisition *acquisition, size_t fantasy,
                       size_t j)
{
    const struct acquisition_goal *goal = &acquisition->goals[j];

    return goal->reference - goal->share * acquisition->targets[fantasy];
}

static double find_log_scale(const struct acquisition *acquisition,
                             size_t fantasy, const struct outlook *outlook)
{
    double least = (double)INFINITY;

    for (size_t j = 0; j < acquisition->goal_count; j++) {
        double deviation = outlook[j].deviation, cdf, pdf;
        double room = bound_of(acquisition, fantasy, j) - outlook[j].mean;

        acquisition_log_improvement(room / deviation, &cdf, &pdf);
        least = fmin(least, log(deviation / acquisition->goals[j].share / cdf));
    }
    return least;
}

static double integrate(const struct acquisition *acquisition, size_t fantasy,
                        struct outlook *outlook)
{
    double scale = find_log_scale(acquisition, fantasy, outlook);
    double logs[NODES], slopes[NODES][ACQUISITION_GOALS_MAX];
    double z[NODES][ACQUISITION_GOALS_MAX], largest = -(double)INFINITY;
    double sum = 0;

    for (size_t k = 0; k < NODES; k++) {
        double at = scale + first_node + (double)k * node_step;

        logs[k] = at + log(node_step);
        for (size_t j = 0; j < acquisition->goal_count; j++) {
            double beyond = acquisition->goals[j].share * exp(at);

            z[k][j] =
                (bound_of(acquisition, fantasy, j) - beyond - outlook[j].mean) /
                outlook[j].deviation;
            logs[k] += acquisition_log_probability(z[k][j], &slopes[k][j]);
        }
        largest = fmax(largest, logs[k]);
    }
    for (size_t k = 0; k < NODES; k++)
        sum += exp(logs[k] - largest);
    for (size_t j = 0; j < acquisition->goal_count; j++) {
        outlook[j].by_mean = outlook[j].by_deviation = 0;
        for (size_t k = 0; k < NODES; k++) {
            double pull = exp(logs[k] - largest) / sum * slopes[k][j] /
                          outlook[j].deviation;

            outlook[j].by_mean -= pull;
            outlook[j].by_deviation -= pull * z[k][j];
        }
    }
    return largest + log(sum);
}

/* The mean over fantasies at outlooks[fantasy_count][goal_count] of a point. */
static double average(const struct acquisition *acquisition,
                      struct outlook *outlooks)
{
    size_t n = acquisition->fantasy_count, goals = acquisition->goal_count;
    double logs[ACQUISITION_FANTASIES_MAX], largest = -(double)INFINITY;
    double sum = 0;

    for (size_t f = 0; f < n; f++) {
        struct outlook *outlook = outlooks + f * goals;

        logs[f] =
            acquisition->regions != NULL
                ? acquisition_volume(&acquisition->regions[f], goals, outlook)
                : integrate(acquisition, f, outlook);
        largest = fmax(largest, logs[f]);
    }
    for (size_t f = 0; f < n; f++)
        sum += exp(logs[f] - largest);
    for (size_t f = 0; f < n; f++) {
        double share = exp(logs[f] - largest) / sum;

        for (size_t j = 0; j < goals; j++) {
            outlooks[f * goals + j].by_mean *= share;
            outlooks[f * goals + j].by_deviation *= share;
        }
    }
    return largest + log(sum / (double)n);
}

/* outlooks[fantasy_count][goal_count] of point p, for goal j. */
static void pull_goal(const struct acquisition *acquisition, size_t j,
                      const struct outlook *outlooks,
                      const struct gp_query *query, size_t p, double *pulls)
{
    const struct acquisition_goal *goal = &acquisition->goals[j];
    const double *solved = query->solved + p * query->rows;
    double by_deviation = 0;

    for (size_t f = 0; f < acquisition->fantasy_count; f++)
        by_deviation += outlooks[f * acquisition->goal_count + j].by_deviation;
    for (size_t i = 0; i < query->rows; i++)
        pulls[i] = -by_deviation / outlooks[j].deviation * solved[i];
    for (size_t f = 0; f < acquisition->fantasy_count; f++) {
        double by_mean = outlooks[f * acquisition->goal_count + j].by_mean;
        const double *weights = goal->weights + f * query->rows;

        for (size_t i = 0; i < query->rows; i++)
            pulls[i] += by_mean * weights[i];
    }
}

/* outlooks[count][fantasy_count][goal_count]: the derivatives, to the columns'
 * gradients. */
static void add_gradients(const struct acquisition *acquisition,
                          struct acquisition_room *room,
                          const struct outlook *outlooks, size_t count,
                          double *gradients)
{
    size_t each = acquisition->fantasy_count * acquisition->goal_count;

    for (size_t j = 0; j < acquisition->goal_count; j++) {
        const struct gp_query *query = &room->goals[j];
        double *pulls = acquisition_reserve_pulls(room, count * query->rows);

        for (size_t p = 0; p < count; p++)
            pull_goal(acquisition, j, outlooks + p * each, query, p,
                      pulls + p * query->rows);
        gp_add_gradients(acquisition->goals[j].gp, query, pulls, gradients);
    }
}

/* What goal j will be at points[count], to outlooks[count][fantasy_count]
 * [goal_count]. */
static void predict(const struct acquisition *acquisition, size_t j,
                    struct acquisition_room *room, const double *points,
                    size_t count, struct outlook *outlooks)
{
    const struct acquisition_goal *goal = &acquisition->goals[j];
    size_t n = acquisition->fantasy_count, goals = acquisition->goal_count;
    struct gp_query *query = &room->goals[j];
    double *means = acquisition_reserve_means(room, count * n);

    gp_predict(goal->gp, points, count, query);
    linalg_multiply(acquisition->linalg, query->solved, count, query->rows,
                    goal->weights, n, means);
    for (size_t i = 0; i < count * n; i++)
        outlooks[i * goals + j] =
            (struct outlook){.mean = gp_mean(goal->gp) + means[i],
                             .deviation = sqrt(query->variance[i / n])};
}

void acquisition_add_goals(const struct acquisition *acquisition,
                           struct acquisition_room *room, const double *points,
                           size_t count, double *values, double *gradients)
{
    size_t each = acquisition->fantasy_count * acquisition->goal_count;
    struct outlook *outlooks = mem_array(count * each, sizeof(*outlooks));

    for (size_t j = 0; j < acquisition->goal_count; j++)
        predict(acquisition, j, room, points, count, outlooks);
    for (size_t p = 0; p < count; p++)
        values[p] += average(acquisition, outlooks + p * each);
    if (gradients != NULL)
        add_gradients(acquisition, room, outlooks, count, gradients);
    free(outlooks);
}
