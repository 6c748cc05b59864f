/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/rng.h"
#include "base/text.h"
#include "workflows/draw/draw.h"

/*
 * Rails are read back, by the rules that draw.h states and by nothing else,
 * into what each step needs: so the picture can be understood in one way only,
 * and that is the right one.
 */

enum { STEPS = DRAW_FOLD_FROM, COLUMNS = 2 * DRAW_RAILS_MAX, GRAPHS = 500 };

struct reader {
    int rail[DRAW_RAILS_MAX];     /* whose it is; -1: nobody's */
    bool is_mark[DRAW_RAILS_MAX]; /* it began in the row before */
    bool needs[STEPS][STEPS];
    bool seen[STEPS];
};

static bool is_one_of(uint32_t rune, const char *runes)
{
    while (*runes != '\0') {
        uint32_t candidate;

        runes += text_next_rune(runes, strlen(runes), &candidate);
        if (candidate == rune)
            return true;
    }
    return false;
}

/* The runes of a row up to the name; where the mark is; and the name. */
static int split_row(const char *line, uint32_t *cells, int *mark,
                     const char **name)
{
    int count = 0;

    memset(cells, 0, (COLUMNS + 1) * sizeof(*cells));
    *mark = -1;
    while (*line != 's') {
        assert_in_range(count, 0, COLUMNS);
        line += text_next_rune(line, strlen(line), &cells[count]);
        if (is_one_of(cells[count], "○"))
            *mark = count / 2;
        count++;
    }
    *name = line;
    return (count + 1) / 2;
}

/* Follows the line to one side of the mark. */
static int follow(struct reader *reader, const uint32_t *cells, int mark,
                  int way, int step)
{
    int found = 0;

    for (int at = mark; at + way >= 0 && is_one_of(cells[2 * at + way], "─");) {
        uint32_t cell;

        at += way;
        cell = cells[2 * at];
        if (!is_one_of(cell, "├└┼┴┤┘"))
            continue;
        assert_true(reader->rail[at] >= 0);
        reader->needs[step][reader->rail[at]] = true;
        found++;
        if (is_one_of(cell, "└┴┘"))
            reader->rail[at] = -1;
    }
    return found;
}

static void read_row(struct reader *reader, const char *line)
{
    uint32_t cells[COLUMNS + 2];
    const char *name;
    int mark, width = split_row(line, cells, &mark, &name), step, joined;

    step = (int)strtol(name + 1, NULL, 10);
    assert_in_range(step, 0, STEPS - 1);
    assert_false(reader->seen[step]);
    assert_true(mark >= 0);
    reader->seen[step] = true;
    joined = follow(reader, cells, mark, 1, step);
    joined += follow(reader, cells, mark, -1, step);
    if (reader->rail[mark] >= 0 && (!reader->is_mark[mark] || joined == 0))
        reader->needs[step][reader->rail[mark]] = true;
    for (int i = 0; i < DRAW_RAILS_MAX; i++) {
        if (i >= width || is_one_of(cells[2 * i], " ─"))
            reader->rail[i] = -1;
        reader->is_mark[i] = i == mark;
    }
    reader->rail[mark] = step;
}

static struct graph *random_graph(size_t count, uint64_t seed)
{
    struct graph *graph = graph_create(count);
    struct rng rng;
    size_t reach;

    rng_init(&rng, 7, seed, 0);
    reach = 1 + rng_below(&rng, 12);
    for (size_t i = 1; i < count; i++)
        for (size_t k = rng_below(&rng, 4); k-- > 0;)
            graph_add(graph, i, i - 1 - rng_below(&rng, i < reach ? i : reach));
    return graph;
}

static void draw_graph(const struct graph *graph, struct buf *out)
{
    char names[STEPS][24];
    struct draw_node nodes[STEPS];
    struct drawing drawing = {
        .title = "", .graph = graph, .nodes = nodes, .utf8 = true};

    for (size_t i = 0; i < graph_count(graph); i++) {
        snprintf(names[i], sizeof(names[i]), "s%zu", i);
        nodes[i] = (struct draw_node){.name = names[i], .copies = 1};
    }
    draw_text(&drawing, out);
}

