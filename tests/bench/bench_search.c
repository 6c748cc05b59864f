/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "strategies/strategy.h"

/* A suggestion and its result in 20 dimensions, after thousands of results: on
 * average (for bayesian, times when all hyperparameters are fitted are among
 * them) and at worst but for one in twenty. Lines of five fields: name, ms,
 * peer (none), bar, unit. Processor time: one thread that waits for nothing. */

enum { DIMENSIONS = 20, SUGGESTIONS = 60 };

static const struct row {
    const char *method;
    uint64_t trials;
    double bar_ms;
} rows[] = {{"bayesian", 1000, 100},
            {"bayesian", 10000, 300},
            {"tpe", 1000, 1},
            {"tpe", 10000, 10},
            {"tpe", 100000, 20}};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A valley that is not along the axes. */
static double objective(const struct value *point)
{
    double sum = 0;

    for (int i = 0; i < DIMENSIONS; i++) {
        double x = point[i].real - 0.3;
        double y = point[(i + 1) % DIMENSIONS].real - 0.4;

        sum += x * x + 10 * (y - x) * (y - x);
    }
    return sum;
}

static void tell(struct strategy *strategy, uint64_t trial,
                 const struct value *point)
{
    double value = objective(point);

    strategy_tell(strategy, trial, &(struct trial_result){.values = &value});
}

static struct strategy *make(struct space *space, const char *method,
                             uint64_t trials)
{
    const struct strategy_options options = {
        .method = method, .seed = 1, .budget_trials = 2 * trials};
    const struct strategy_options plain = {.method = "random", .seed = 1};
    struct strategy *strategy = strategy_create(&options, space, NULL);
    struct strategy *random = strategy_create(&plain, space, NULL);
    struct value point[DIMENSIONS];

    for (uint64_t i = 1; i <= trials; i++) {
        if (strategy_ask(random, i, point, NULL, NULL) != ASK_OK)
            exit(1);
        strategy_restore(strategy, i, point, 0);
        tell(strategy, i, point);
    }
    strategy_destroy(random);
    return strategy;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void measure(struct space *space, const struct row *row)
{
    uint64_t trials = row->trials;
    struct strategy *strategy = make(space, row->method, trials);
    struct value point[DIMENSIONS];
    double ms[SUGGESTIONS], sum = 0;

    for (uint64_t i = 0; i < SUGGESTIONS; i++) {
        double start = now_ms();

        if (strategy_ask(strategy, trials + 1 + i, point, NULL, NULL) != ASK_OK)
            exit(1);
        tell(strategy, trials + 1 + i, point);
        ms[i] = now_ms() - start;
        sum += ms[i];
    }
    qsort(ms, SUGGESTIONS, sizeof(*ms), compare);
    printf("%s suggestion after %d results, mean\t%.4g\t-\t%g\tms\n",
           row->method, (int)trials, sum / SUGGESTIONS, row->bar_ms);
    printf("%s suggestion after %d results, 95%%\t%.4g\t-\t%g\tms\n",
           row->method, (int)trials, ms[SUGGESTIONS * 19 / 20], row->bar_ms);
    strategy_destroy(strategy);
}

int main(void)
{
    struct expr_env *env = expr_env_create(NULL);
    struct space *space = space_create(env);

    for (int i = 0; i < DIMENSIONS; i++) {
        char name[16];
        struct param param = {.name = name, .kind = PARAM_FLOAT, .max = 1};

        snprintf(name, sizeof(name), "x%d", i);
        if (space_add_param(space, &param, NULL) < 0)
            return 1;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        measure(space, &rows[i]);
    space_destroy(space);
    expr_env_destroy(env);
    return 0;
}
