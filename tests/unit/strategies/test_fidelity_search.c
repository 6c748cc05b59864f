/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/strategy.h"

/*
 * Searches with asha on made-up learning curves, at equal resource. Given
 * arguments, it is a measurement: test_fidelity_search SEEDS RESOURCE prints a
 * table.
 */

enum { PARAMS = 4, TRIALS_MAX = 2000, WORKERS = 4, MAX = 27, SEEDS = 10 };

struct problem {
    const char *name;
    double optimum[PARAMS];
    double early;      /* how much more is lost at the start */
    double slow, fast; /* powers of the curve, at either end of parameter 0 */
    double rise;       /* what values grow by on the way, whatever is tried */
};

/* Of `crossing`, what is best in the end is slow; of `rising`, values of
 * different resources cannot be compared at all. */
static const struct problem problems[] = {
    {"plain", {.3, .6, .45, .7}, 1.2, .5, .5, 0},
    {"crossing", {.25, .6, .45, .7}, 1.5, .25, 1.45, 0},
    {"rising", {.3, .6, .45, .7}, .5, .5, .5, 4},
};

/* How results on the way are told. */
enum telling { TELL_OBSERVE, TELL_AS_RESULTS };

struct setup {
    const struct problem *problem;
    const char *search;
    enum telling telling;
    uint64_t seed;
    uint64_t resource; /* in all */
};

struct trial {
    struct value point[PARAMS];
    double unit[PARAMS];
    uint64_t used, until;
};

struct job {
    size_t trial; /* a number; 0: the worker is free */
    uint64_t ends_at;
};

struct cluster {
    struct setup setup;
    struct space *space;
    struct strategy *strategy;
    struct scheduler *scheduler;
    struct trial *trials; /* [TRIALS_MAX] */
    size_t count;
    struct job jobs[WORKERS];
    uint64_t now, spent;
    double best, regret; /* told, and true */
};

static struct expr_env *env;

static double final_loss(const struct problem *problem, const double *unit)
{
    static const double weights[PARAMS] = {4, 2, 1, 1};
    double sum = 0;

    for (size_t i = 0; i < PARAMS; i++)
        sum += weights[i] * (unit[i] - problem->optimum[i]) *
               (unit[i] - problem->optimum[i]);
    return sum;
}

static double loss_at(const struct cluster *cluster, size_t number,
                      uint64_t resource)
{
    const struct problem *problem = cluster->setup.problem;
    const double *unit = cluster->trials[number - 1].unit;
    double t = (double)resource;
    double power = problem->slow + (problem->fast - problem->slow) * unit[0];
    struct rng rng;

    rng_init(&rng, cluster->setup.seed, 100 * number + resource, 0);
    return final_loss(problem, unit) + problem->early * pow(t, -power) +
           problem->rise * (1 - 1 / sqrt(t)) + 0.02 * (rng_uniform(&rng) - 0.5);
}

static void open_cluster(struct cluster *cluster, const struct setup *setup)
{
    static const char *const names[PARAMS] = {"a", "b", "c", "d"};
    struct strategy_options search = {
        .method = setup->search, .seed = setup->seed, .parallel = WORKERS};
    struct schedule_options schedule = {.method = "asha",
                                        .min = 1,
                                        .max = MAX,
                                        .eta = 3,
                                        .type = SCHEDULE_PROMOTION};

    *cluster = (struct cluster){
        .setup = *setup, .best = (double)INFINITY, .regret = 1};
    cluster->space = space_create(env);
    for (size_t i = 0; i < PARAMS; i++)
        assert_int_equal(space_add_param(cluster->space,
                                         &(struct param){.name = names[i],
                                                         .kind = PARAM_FLOAT,
                                                         .max = 1},
                                         NULL),
                         0);
    cluster->strategy = strategy_create(&search, cluster->space, NULL);
    cluster->scheduler = scheduler_create(&schedule, cluster->space, NULL);
    cluster->trials = calloc(TRIALS_MAX, sizeof(*cluster->trials));
    assert_non_null(cluster->strategy);
    assert_non_null(cluster->scheduler);
}

static void close_cluster(struct cluster *cluster)
{
    scheduler_destroy(cluster->scheduler);
    strategy_destroy(cluster->strategy);
    space_destroy(cluster->space);
    free(cluster->trials);
}

static size_t begin_trial(struct cluster *cluster)
{
    struct trial *trial = &cluster->trials[cluster->count++];

    assert_true(cluster->count < TRIALS_MAX);
    assert_int_equal(strategy_ask(cluster->strategy, cluster->count,
                                  trial->point, NULL, NULL),
                     ASK_OK);
    for (size_t i = 0; i < PARAMS; i++)
        trial->unit[i] =
            param_to_unit(space_param(cluster->space, i), &trial->point[i]);
    return cluster->count;
}

