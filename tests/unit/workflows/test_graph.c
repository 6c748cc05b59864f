/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { MANY = 100000, RANDOM_GRAPHS = 400, SMALL = 12 };

struct pair {
    size_t step, need;
};

static struct graph *make_graph(size_t count, const struct pair *pairs,
                                size_t pair_count)
{
    struct graph *graph = graph_create(count);

    for (size_t i = 0; i < pair_count; i++)
        graph_add(graph, pairs[i].step, pairs[i].need);
    return graph;
}

static void check_row(const size_t *row, size_t count, const char *expected)
{
    char text[64] = "";

    for (size_t i = 0; i < count; i++) {
        assert_true(row[i] < 10);
        text[i] = (char)('0' + row[i]);
    }
    assert_string_equal(text, expected);
}

static void test_graph__needs_are_as_they_were_said(void **state)
{
    static const struct pair pairs[] = {{3, 2}, {3, 0}, {1, 0}, {3, 2},
                                        {3, 1}, {2, 0}, {3, 0}};
    struct graph *graph = make_graph(4, pairs, 7);
    const size_t *row;
    size_t count;

    (void)state;
    assert_int_equal(graph_count(graph), 4);
    row = graph_needs(graph, 3, &count);
    check_row(row, count, "201");
    row = graph_needs(graph, 0, &count);
    check_row(row, count, "");
    row = graph_needed_by(graph, 0, &count);
    check_row(row, count, "123");
    graph_add(graph, 0, 2); /* a question was asked: the index is made anew */
    row = graph_needs(graph, 0, &count);
    check_row(row, count, "2");
    row = graph_needed_by(graph, 2, &count);
    check_row(row, count, "03");
    graph_destroy(graph);
    graph_destroy(NULL);
}

static void test_graph__order_is_the_files_where_needs_allow(void **state)
{
    static const struct pair pairs[] = {{0, 4}, {2, 1}, {3, 0}};
    struct graph *graph = make_graph(5, pairs, 3);
    struct graph *none = graph_create(0);
    size_t order[5];

    (void)state;
    assert_int_equal(graph_order(graph, order), 5);
    check_row(order, 5, "12403");
    assert_int_equal(graph_order(none, order), 0);
    graph_destroy(graph);
    graph_destroy(none);
}

static void check_circle(const struct pair *pairs, size_t pair_count,
                         const char *expected)
{
    struct graph *graph = make_graph(8, pairs, pair_count);
    size_t *circle;
    size_t length = graph_circle(graph, &circle);

    check_row(circle, length, expected);
    free(circle);
    graph_destroy(graph);
}

static void test_graph__circle_is_the_shortest_through_the_first(void **state)
{
    static const struct pair self[] = {{5, 5}, {4, 5}};
    static const struct pair two[] = {{6, 7}, {7, 6}, {0, 6}};
    static const struct pair first[] = {{6, 7}, {7, 6}, {2, 3}, {3, 4}, {4, 2}};
    static const struct pair shortest[] = {{1, 2}, {2, 3}, {3, 4}, {4, 1},
                                           {1, 5}, {5, 4}, {2, 1}};
    static const struct pair between[] = {{1, 2}, {2, 1}, {0, 1}, {2, 4},
                                          {4, 5}, {5, 4}, {1, 0}};
    static const struct pair none[] = {{1, 0}, {2, 0}, {3, 1}, {3, 2}};

    (void)state;
    check_circle(self, 2, "5");
    check_circle(two, 3, "67");
    check_circle(first, 5, "234");
    check_circle(shortest, 7, "12");
    check_circle(between, 7, "01");
    check_circle(none, 4, "");
    check_circle(none, 0, "");
}

static void test_graph__marks_what_is_near_and_far(void **state)
{
    static const struct pair pairs[] = {{1, 0}, {2, 1}, {3, 1},
                                        {4, 2}, {4, 3}, {6, 5}};
    struct graph *graph = make_graph(7, pairs, 6);
    bool up[7] = {false}, down[7] = {false};
    static const bool above_3[7] = {true, true};
    static const bool below_1_and_5[7] = {false, false, true, true,
                                          true,  false, true};

    (void)state;
    graph_mark_ancestors(graph, 3, up);
    assert_memory_equal(up, above_3, sizeof(up));
    graph_mark_descendants(graph, 1, down);
    graph_mark_descendants(graph, 5, down);
    assert_memory_equal(down, below_1_and_5, sizeof(down));
    graph_destroy(graph);
}

/* -- Random graphs --------------------------------------------------------*/

