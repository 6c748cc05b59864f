/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/text.h"
#include "cli/term/canvas.h"
#include "cli/term/plot.h"
#include "cli/term/plot_front.h"

static const struct plot_style ascii = {40, 5, false, false};
static const struct plot_style braille = {40, 5, true, false};

static void fill(struct plot_point *points, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        points[i] = (struct plot_point){(int64_t)i + 1, values[i]};
}

static void test_plot__draws_steps_down(void **state)
{
    const double values[] = {0.5, 0.4, 0.45, 0.2, 0.3, 0.1};
    struct plot_point points[ARRAY_LEN(values)];
    struct buf out = BUF_INIT;

    (void)state;
    fill(points, values, ARRAY_LEN(values));
    plot_best_so_far(points, ARRAY_LEN(values), "loss", false, ascii, &out);
    assert_string_equal(buf_text(&out),
                        "loss: best so far, by trial (*: best, .: each)\n"
                        "0.5 +********\n"
                        "    |       **************\n"
                        "0.3 +                    *      .\n"
                        "    |                    ***************\n"
                        "0.1 +                                  *\n"
                        "    +-----------------------------------\n"
                        "     1             3                   6\n");
    buf_clear(&out);
}

static void test_plot__draws_braille_steps_up(void **state)
{
    const double values[] = {0.0, (double)NAN, 1.0, 0.5};
    struct plot_point points[ARRAY_LEN(values)];
    struct buf out = BUF_INIT;

    (void)state;
    fill(points, values, ARRAY_LEN(values));
    plot_best_so_far(points, ARRAY_LEN(values), "f1", true, braille, &out);
    assert_string_equal(
        buf_text(&out),
        "f1: best so far, by trial, 1 not finite\n"
        "  1 \u2524                       "
        "\u284f\u2809\u2809\u2809\u2809\u2809\u2809\u2809\u2809\u2809\u2809"
        "\u2809\n"
        "    \u2502                       \u2847\n"
        "0.5 \u2524                       \u2847\n"
        "    \u2502                       \u2847\n"
        "  0 "
        "\u2524\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0"
        "\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0\u28c0"
        "\u28c0\u28c0\u2847\n"
        "    "
        "\u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
        "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
        "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
        "\u2500\u2500\u2500\n"
        "     1          2                      4\n");
    buf_clear(&out);
}

/* Every line within the width, whatever the values. */
static void test_plot__keeps_its_width(void **state)
{
    static const double cases[][4] = {
        {1, 1, 1, 1},
        {0, 0, 0, 0},
        {-5, 1e300, -1e300, 3},
        {1e-300, 1e300, 1, 2},
        {1e-310, 2e-310, 5e-324, 1},
        {1.0000000001, 1, 1.00000000005, 1},
        {(double)NAN, (double)INFINITY, 3, -(double)INFINITY},
        {100, 10, 1, 0.1},
        {-1.7e308, 1.7e308, 0, 1},
    };
    static const struct plot_style styles[] = {{72, 9, true, false},
                                               {72, 9, false, false},
                                               {30, 3, true, false},
                                               {1, 4, false, false},
                                               {200, 20, true, false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(styles); i++) {
        struct plot_style style = styles[i % ARRAY_LEN(styles)];
        size_t limit = style.columns < 30 ? 30 : (size_t)style.columns;
        struct plot_point points[4];
        struct buf out = BUF_INIT;
        char *rest, *line;
        int lines = 0;

        fill(points, cases[i / ARRAY_LEN(styles)], 4);
        plot_best_so_far(points, 4, "loss", i % 2 == 0, style, &out);
        rest = out.data;
        strsep(&rest, "\n");
        while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
            assert_in_range(text_columns(line), 1, limit);
            lines++;
        }
        assert_int_equal(lines, style.rows + 2);
        buf_clear(&out);
    }
}

