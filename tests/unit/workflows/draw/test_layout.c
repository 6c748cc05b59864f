/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/draw/layout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/rng.h"

/* CPU time, of which sanitizers take their share. */
#if defined HAS_ADDRESS_SANITIZER || defined IS_EMULATED
static const double limit_ms = 500.0;
#else
static const double limit_ms = 100.0;
#endif

enum { WIDTH = 100, HEIGHT = 40, GAP = 20, LINE_GAP = 10, LAYER_GAP = 50 };

struct picture {
    struct graph *graph;
    double *widths;
    bool *is_last;
    struct layout *layout;
    double cpu_ms;
};

static struct picture picture_begin(size_t count)
{
    struct picture picture = {
        .graph = graph_create(count),
        .widths = mem_array(count + 1, sizeof(double)),
        .is_last = mem_array(count + 1, sizeof(bool)),
    };

    for (size_t i = 0; i < count; i++)
        picture.widths[i] = WIDTH;
    return picture;
}

static void picture_draw(struct picture *picture)
{
    struct layout_options options = {
        .widths = picture->widths,
        .height = HEIGHT,
        .gap = GAP,
        .line_gap = LINE_GAP,
        .layer_gap = LAYER_GAP,
        .is_last = picture->is_last,
    };
    clock_t began = clock();

    picture->layout = layout_create(picture->graph, &options);
    picture->cpu_ms = 1e3 * (double)(clock() - began) / CLOCKS_PER_SEC;
}

static void picture_clear(struct picture *picture)
{
    layout_destroy(picture->layout);
    graph_destroy(picture->graph);
    free(picture->widths);
    free(picture->is_last);
}

/* -- What holds for every layout ------------------------------------------*/

struct span {
    size_t layer;
    double left, right;
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a, *right = b;

    if (left->layer != right->layer)
        return left->layer < right->layer ? -1 : 1;
    return left->left < right->left ? -1 : left->left > right->left;
}

static void check_no_overlap(const struct picture *picture)
{
    size_t count = graph_count(picture->graph);
    struct span *spans = mem_array(count + 1, sizeof(*spans));

    for (size_t i = 0; i < count; i++) {
        struct layout_box box = layout_box(picture->layout, i);

        spans[i] = (struct span){layout_layer(picture->layout, i), box.x,
                                 box.x + box.width};
        assert_true(box.x > -0.001);
        assert_true(spans[i].right < layout_width(picture->layout) + 0.001);
        assert_true(box.y + box.height <=
                    layout_height(picture->layout) + 0.001);
    }
    qsort(spans, count, sizeof(*spans), compare_spans);
    for (size_t i = 1; i < count; i++)
        if (spans[i].layer == spans[i - 1].layer)
            assert_true(spans[i].left > spans[i - 1].right + GAP - 0.001);
    free(spans);
}

/* Each line begins and ends at the boxes, and only goes down. */
static void check_line(const struct picture *picture, size_t step, size_t need,
                       size_t nth)
{
    struct layout_box from = layout_box(picture->layout, need);
    struct layout_box to = layout_box(picture->layout, step);
    bool goes_down = true;
    size_t count;
    struct layout_point *points =
        layout_line(picture->layout, step, nth, &count);

    assert_true(layout_layer(picture->layout, need) <
                layout_layer(picture->layout, step));
    assert_true(fabs(points[0].x - (from.x + from.width / 2.0)) < 0.001);
    assert_true(fabs(points[0].y - (from.y + from.height)) < 0.001);
    assert_true(fabs(points[count - 1].x - (to.x + to.width / 2.0)) < 0.001);
    assert_true(fabs(points[count - 1].y - to.y) < 0.001);
    for (size_t i = 1; i < count; i++)
        goes_down &= points[i].y > points[i - 1].y;
    assert_true(goes_down);
    free(points);
}

/* Where a line passes a layer, it keeps clear of the boxes there. */
static void check_passes_by(const struct picture *picture, size_t step,
                            size_t nth)
{
    size_t count;
    struct layout_point *points =
        layout_line(picture->layout, step, nth, &count);

    for (size_t i = 1; i + 1 < count; i += 2)
        for (size_t k = 0; k < graph_count(picture->graph); k++) {
            struct layout_box box = layout_box(picture->layout, k);
            double clear = (GAP + LINE_GAP) / 2.0 - 0.001;

            assert_true(fabs(points[i].y - box.y) > 0.001 ||
                        points[i].x < box.x - clear ||
                        points[i].x > box.x + box.width + clear);
        }
    free(points);
}

