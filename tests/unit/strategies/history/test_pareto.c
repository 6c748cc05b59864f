/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/history/hypervolume.h"
#include "strategies/history/pareto.h"

#define assert_near(a, b, by) assert_true(fabs((a) - (b)) <= (by))

enum { COUNT = 60, OBJECTIVES_MAX = 5 };

struct cloud {
    double values[COUNT * OBJECTIVES_MAX];
    double violations[COUNT];
    size_t objectives;
};

/* Coarse values, so that there are ties and equal points. */
static void fill(struct cloud *cloud, uint64_t seed, size_t objectives,
                 int levels)
{
    struct rng rng;

    rng_init(&rng, seed, objectives, 0);
    cloud->objectives = objectives;
    for (size_t i = 0; i < COUNT * objectives; i++)
        cloud->values[i] =
            levels > 0 ? (double)rng_below(&rng, (uint64_t)levels) / levels
                       : rng_uniform(&rng);
    for (size_t i = 0; i < COUNT; i++)
        cloud->violations[i] =
            i % 17 == 5 ? (double)INFINITY : (double)rng_below(&rng, 3);
}

static const double *row(const struct cloud *cloud, size_t i)
{
    return cloud->values + i * cloud->objectives;
}

static bool dominates(const struct cloud *cloud, bool constrained, size_t a,
                      size_t b)
{
    if (constrained && (cloud->violations[a] < cloud->violations[b] ||
                        cloud->violations[a] > cloud->violations[b]))
        return cloud->violations[a] < cloud->violations[b];
    return pareto_dominates(row(cloud, a), row(cloud, b), cloud->objectives);
}

/* A rank is one more than the highest among those that dominate. */
static size_t rank_by_force(const struct cloud *cloud, bool constrained,
                            size_t *ranks)
{
    size_t highest = 0;
    bool changed = true;

    memset(ranks, 0, COUNT * sizeof(*ranks));
    while (changed) {
        changed = false;
        for (size_t i = 0; i < COUNT; i++)
            for (size_t j = 0; j < COUNT; j++)
                if (ranks[i] <= ranks[j] &&
                    dominates(cloud, constrained, j, i)) {
                    ranks[i] = ranks[j] + 1;
                    changed = true;
                }
    }
    for (size_t i = 0; i < COUNT; i++)
        highest = ranks[i] > highest ? ranks[i] : highest;
    return highest + 1;
}

static void test_pareto__ranks_are_those_of_the_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++)
        for (size_t m = 1; m <= OBJECTIVES_MAX; m++)
            for (int constrained = 0; constrained < 2; constrained++) {
                size_t ranks[COUNT], expected[COUNT];
                struct cloud cloud;

                fill(&cloud, seed, m, seed % 2 ? 6 : 0);
                assert_int_equal(
                    pareto_sort(cloud.values,
                                constrained ? cloud.violations : NULL, COUNT, m,
                                ranks),
                    rank_by_force(&cloud, constrained, expected));
                assert_memory_equal(ranks, expected, sizeof(ranks));
            }
}

static void test_pareto__sorts_ten_thousand_in_a_moment(void **state)
{
    enum { MANY = 10000 };
    double *values = calloc(MANY * 3, sizeof(*values));
    size_t *ranks = calloc(MANY, sizeof(*ranks));
    struct rng rng;
    clock_t start = clock();

    (void)state;
    rng_init(&rng, 1, 1, 1);
    for (size_t i = 0; i < MANY; i++) { /* all on one front */
        values[3 * i] = rng_uniform(&rng);
        values[3 * i + 1] = rng_uniform(&rng);
        values[3 * i + 2] = 2 - values[3 * i] - values[3 * i + 1];
    }
    assert_int_equal(pareto_sort(values, NULL, MANY, 3, ranks), 1);
    for (size_t i = 0; i < 3 * MANY; i++)
        values[i] = rng_uniform(&rng);
    assert_true(pareto_sort(values, NULL, MANY, 3, ranks) > 10);
    assert_true(pareto_sort(values, NULL, MANY, 2, ranks) > 50);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    free(values);
    free(ranks);
}

static void test_pareto__crowding_is_the_gap_around_a_point(void **state)
{
    static const double front[] = {0, 10, 1, 6, 4, 4, 10, 0};
    static const double huge[] = {-1e308, 1e308, 0, 0, 1e308, -1e308};
    double distances[4];

    (void)state;
    pareto_crowding(front, 4, 2, distances);
    assert_true(isinf(distances[0]) && isinf(distances[3]));
    assert_near(distances[1], 4 / 10. + 6 / 10., 1e-12);
    assert_near(distances[2], 9 / 10. + 6 / 10., 1e-12);
    pareto_crowding(huge, 3, 2, distances);
    assert_false(isnan(distances[1]));
    pareto_crowding(front, 1, 2, distances);
    assert_near(distances[0], 0, 0);
}