static void test_plot__nothing_to_draw_is_nothing(void **state)
{
    const double values[] = {(double)NAN, (double)INFINITY};
    struct plot_point points[ARRAY_LEN(values)];
    struct buf out = BUF_INIT;

    (void)state;
    fill(points, values, ARRAY_LEN(values));
    plot_best_so_far(points, 2, "loss", false, braille, &out);
    plot_best_so_far(points, 0, "loss", false, braille, &out);
    assert_string_equal(buf_text(&out), "");
    buf_clear(&out);
}

static void test_plot__an_outlier_does_not_flatten_the_rest(void **state)
{
    const double values[] = {1e6, 0.5, -0.3, 0.2, -0.4, 0.1, 0.0, -0.5};
    struct plot_point points[ARRAY_LEN(values)];
    struct buf out = BUF_INIT;

    (void)state;
    fill(points, values, ARRAY_LEN(values));
    plot_best_so_far(points, ARRAY_LEN(values), "loss", false, ascii, &out);
    assert_null(strstr(buf_text(&out), "1e+06"));
    assert_non_null(strstr(buf_text(&out), " -0.5 +"));
    assert_non_null(strstr(buf_text(&out), "+^^^^"));
    buf_clear(&out);
}

static void test_plot__marks_what_is_beyond_the_edge(void **state)
{
    const double values[] = {3,   2, (double)INFINITY,  1,
                             100, 2, -(double)INFINITY, (double)NAN};
    struct plot_point points[ARRAY_LEN(values)];
    struct buf out = BUF_INIT;

    (void)state;
    fill(points, values, ARRAY_LEN(values));
    plot_best_so_far(points, ARRAY_LEN(values), "loss", false, ascii, &out);
    assert_string_equal(
        buf_text(&out),
        "loss: best so far, by trial (*: best, .: each), 1 nan\n"
        "3 +******    ^          ^\n"
        "  |     *\n"
        "2 +     ***********          .\n"
        "  |               *\n"
        "1 +               ****************v*****\n"
        "  +-------------------------------------\n"
        "   1              4                    8\n");
    buf_clear(&out);
}

static void test_plot__many_decades_are_logarithmic(void **state)
{
    const double values[] = {100, 10, 1, 0.1, 0.01};
    struct plot_point points[ARRAY_LEN(values)];
    struct buf out = BUF_INIT;

    (void)state;
    fill(points, values, ARRAY_LEN(values));
    plot_best_so_far(points, ARRAY_LEN(values), "loss", false, ascii, &out);
    assert_non_null(strstr(buf_text(&out), "log scale"));
    assert_non_null(strstr(buf_text(&out), "\n0.01 +"));
    buf_clear(&out);
}

static void test_plot__colour_ends_where_it_began(void **state)
{
    const double values[] = {0.5, 0.7, 0.2, 0.4};
    struct plot_style style = {40, 5, true, true};
    struct plot_point points[ARRAY_LEN(values)];
    struct buf out = BUF_INIT;
    char *rest, *line;

    (void)state;
    fill(points, values, ARRAY_LEN(values));
    plot_best_so_far(points, ARRAY_LEN(values), "loss", false, style, &out);
    assert_non_null(strstr(buf_text(&out), "\033[2m"));
    rest = out.data;
    while ((line = strsep(&rest, "\n")) != NULL) {
        const char *last = strrchr(line, '\033');

        if (last != NULL)
            assert_string_equal(last, "\033[0m");
    }
    buf_clear(&out);
}

static void test_canvas__every_dot_has_its_bit(void **state)
{
    struct canvas *canvas = canvas_create(1, 1, true, false);
    struct buf out = BUF_INIT;

    (void)state;
    for (int x = 0; x < 2; x++) {
        for (int y = 0; y < 4; y++)
            canvas_dot(canvas, LAYER_POINTS, x, y / 3.0);
    }
    canvas_dot(canvas, LAYER_LINE, (double)NAN, 0.5);
    canvas_print_row(canvas, 0, &out);
    assert_string_equal(buf_text(&out), "\u28ff");
    canvas_dot(canvas, LAYER_LINE, 0.0, 1.0);
    buf_truncate(&out, 0);
    canvas_print_row(canvas, 0, &out);
    assert_string_equal(buf_text(&out), "\u2801");
    canvas_dot(canvas, LAYER_POINTS, 1.01, 0.5);
    buf_truncate(&out, 0);
    canvas_print_row(canvas, 0, &out);
    assert_string_equal(buf_text(&out), "\u25b6");
    buf_clear(&out);
    canvas_destroy(canvas);
}