static void check_picture(const struct picture *picture)
{
    check_no_overlap(picture);
    for (size_t i = 0; i < graph_count(picture->graph); i++) {
        size_t count;
        const size_t *needs = graph_needs(picture->graph, i, &count);

        for (size_t k = 0; k < count; k++) {
            check_line(picture, i, needs[k], k);
            if (graph_count(picture->graph) < 100)
                check_passes_by(picture, i, k);
        }
    }
}

/* -- Small ones -----------------------------------------------------------*/

static double middle(const struct picture *picture, size_t step)
{
    struct layout_box box = layout_box(picture->layout, step);

    return box.x + box.width / 2.0;
}

struct segment {
    struct layout_point from, to;
};

/* > 0 on one side of the segment, < 0 on the other. */
static double side(const struct segment *segment, struct layout_point point)
{
    return (segment->to.x - segment->from.x) * (point.y - segment->from.y) -
           (segment->to.y - segment->from.y) * (point.x - segment->from.x);
}

static bool do_cross(const struct segment *a, const struct segment *b)
{
    return side(a, b->from) * side(a, b->to) < -0.001 &&
           side(b, a->from) * side(b, a->to) < -0.001;
}

/* Of a small picture: each piece of a line against each before it. */
static void check_nothing_crosses(const struct picture *picture)
{
    struct segment pieces[64];
    size_t piece_count = 0;

    for (size_t i = 0; i < graph_count(picture->graph); i++) {
        size_t need_count, count;

        graph_needs(picture->graph, i, &need_count);
        for (size_t k = 0; k < need_count; k++) {
            struct layout_point *points =
                layout_line(picture->layout, i, k, &count);

            for (size_t p = 1; p < count; p++) {
                assert_in_range(piece_count, 0, ARRAY_LEN(pieces) - 1);
                pieces[piece_count] =
                    (struct segment){points[p - 1], points[p]};
                for (size_t other = 0; other < piece_count; other++)
                    assert_false(
                        do_cross(&pieces[other], &pieces[piece_count]));
                piece_count++;
            }
            free(points);
        }
    }
}

static void test_layout__of_nothing_and_of_one(void **state)
{
    struct picture none = picture_begin(0), one = picture_begin(1);

    (void)state;
    picture_draw(&none);
    assert_true(layout_height(none.layout) == 0.0);
    picture_draw(&one);
    assert_true(layout_height(one.layout) == HEIGHT);
    assert_true(layout_width(one.layout) == WIDTH + GAP);
    picture_clear(&none);
    picture_clear(&one);
}

static void test_layout__chains_are_straight_and_diamonds_even(void **state)
{
    struct picture picture = picture_begin(7);

    (void)state;
    graph_add(picture.graph, 1, 0);
    graph_add(picture.graph, 2, 0);
    graph_add(picture.graph, 3, 1);
    graph_add(picture.graph, 3, 2);
    graph_add(picture.graph, 4, 3);
    graph_add(picture.graph, 5, 4);
    graph_add(picture.graph, 5, 0); /* a line past three layers */
    graph_add(picture.graph, 6, 5);
    picture_draw(&picture);
    check_picture(&picture);
    check_nothing_crosses(&picture);
    assert_true(middle(&picture, 3) == middle(&picture, 4));
    assert_true(middle(&picture, 5) == middle(&picture, 6));
    assert_true(middle(&picture, 1) < middle(&picture, 2));
    picture_clear(&picture);
}

/* 0 1 2 3 above 7 6 5 4: in the file's order all lines cross. */
static void test_layout__uncrosses_what_can_be(void **state)
{
    struct picture picture = picture_begin(8);

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        graph_add(picture.graph, 7 - i, i);
        if (i > 0)
            graph_add(picture.graph, 8 - i, i);
    }
    picture_draw(&picture);
    check_picture(&picture);
    check_nothing_crosses(&picture);
    picture_clear(&picture);
}

static void test_layout__sources_go_down_to_what_needs_them(void **state)
{
    struct picture picture = picture_begin(5);

    (void)state;
    graph_add(picture.graph, 1, 0);
    graph_add(picture.graph, 2, 1);
    graph_add(picture.graph, 2, 3);
    picture.is_last[4] = true;
    picture_draw(&picture);
    check_picture(&picture);
    assert_int_equal(layout_layer(picture.layout, 3), 1);
    assert_int_equal(layout_layer(picture.layout, 4), 3);
    picture_clear(&picture);
}

/* -- Random and large ones ------------------------------------------------*/