/* The cells of a grid with `levels` steps a side that some point dominates. */
static double volume_by_force(const struct cloud *cloud, size_t skip,
                              int levels)
{
    size_t cells = 1, covered = 0;

    for (size_t k = 0; k < cloud->objectives; k++)
        cells *= (size_t)levels;
    for (size_t cell = 0; cell < cells; cell++) {
        bool is_covered = false;

        for (size_t i = 0; i < COUNT && !is_covered; i++) {
            size_t rest = cell, k = 0;

            while (k < cloud->objectives && i != skip &&
                   row(cloud, i)[k] * levels <
                       (double)(rest % (size_t)levels) + 0.5) {
                rest /= (size_t)levels;
                k++;
            }
            is_covered = k == cloud->objectives;
        }
        covered += is_covered;
    }
    return (double)covered / (double)cells;
}

static void test_hypervolume__is_what_a_count_of_cells_says(void **state)
{
    static const double reference[] = {1, 1, 1, 1, 1};
    enum { LEVELS = 6 };

    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++)
        for (size_t m = 1; m <= OBJECTIVES_MAX; m++) {
            double contributions[COUNT], whole;
            struct cloud cloud;

            fill(&cloud, seed, m, LEVELS);
            for (size_t i = 0; i < COUNT * m && seed % 2; i++)
                cloud.values[i] = 1 - cloud.values[i] * cloud.values[i];
            for (size_t i = 0; i < COUNT * m && seed % 2; i++)
                cloud.values[i] = ceil(cloud.values[i] * LEVELS) / LEVELS;
            whole = volume_by_force(&cloud, COUNT, LEVELS);
            assert_near(hypervolume(cloud.values, COUNT, m, reference), whole,
                        1e-9);
            hypervolume_contributions(cloud.values, COUNT, m, reference,
                                      contributions);
            for (size_t i = 0; i < COUNT && (m < 5 || i < 5); i++)
                assert_near(contributions[i],
                            whole - volume_by_force(&cloud, i, LEVELS), 1e-9);
        }
}

static void test_hypervolume__ignores_what_is_beyond_the_reference(void **state)
{
    static const double values[] = {0.5, 0.5, 0.5, 2, 0.1, 0.1, -3, 0.2, 1};
    static const double reference[] = {1, 1, 1};

    (void)state;
    assert_near(hypervolume(values, 3, 3, reference), 0.125, 1e-12);
    assert_near(hypervolume(values, 0, 3, reference), 0, 0);
}

/* Points that are moved, scaled and put in another order. */
static void test_hypervolume__scales_with_the_values(void **state)
{
    double reference[OBJECTIVES_MAX], moved[COUNT * OBJECTIVES_MAX];
    struct cloud cloud;

    (void)state;
    for (size_t m = 1; m <= OBJECTIVES_MAX; m++) {
        double volume;

        fill(&cloud, 3, m, 0);
        for (size_t k = 0; k < m; k++)
            reference[k] = 1;
        volume = hypervolume(cloud.values, COUNT, m, reference);
        for (size_t i = 0; i < COUNT * m; i++)
            moved[(COUNT * m - m) - i / m * m + i % m] =
                4 * cloud.values[i] - 7;
        for (size_t k = 0; k < m; k++)
            reference[k] = -3;
        assert_near(hypervolume(moved, COUNT, m, reference),
                    volume * pow(4, (double)m), 1e-9);
    }
}

static void test_hypervolume__reference_is_behind_the_front(void **state)
{
    static const double values[] = {0, 10, 5, 2, 10, 0, 100, 100};
    static const double one[] = {3, -4, 3, -4};
    double reference[2];

    (void)state;
    hypervolume_reference(values, 4, 2, reference);
    assert_near(reference[0], 11, 1e-12);
    assert_near(reference[1], 11, 1e-12);
    hypervolume_reference(one, 2, 2, reference);
    assert_near(reference[0], 3.1, 1e-12);
    assert_near(reference[1], -3.9, 1e-12);
    hypervolume_wide_reference(values, 4, 2, reference);
    assert_near(reference[0], 20, 1e-12);
    assert_near(reference[1], 20, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pareto__ranks_are_those_of_the_definition),
        cmocka_unit_test(test_pareto__sorts_ten_thousand_in_a_moment),
        cmocka_unit_test(test_pareto__crowding_is_the_gap_around_a_point),
        cmocka_unit_test(test_hypervolume__is_what_a_count_of_cells_says),
        cmocka_unit_test(
            test_hypervolume__ignores_what_is_beyond_the_reference),
        cmocka_unit_test(test_hypervolume__scales_with_the_values),
        cmocka_unit_test(test_hypervolume__reference_is_behind_the_front),
    };

    return cmocka_run_group_tests_name("pareto", tests, NULL, NULL);
}
