/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gsl/gsl_qrng.h>

#include "strategies/strategy.h"

/* 10,000 suggestions in 10 dimensions, from the options to the last point,
 * beside the bare sequence of GSL. One line of five fields: name, ms, ms of the
 * peer, bar, unit; medians of runs in turn. */

enum { DIMENSIONS = 10, SUGGESTIONS = 10000, RUNS = 15 };

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double time_suggestions_ms(struct space *space, double *sum)
{
    const struct strategy_options options = {
        .method = "sobol", .seed = 1, .budget_trials = SUGGESTIONS};
    double start = now_ms();
    struct strategy *strategy = strategy_create(&options, space, NULL);
    struct value point[DIMENSIONS];

    for (uint64_t i = 1; i <= SUGGESTIONS; i++) {
        if (strategy_ask(strategy, i, point, NULL, NULL) != ASK_OK)
            exit(1);
        *sum += point[DIMENSIONS - 1].real;
    }
    strategy_destroy(strategy);
    return now_ms() - start;
}

static double time_gsl_ms(double *sum)
{
    double start = now_ms();
    gsl_qrng *generator = gsl_qrng_alloc(gsl_qrng_sobol, DIMENSIONS);
    double point[DIMENSIONS];

    for (int i = 0; i < SUGGESTIONS; i++) {
        gsl_qrng_get(generator, point);
        *sum += point[DIMENSIONS - 1];
    }
    gsl_qrng_free(generator);
    return now_ms() - start;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(void)
{
    struct expr_env *env = expr_env_create(NULL);
    struct space *space = space_create(env);
    double ours_ms[RUNS], gsl_ms[RUNS];
    double sum = 0;

    for (int i = 0; i < DIMENSIONS; i++) {
        char name[16];
        struct param param = {
            .name = name,
            .kind = PARAM_FLOAT,
            .scale = i % 2 == 0 ? SCALE_LOG : SCALE_LINEAR,
            .min = 1e-4,
            .max = 1,
        };

        snprintf(name, sizeof(name), "x%d", i);
        if (space_add_param(space, &param, NULL) < 0)
            return 1;
    }
    for (int i = 0; i < RUNS; i++) {
        ours_ms[i] = time_suggestions_ms(space, &sum);
        gsl_ms[i] = time_gsl_ms(&sum);
    }
    qsort(ours_ms, RUNS, sizeof(double), compare);
    qsort(gsl_ms, RUNS, sizeof(double), compare);
    space_destroy(space);
    expr_env_destroy(env);
    /* sum is used so that nothing is optimised away */
    printf("%d sobol suggestions in %d dimensions, bare GSL\t%.4g\t%.4g\t50\t"
           "ms\n",
           SUGGESTIONS, DIMENSIONS, ours_ms[RUNS / 2], gsl_ms[RUNS / 2]);
    return sum > 0 ? 0 : 1;
}