struct random_graph {
    struct graph *graph;
    size_t count;
    bool needs[SMALL][SMALL];
    bool reaches[SMALL][SMALL]; /* by one need or more */
};

static void make_random(struct random_graph *random, uint64_t seed)
{
    struct rng rng;
    size_t pairs;

    memset(random, 0, sizeof(*random));
    rng_init(&rng, 4711, seed, 0);
    random->count = 1 + rng_below(&rng, SMALL);
    random->graph = graph_create(random->count);
    pairs = rng_below(&rng, 1 + random->count * 3 / 2);
    for (size_t i = 0; i < pairs; i++) {
        size_t step = rng_below(&rng, random->count);
        size_t need = rng_below(&rng, random->count);

        graph_add(random->graph, step, need);
        random->needs[step][need] = random->reaches[step][need] = true;
    }
    for (size_t k = 0; k < random->count; k++) /* Warshall */
        for (size_t i = 0; i < random->count; i++)
            for (size_t j = 0; j < random->count; j++)
                random->reaches[i][j] |=
                    random->reaches[i][k] && random->reaches[k][j];
}

static void check_order(const struct random_graph *random)
{
    size_t order[SMALL], done, expected = 0;
    bool seen[SMALL] = {false};

    done = graph_order(random->graph, order);
    for (size_t i = 0; i < done; i++) {
        for (size_t need = 0; need < random->count; need++)
            if (random->needs[order[i]][need])
                assert_true(seen[need]);
        seen[order[i]] = true;
    }
    for (size_t i = 0; i < random->count; i++) {
        bool is_held = random->reaches[i][i];

        for (size_t j = 0; j < random->count; j++)
            is_held |= random->reaches[i][j] && random->reaches[j][j];
        expected += is_held ? 0 : 1;
        assert_int_equal(seen[i], !is_held);
    }
    assert_int_equal(done, expected);
}

static void check_random_circle(const struct random_graph *random)
{
    size_t first = 0, *circle;
    size_t length = graph_circle(random->graph, &circle);
    bool seen[SMALL] = {false};

    while (first < random->count && !random->reaches[first][first])
        first++;
    assert_int_equal(length > 0, first < random->count);
    for (size_t i = 0; i < length; i++) {
        assert_false(seen[circle[i]]);
        seen[circle[i]] = true;
        assert_true(random->needs[circle[i]][circle[(i + 1) % length]]);
    }
    if (length > 0)
        assert_int_equal(circle[0], first);
    free(circle);
}

static void check_marks(const struct random_graph *random)
{
    for (size_t step = 0; step < random->count; step++) {
        bool up[SMALL] = {false}, down[SMALL] = {false};

        graph_mark_ancestors(random->graph, step, up);
        graph_mark_descendants(random->graph, step, down);
        for (size_t i = 0; i < random->count; i++) {
            assert_int_equal(up[i], random->reaches[step][i]);
            assert_int_equal(down[i], random->reaches[i][step]);
        }
    }
}

static void test_graph__holds_for_random_graphs(void **state)
{
    struct random_graph random;

    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_GRAPHS; seed++) {
        make_random(&random, seed);
        check_order(&random);
        check_random_circle(&random);
        check_marks(&random);
        graph_destroy(random.graph);
    }
}

static void test_graph__long_chains_need_no_deep_stack(void **state)
{
    struct graph *graph = graph_create(MANY);
    size_t *order = calloc(MANY, sizeof(*order)), *circle;
    bool *marks = calloc(MANY, sizeof(*marks));

    (void)state;
    for (size_t i = 0; i + 1 < MANY; i++)
        graph_add(graph, i, i + 1);
    assert_int_equal(graph_order(graph, order), MANY);
    assert_int_equal(order[0], MANY - 1);
    assert_int_equal(order[MANY - 1], 0);
    graph_mark_ancestors(graph, 0, marks);
    assert_true(marks[MANY - 1]);
    assert_int_equal(graph_circle(graph, &circle), 0);
    graph_add(graph, MANY - 1, 0);
    assert_int_equal(graph_circle(graph, &circle), MANY);
    assert_int_equal(circle[MANY - 1], MANY - 1);
    assert_int_equal(graph_order(graph, order), 0);
    free(circle);
    free(marks);
    free(order);
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph__needs_are_as_they_were_said),
        cmocka_unit_test(test_graph__order_is_the_files_where_needs_allow),
        cmocka_unit_test(test_graph__circle_is_the_shortest_through_the_first),
        cmocka_unit_test(test_graph__marks_what_is_near_and_far),
        cmocka_unit_test(test_graph__holds_for_random_graphs),
        cmocka_unit_test(test_graph__long_chains_need_no_deep_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