/* `count` steps; each needs up to `needs` of the `reach` before it. */
static struct picture random_picture(size_t count, size_t needs, size_t reach,
                                     uint64_t seed)
{
    struct picture picture = picture_begin(count);
    struct rng rng;

    rng_init(&rng, 99, seed, 0);
    for (size_t i = 0; i < count; i++) {
        size_t some = rng_below(&rng, needs + 1);

        picture.widths[i] = 20.0 + (double)rng_below(&rng, 200);
        for (size_t k = 0; k < some && i > 0; k++)
            graph_add(picture.graph, i,
                      i - 1 - rng_below(&rng, i < reach ? i : reach));
    }
    return picture;
}

static void test_layout__holds_for_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct picture picture =
            random_picture(1 + seed % 60, 1 + seed % 4, 1 + seed % 50, seed);
        size_t last = graph_count(picture.graph) - 1;

        picture.is_last[last] = seed % 2 == 0;
        picture_draw(&picture);
        check_picture(&picture);
        picture_clear(&picture);
    }
}

static void test_layout__is_always_the_same(void **state)
{
    struct picture a = random_picture(200, 3, 40, 5);
    struct picture b = random_picture(200, 3, 40, 5);

    (void)state;
    picture_draw(&a);
    picture_draw(&b);
    for (size_t i = 0; i < 200; i++) {
        struct layout_box left = layout_box(a.layout, i);
        struct layout_box right = layout_box(b.layout, i);

        assert_memory_equal(&left, &right, sizeof(left));
    }
    picture_clear(&a);
    picture_clear(&b);
}

static struct picture layered(size_t layers, size_t width)
{
    struct picture picture = picture_begin(layers * (width + 1));

    for (size_t i = 0; i < layers; i++)
        for (size_t k = 0; k < width; k++) {
            size_t step = i * (width + 1) + k;

            graph_add(picture.graph, i * (width + 1) + width, step);
            if (i > 0)
                graph_add(picture.graph, step, i * (width + 1) - 1);
        }
    return picture;
}

static struct picture complete_pairs(size_t layers, size_t width)
{
    struct picture picture = picture_begin(layers * width);

    for (size_t i = width; i < layers * width; i++)
        for (size_t k = 0; k < width; k++)
            graph_add(picture.graph, i, (i / width - 1) * width + k);
    return picture;
}

/* Every step needs the one before it, and the first. */
static struct picture long_lines(size_t count)
{
    struct picture picture = picture_begin(count);

    for (size_t i = 1; i < count; i++) {
        graph_add(picture.graph, i, i - 1);
        graph_add(picture.graph, i, 0);
        graph_add(picture.graph, count - 1, i - 1);
    }
    return picture;
}

static void check_large(const char *name, struct picture picture, double ms)
{
    picture_draw(&picture);
    print_message("%-28s %7.1f ms\n", name, picture.cpu_ms);
    assert_true(picture.cpu_ms < ms);
    check_picture(&picture);
    picture_clear(&picture);
}

static void test_layout__of_large_graphs(void **state)
{
    (void)state;
    check_large("1000 at random", random_picture(1000, 3, 100, 1), limit_ms);
    check_large("1000 at random, far", random_picture(1000, 3, 1000, 1),
                limit_ms);
    check_large("1000, much needed", random_picture(1000, 12, 1000, 2),
                limit_ms);
    check_large("100 layers of 100", layered(100, 100), limit_ms);
    check_large("30 x 30", complete_pairs(2, 30), limit_ms);
    check_large("10 full layers of 100", complete_pairs(10, 100), limit_ms);
    check_large("1000 with long lines", long_lines(1000), limit_ms);
}

static void test_layout__of_huge_graphs_does_not_blow_up(void **state)
{
    (void)state;
    check_large("100000 at random", random_picture(100000, 3, 1000, 1),
                50 * limit_ms);
    check_large("100000 with long lines", long_lines(100000), 50 * limit_ms);
    check_large("1000 layers of 100", layered(1000, 100), 50 * limit_ms);
    check_large("100000 in one layer", layered(1, 100000), 50 * limit_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout__of_nothing_and_of_one),
        cmocka_unit_test(test_layout__chains_are_straight_and_diamonds_even),
        cmocka_unit_test(test_layout__uncrosses_what_can_be),
        cmocka_unit_test(test_layout__sources_go_down_to_what_needs_them),
        cmocka_unit_test(test_layout__holds_for_random_graphs),
        cmocka_unit_test(test_layout__is_always_the_same),
        cmocka_unit_test(test_layout__of_large_graphs),
        cmocka_unit_test(test_layout__of_huge_graphs_does_not_blow_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