/* ---- two objectives ---- */

static const struct front_axis both[2] = {{"latency", false}, {"loss", false}};

static void check_front(const struct front_axis *axes, bool is_all,
                        const char *expected)
{
    static const struct front_point points[] = {
        {{0.0, 4.0}, true},  {{2.0, 2.0}, true},  {{4.0, 0.0}, true},
        {{3.0, 3.0}, false}, {{4.0, 4.0}, false}, {{99.0, 99.0}, false}};
    struct buf out = BUF_INIT;

    plot_front(&(struct front_trials){points, ARRAY_LEN(points), 0}, axes,
               is_all, ascii, &out);
    if (strcmp(buf_text(&out), expected) != 0)
        fail_msg("\n%s", buf_text(&out));
    buf_clear(&out);
}

static void test_plot__draws_the_front_as_steps(void **state)
{
    (void)state;
    check_front(both, true,
                "loss against latency: the Pareto front (*), other trials (.)\n"
                "4 +*******************                 ^\n"
                "  |                  *        .\n"
                "2 +                  *******************\n"
                "  |                                    *\n"
                "0 +                                    *\n"
                "  +-------------------------------------\n"
                "   0                 2                 4\n");
}

static void test_plot__draws_steps_towards_a_maximum(void **state)
{
    static const struct front_axis axes[2] = {{"gain", true}, {"loss", false}};
    static const struct front_point points[] = {{{0.0, 0.0}, true},
                                                {{4.0, 4.0}, true}};
    struct buf out = BUF_INIT;

    (void)state;
    plot_front(&(struct front_trials){points, ARRAY_LEN(points), 3}, axes, true,
               ascii, &out);
    assert_string_equal(
        buf_text(&out),
        "loss against gain: the Pareto front (*), other trials (.), 3 not "
        "finite\n"
        "4 +*************************************\n"
        "  |*\n"
        "2 +*\n"
        "  |*\n"
        "0 +*\n"
        "  +-------------------------------------\n"
        "   0                 2                 4\n");
    buf_clear(&out);
}

static void test_plot__draws_dots_where_two_are_not_all(void **state)
{
    (void)state;
    check_front(both, false,
                "loss against latency: the Pareto front (*), other trials (.)\n"
                "4 +*                                   ^\n"
                "  |                           .\n"
                "2 +                  *\n"
                "  |\n"
                "0 +                                    *\n"
                "  +-------------------------------------\n"
                "   0                 2                 4\n");
}

static void test_plot__draws_nothing_without_a_front(void **state)
{
    struct buf out = BUF_INIT;

    (void)state;
    plot_front(&(struct front_trials){NULL, 0, 2}, both, true, braille, &out);
    assert_int_equal(out.length, 0);
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plot__draws_steps_down),
        cmocka_unit_test(test_plot__draws_braille_steps_up),
        cmocka_unit_test(test_plot__keeps_its_width),
        cmocka_unit_test(test_plot__nothing_to_draw_is_nothing),
        cmocka_unit_test(test_plot__an_outlier_does_not_flatten_the_rest),
        cmocka_unit_test(test_plot__marks_what_is_beyond_the_edge),
        cmocka_unit_test(test_plot__many_decades_are_logarithmic),
        cmocka_unit_test(test_plot__colour_ends_where_it_began),
        cmocka_unit_test(test_canvas__every_dot_has_its_bit),
        cmocka_unit_test(test_plot__draws_the_front_as_steps),
        cmocka_unit_test(test_plot__draws_steps_towards_a_maximum),
        cmocka_unit_test(test_plot__draws_dots_where_two_are_not_all),
        cmocka_unit_test(test_plot__draws_nothing_without_a_front),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