static void start(struct cluster *cluster, struct job *job)
{
    struct assignment next;
    struct trial *trial;

    scheduler_next(cluster->scheduler, false, &next);
    job->trial = (size_t)next.trial;
    if (next.kind == NEXT_NEW)
        job->trial = begin_trial(cluster);
    trial = &cluster->trials[job->trial - 1];
    scheduler_assign(cluster->scheduler, job->trial, &next);
    trial->until = next.resource;
    job->ends_at = cluster->now + next.resource - trial->used;
    cluster->spent += next.resource - trial->used;
}

static void tell(struct cluster *cluster, size_t number, double value)
{
    strategy_tell(cluster->strategy, number,
                  &(struct trial_result){.values = &value});
}

static void finish(struct cluster *cluster, struct job *job)
{
    size_t number = job->trial;
    struct trial *trial = &cluster->trials[number - 1];
    double value = loss_at(cluster, number, trial->until);
    struct verdict verdict;

    job->trial = 0;
    trial->used = trial->until;
    scheduler_observe(cluster->scheduler,
                      &(struct observation){.trial = number,
                                            .resource = trial->used,
                                            .value = value},
                      &verdict);
    if (cluster->setup.telling == TELL_OBSERVE)
        strategy_observe(
            cluster->strategy, number,
            &(struct partial_result){.resource = trial->used,
                                     .values = &value,
                                     .goes_on = trial->used == MAX});
    if (cluster->setup.telling == TELL_AS_RESULTS || trial->used == MAX)
        tell(cluster, number, value);
    if (trial->used < MAX)
        return;
    scheduler_end(cluster->scheduler, number, OUTCOME_COMPLETE);
    if (value > cluster->best)
        return;
    cluster->best = value;
    cluster->regret = final_loss(cluster->setup.problem, trial->unit);
}

/* The first of its jobs to end. */
static struct job *next_job(struct cluster *cluster)
{
    struct job *first = &cluster->jobs[0];

    for (size_t i = 1; i < WORKERS; i++)
        if (cluster->jobs[i].ends_at < first->ends_at)
            first = &cluster->jobs[i];
    return first;
}

/* The true regret of the trial that has the best result at max. */
static double run(const struct setup *setup)
{
    struct cluster cluster;

    open_cluster(&cluster, setup);
    while (cluster.spent < setup->resource) {
        struct job *job;

        for (size_t i = 0; i < WORKERS; i++)
            if (cluster.jobs[i].trial == 0)
                start(&cluster, &cluster.jobs[i]);
        job = next_job(&cluster);
        cluster.now = job->ends_at;
        finish(&cluster, job);
    }
    close_cluster(&cluster);
    return cluster.regret;
}

/* The geometric mean of seeds 1, 2 ... */
static double measure(struct setup setup, uint64_t seeds)
{
    double sum = 0;

    for (setup.seed = 1; setup.seed <= seeds; setup.seed++)
        sum += log(run(&setup) + 1e-4);
    return exp(sum / (double)seeds);
}

static void test_fidelity_search__learning_pays_with_asha(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
        struct setup setup = {
            .problem = &problems[i], .search = "random", .resource = 600};
        double random = measure(setup, SEEDS), learnt;

        setup.search = "tpe";
        learnt = measure(setup, SEEDS);
        if (learnt > 0.75 * random)
            fail_msg("%s: a regret of %g, and %g at random", problems[i].name,
                     learnt, random);
    }
}

/* Where values of different resources cannot be compared, taking them for
 * results misleads. */
static void test_fidelity_search__partial_results_are_no_results(void **state)
{
    struct setup setup = {
        .problem = &problems[2], .search = "tpe", .resource = 600};
    double observed = measure(setup, SEEDS), told;

    (void)state;
    setup.telling = TELL_AS_RESULTS;
    told = measure(setup, SEEDS);
    if (observed > 0.6 * told)
        fail_msg("a regret of %g, and of %g by results", observed, told);
}

static void print_table(uint64_t seeds, uint64_t resource)
{
    static const struct {
        const char *search;
        enum telling telling;
    } rows[] = {{"random", TELL_OBSERVE},
                {"tpe", TELL_OBSERVE},
                {"tpe", TELL_AS_RESULTS},
                {"bayesian", TELL_OBSERVE},
                {"auto", TELL_OBSERVE}};

    for (size_t i = 0; i < ARRAY_LEN(problems); i++)
        for (size_t k = 0; k < ARRAY_LEN(rows); k++)
            printf("%-9s %-9s %-10s %.4f\n", problems[i].name, rows[k].search,
                   rows[k].telling == TELL_OBSERVE ? "observed" : "as results",
                   measure((struct setup){.problem = &problems[i],
                                          .search = rows[k].search,
                                          .telling = rows[k].telling,
                                          .resource = resource},
                           seeds));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fidelity_search__learning_pays_with_asha),
        cmocka_unit_test(test_fidelity_search__partial_results_are_no_results),
    };
    int failed = 0;

    env = expr_env_create(NULL);
    if (argc == 3)
        print_table(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    else
        failed =
            cmocka_run_group_tests_name("fidelity_search", tests, NULL, NULL);
    expr_env_destroy(env);
    return failed;
}