static void check_needs(const struct reader *reader, const struct graph *graph,
                        const char *text)
{
    for (size_t i = 0; i < graph_count(graph); i++) {
        bool expected[STEPS] = {false};
        size_t count;
        const size_t *needs = graph_needs(graph, i, &count);

        for (size_t k = 0; k < count; k++)
            expected[needs[k]] = true;
        assert_true(reader->seen[i]);
        if (memcmp(expected, reader->needs[i], sizeof(expected)) != 0)
            fail_msg("the needs of s%zu are misread in\n%s", i, text);
    }
}

static void test_draw_text__rails_can_be_read_in_one_way(void **state)
{
    int with_rails = 0;

    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct graph *graph = random_graph(1 + seed % STEPS, seed);
        struct reader reader = {0};
        struct buf out = BUF_INIT;
        char *rest, *copy;

        memset(reader.rail, 0xff, sizeof(reader.rail));
        draw_graph(graph, &out);
        copy = strdup(buf_text(&out));
        for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest))
            read_row(&reader, line);
        check_needs(&reader, graph, buf_text(&out));
        with_rails++;
        free(copy);
        buf_clear(&out);
        graph_destroy(graph);
    }
    assert_int_equal(with_rails, GRAPHS);
}

/* -- What is too large for a line a step ----------------------------------*/

static void check_lines(const struct graph *graph, const char *expected)
{
    enum { MANY = 400 };
    static char names[MANY][24];
    static struct draw_node nodes[MANY];
    struct drawing drawing = {.title = "",
                              .graph = graph,
                              .nodes = nodes,
                              .utf8 = true,
                              .has_states = true};
    struct buf out = BUF_INIT;

    for (size_t i = 0; i < graph_count(graph); i++) {
        snprintf(names[i], sizeof(names[i]), "s%zu", i);
        nodes[i] = (struct draw_node){.name = names[i], .copies = 1};
        nodes[i].state = i < 50 ? FLOW_SUCCEEDED : FLOW_WAITING;
    }
    draw_text(&drawing, &out);
    if (strstr(buf_text(&out), expected) == NULL)
        fail_msg("not as expected:\n%s", buf_text(&out));
    buf_clear(&out);
}

static void test_draw_text__folds_what_is_alike(void **state)
{
    struct graph *graph = graph_create(302);

    (void)state;
    for (size_t i = 1; i <= 100; i++) {
        graph_add(graph, i, 0);
        graph_add(graph, 101, i);
    }
    for (size_t i = 102; i <= 300; i++)
        graph_add(graph, i, 101);
    graph_add(graph, 301, 101);
    graph_add(graph, 301, 300);
    check_lines(graph, "● s0             succeeded\n"
                       "◐ s1 … s100      100 steps: 51 waiting, 49 succeeded\n"
                       "○ s101           waiting\n"
                       "├─○ s102 … s299  198 steps: 198 waiting\n"
                       "├─○ s300         waiting\n"
                       "○─┘ s301         waiting\n");
    graph_destroy(graph);
}

/* Thirty chains side by side, all different. */
static void test_draw_text__names_needs_where_rails_are_too_many(void **state)
{
    struct graph *graph = graph_create(91);

    (void)state;
    for (size_t i = 0; i < 30; i++) {
        graph_add(graph, 30 + i, i);
        graph_add(graph, 30 + i, (i + 1) % 30);
        graph_add(graph, 60 + i, 30 + i);
        graph_add(graph, 60 + i, 30 + (i + 7) % 30);
        graph_add(graph, 90, 60 + i);
    }
    check_lines(graph, "○ s89  waiting, after s59, s36\n"
                       "○ s90  waiting, after s60, s61, s62 and 27 more\n");
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draw_text__rails_can_be_read_in_one_way),
        cmocka_unit_test(test_draw_text__folds_what_is_alike),
        cmocka_unit_test(test_draw_text__names_needs_where_rails_are_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
