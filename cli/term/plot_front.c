/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scatter plot of two objectives with the Pareto front. With two objectives
 * the front is the border of what is beaten, drawn in steps. With more
 * objectives that border is not in this plane, and the front is a set of dots.
 */
#include "cli/term/plot_front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/term/axis.h"
#include "cli/term/canvas.h"

enum { X, Y, NARROW = 30 };

struct scatter {
    const struct front_point *points;
    size_t count;
    const struct front_axis *axes;
    struct plot_axis scales[2];
    struct canvas *canvas;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double worse(const struct scatter *scatter, int axis, double a, double b)
{
    return scatter->axes[axis].maximize ? fmin(a, b) : fmax(a, b);
}

/* From the best value to the worst of the front, or on to where only the worst
 * quarter of all trials is left out. */
static void choose_range(struct scatter *scatter, int axis)
{
    double *values = mem_array(scatter->count, sizeof(*values));
    bool maximize = scatter->axes[axis].maximize;
    size_t last = scatter->count - 1;
    double best, bad;

    for (size_t i = 0; i < scatter->count; i++)
        values[i] = scatter->points[i].values[axis];
    qsort(values, scatter->count, sizeof(*values), compare);
    best = maximize ? values[last] : values[0];
    bad = maximize ? values[scatter->count / 4]
                   : values[last - scatter->count / 4];
    free(values);
    for (size_t i = 0; i < scatter->count; i++) {
        if (scatter->points[i].is_on_front)
            bad = worse(scatter, axis, bad, scatter->points[i].values[axis]);
    }
    axis_init(&scatter->scales[axis], fmin(best, bad), fmax(best, bad));
}

static double place(const struct scatter *scatter,
                    const struct front_point *point, int axis)
{
    return axis_place(&scatter->scales[axis], point->values[axis]);
}

static void draw_points(const struct scatter *scatter, bool on_front,
                        enum canvas_layer layer)
{
    for (size_t i = 0; i < scatter->count; i++) {
        const struct front_point *point = &scatter->points[i];

        if (point->is_on_front == on_front)
            canvas_dot(scatter->canvas, layer, place(scatter, point, X),
                       place(scatter, point, Y));
    }
}

/* ---- the line of steps ---- */

static int compare_x(const void *a, const void *b)
{
    const struct front_point *const *p = a, *const *q = b;

    return compare(&(*p)->values[X], &(*q)->values[X]);
}

/* Between two neighbours the step is where both are worse in one objective. */
static void draw_step(const struct scatter *scatter,
                      const struct front_point *left,
                      const struct front_point *right)
{
    bool maximize = scatter->axes[X].maximize;
    double x0 = place(scatter, left, X), x1 = place(scatter, right, X);
    double y0 = place(scatter, left, Y), y1 = place(scatter, right, Y);

    canvas_level(scatter->canvas, x0, x1, maximize ? y1 : y0);
    canvas_drop(scatter->canvas, maximize ? x0 : x1, y0, y1);
}

static void draw_steps(const struct scatter *scatter)
{
    const struct front_point **members =
        mem_array(scatter->count, sizeof(struct front_point *));
    size_t count = 0;

    for (size_t i = 0; i < scatter->count; i++) {
        if (scatter->points[i].is_on_front)
            members[count++] = &scatter->points[i];
    }
    qsort(members, count, sizeof(struct front_point *), compare_x);
    for (size_t i = 0; i + 1 < count; i++)
        draw_step(scatter, members[i], members[i + 1]);
    free(members);
}

/* ---- the whole ---- */

static void add_title(const struct scatter *scatter, size_t not_finite,
                      struct plot_style style, struct buf *out)
{
    for (int axis = Y; axis >= X; axis--) {
        const char *metric = scatter->axes[axis].metric;

        text_escape(metric, strlen(metric), out);
        if (scatter->scales[axis].is_log)
            buf_add_string(out, " (log scale)");
        buf_add_string(out, axis == Y ? " against " : ": the Pareto front");
    }
    if (!style.utf8)
        buf_add_string(out, " (*), other trials (.)");
    else if (style.colour)
        buf_add_string(out, " (dim: other trials)");
    if (not_finite > 0)
        buf_printf(out, ", %zu not finite", not_finite);
    buf_add_char(out, '\n');
}

static bool has_front(const struct front_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (points[i].is_on_front)
            return true;
    }
    return false;
}

void plot_front(const struct front_trials *trials,
                const struct front_axis axes[2], bool is_all,
                struct plot_style style, struct buf *out)
{
    struct scatter scatter = {
        .points = trials->points, .count = trials->count, .axes = axes};
    int margin, width;

    if (!has_front(trials->points, trials->count))
        return;
    choose_range(&scatter, X);
    choose_range(&scatter, Y);
    margin = axis_label_columns(&scatter.scales[Y]);
    width = (style.columns > NARROW ? style.columns : NARROW) - margin - 2;
    scatter.canvas = canvas_create(width, style.rows, style.utf8, style.colour);
    if (style.colour || !style.utf8)
        draw_points(&scatter, false, LAYER_POINTS);
    draw_points(&scatter, true, LAYER_LINE);
    if (is_all)
        draw_steps(&scatter);
    add_title(&scatter, trials->not_finite, style, out);
    axis_print_canvas(&scatter.scales[Y], scatter.canvas, style.rows,
                      style.utf8, out);
    axis_print_line(margin, width, style.utf8, out);
    axis_print_labels(&scatter.scales[X], margin, width, out);
    canvas_destroy(scatter.canvas);
}
