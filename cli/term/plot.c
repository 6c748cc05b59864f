/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The best value so far over the trials, as a plot of characters.
 *
 * The range of the y axis decides whether one sees anything. It reaches from
 * the best value to the first one, or further. The worst quarter of the trials
 * may lie beyond the edge, and so may a first value that would flatten the
 * rest.
 */
#include "cli/term/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/term/axis.h"
#include "cli/term/canvas.h"

enum { NARROW = 30, LABEL_SIZE = AXIS_LABEL_SIZE, MIDDLE_MAX = 100000000 };

static const double far_ratio = 3.0; /* spans: the first best is an outlier */

struct plot {
    const struct plot_point *points;
    size_t count;
    bool maximize;
    struct plot_style style;
    struct plot_axis y;
};

static bool is_better(const struct plot *plot, double a, double b)
{
    return plot->maximize ? a > b : a < b;
}

/* ---- the y axis ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The finite values, sorted; the caller frees them. */
static double *sorted_values(const struct plot *plot, size_t *count)
{
    double *values = mem_array(plot->count, sizeof(*values));

    *count = 0;
    for (size_t i = 0; i < plot->count; i++) {
        if (isfinite(plot->points[i].value))
            values[(*count)++] = plot->points[i].value;
    }
    qsort(values, *count, sizeof(*values), compare);
    return values;
}

static double first_value(const struct plot *plot)
{
    size_t i = 0;

    while (!isfinite(plot->points[i].value))
        i++;
    return plot->points[i].value;
}

/* Whether `first` is so much worse than `bad` that an axis up to it would
 * flatten everything else. */
static bool is_outlier(double best, double bad, double first)
{
    if (axis_spans_decades(fmin(best, first), fmax(best, first))) {
        best = log10(best);
        bad = log10(bad);
        first = log10(first);
    }
    return bad != best && fabs(first - best) > far_ratio * fabs(bad - best);
}

/* From the best value to the worse of the first and the quarter of the trials
 * that is the worst. False when there is no value. */
static bool choose_range(struct plot *plot)
{
    size_t count;
    double *values = sorted_values(plot, &count);
    double best, bad, first;

    if (count == 0) {
        free(values);
        return false;
    }
    first = first_value(plot);
    best = plot->maximize ? values[count - 1] : values[0];
    bad = plot->maximize ? values[count / 4] : values[count - 1 - count / 4];
    free(values);
    if (is_better(plot, bad, first) && !is_outlier(best, bad, first))
        bad = first;
    axis_init(&plot->y, fmin(best, bad), fmax(best, bad));
    return true;
}

static double place_y(const struct plot *plot, double value)
{
    return axis_place(&plot->y, value);
}

static double place_x(const struct plot *plot, int64_t trial)
{
    int64_t first = plot->points[0].trial;
    int64_t last = plot->points[plot->count - 1].trial;

    return last > first ? (double)(trial - first) / (double)(last - first)
                        : 0.0;
}

/* ---- drawing ---- */

static bool shows_points(const struct plot *plot)
{
    return plot->style.colour || !plot->style.utf8;
}

static void draw_points(const struct plot *plot, struct canvas *canvas)
{
    for (size_t i = 0; i < plot->count; i++) {
        const struct plot_point *point = &plot->points[i];

        if (!isnan(point->value))
            canvas_dot(canvas, LAYER_POINTS, place_x(plot, point->trial),
                       place_y(plot, point->value));
    }
}

static void draw_best(const struct plot *plot, struct canvas *canvas)
{
    double best = (double)NAN, since = 0.0;

    for (size_t i = 0; i < plot->count; i++) {
        const struct plot_point *point = &plot->points[i];
        double x = place_x(plot, point->trial);

        if (!isfinite(point->value) ||
            (!isnan(best) && !is_better(plot, point->value, best)))
            continue;
        if (!isnan(best)) {
            canvas_level(canvas, since, x, place_y(plot, best));
            canvas_drop(canvas, x, place_y(plot, best),
                        place_y(plot, point->value));
        }
        best = point->value;
        since = x;
    }
    canvas_level(canvas, since, 1.0, place_y(plot, best));
}

/* Trials have no place where they are NaN, and none that is drawn where only
 * the best so far is. */
static void add_unshown(const struct plot *plot, struct buf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < plot->count; i++) {
        double value = plot->points[i].value;

        count += shows_points(plot) ? isnan(value) : !isfinite(value);
    }
    if (count > 0)
        buf_printf(out, ", %zu %s", count,
                   shows_points(plot) ? "nan" : "not finite");
}

static void add_title(const struct plot *plot, const char *metric,
                      struct buf *out)
{
    text_escape(metric, strlen(metric), out);
    buf_add_string(out, ": best so far, by trial");
    if (!plot->style.utf8)
        buf_add_string(out, " (*: best, .: each)");
    else if (plot->style.colour)
        buf_add_string(out, " (dim: each)");
    if (plot->y.is_log)
        buf_add_string(out, ", log scale");
    add_unshown(plot, out);
    buf_add_char(out, '\n');
}

/* The x axis, and the numbers of the first, the middle and the last trial. */
static void add_x_axis(const struct plot *plot, int margin, int width,
                       struct buf *out)
{
    int64_t first = plot->points[0].trial;
    int64_t last = plot->points[plot->count - 1].trial;
    int64_t middle = first + (last - first) / 2;
    char text[3][LABEL_SIZE];
    int at;

    axis_print_line(margin, width, plot->style.utf8, out);
    snprintf(text[0], LABEL_SIZE, "%" PRId64, first);
    snprintf(text[1], LABEL_SIZE, "%" PRId64, middle);
    snprintf(text[2], LABEL_SIZE, "%" PRId64, last);
    buf_printf(out, "%*s  %s", margin, "", text[0]);
    at = (int)strlen(text[0]);
    if (middle > first && last < MIDDLE_MAX) {
        int place = (int)lround(place_x(plot, middle) * (width - 1)) -
                    (int)strlen(text[1]) / 2;

        buf_printf(out, "%*s%s", place - at, "", text[1]);
        at = place + (int)strlen(text[1]);
    }
    if (last > first)
        buf_printf(out, "%*s%s", width - at - (int)strlen(text[2]), "",
                   text[2]);
    buf_add_char(out, '\n');
}

void plot_best_so_far(const struct plot_point *points, size_t count,
                      const char *metric, bool maximize,
                      struct plot_style style, struct buf *out)
{
    struct plot plot = {
        .points = points, .count = count, .maximize = maximize, .style = style};
    struct canvas *canvas;
    int margin, width;

    if (!choose_range(&plot))
        return;
    margin = axis_label_columns(&plot.y);
    width = (style.columns > NARROW ? style.columns : NARROW) - margin - 2;
    canvas = canvas_create(width, style.rows, style.utf8, style.colour);
    if (shows_points(&plot))
        draw_points(&plot, canvas);
    draw_best(&plot, canvas);
    add_title(&plot, metric, out);
    axis_print_canvas(&plot.y, canvas, style.rows, style.utf8, out);
    add_x_axis(&plot, margin, width, out);
    canvas_destroy(canvas);
}
