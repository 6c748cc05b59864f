/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An axis of a plot: its range, scale and labels. A log scale is used from two
 * decades on. Labels get as few digits as tell the three ticks apart. */
#include "cli/term/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/term/canvas.h"

enum { DIGITS_MAX = 15 };

static const double log_ratio = 100.0; /* from here on a log scale */

bool axis_spans_decades(double low, double high)
{
    return low > 0.0 && high / low >= log_ratio;
}

static double tick_value(const struct plot_axis *axis, int tick)
{
    double value =
        axis->low + (axis->high - axis->low) * tick / (double)(AXIS_TICKS - 1);

    return axis->is_log ? pow(10.0, value) : value;
}

/* As few digits as tell the ticks apart, but three. */
static void make_labels(struct plot_axis *axis)
{
    for (int digits = 3; digits <= DIGITS_MAX; digits++) {
        for (int i = 0; i < AXIS_TICKS; i++)
            snprintf(axis->labels[i], AXIS_LABEL_SIZE, "%.*g", digits,
                     tick_value(axis, i));
        if (strcmp(axis->labels[0], axis->labels[1]) != 0 &&
            strcmp(axis->labels[1], axis->labels[2]) != 0)
            return;
    }
}

void axis_init(struct plot_axis *axis, double low, double high)
{
    if (low == high) {
        double margin = low != 0.0 ? fabs(low) * 0.05 : 1.0;

        low -= margin;
        high += margin;
    }
    axis->is_log = axis_spans_decades(low, high);
    axis->low = axis->is_log ? log10(low) : low;
    axis->high = axis->is_log ? log10(high) : high;
    make_labels(axis);
}

double axis_place(const struct plot_axis *axis, double value)
{
    if (axis->is_log)
        value = value > 0.0 ? log10(value) : -(double)INFINITY;
    return (value - axis->low) / (axis->high - axis->low);
}

int axis_label_columns(const struct plot_axis *axis)
{
    size_t width = 0;

    for (int i = 0; i < AXIS_TICKS; i++) {
        if (strlen(axis->labels[i]) > width)
            width = strlen(axis->labels[i]);
    }
    return (int)width;
}

/* Row 0 is at the top. */
static const char *row_label(const struct plot_axis *axis, int row, int rows)
{
    if (row == 0)
        return axis->labels[2];
    if (row == rows - 1)
        return axis->labels[0];
    return rows % 2 == 1 && row == rows / 2 ? axis->labels[1] : "";
}

void axis_print_canvas(const struct plot_axis *axis,
                       const struct canvas *canvas, int rows, bool utf8,
                       struct buf *out)
{
    int margin = axis_label_columns(axis);

    for (int row = 0; row < rows; row++) {
        const char *label = row_label(axis, row, rows);

        buf_printf(out, "%*s ", margin, label);
        if (utf8)
            buf_add_string(out, *label != '\0' ? "\u2524" : "\u2502");
        else
            buf_add_string(out, *label != '\0' ? "+" : "|");
        canvas_print_row(canvas, row, out);
        buf_add_char(out, '\n');
    }
}

void axis_print_line(int margin, int columns, bool utf8, struct buf *out)
{
    buf_printf(out, "%*s %s", margin, "", utf8 ? "\u2514" : "+");
    for (int i = 0; i < columns; i++)
        buf_add_string(out, utf8 ? "\u2500" : "-");
    buf_add_char(out, '\n');
}

void axis_print_labels(const struct plot_axis *axis, int margin, int columns,
                       struct buf *out)
{
    int lengths[AXIS_TICKS], before, behind;

    for (int i = 0; i < AXIS_TICKS; i++)
        lengths[i] = (int)strlen(axis->labels[i]);
    before = columns / 2 - lengths[1] / 2 - lengths[0];
    behind = columns - lengths[0] - before - lengths[1] - lengths[2];
    buf_printf(out, "%*s  %s", margin, "", axis->labels[0]);
    if (before > 0 && behind > 0)
        buf_printf(out, "%*s%s%*s%s\n", before, "", axis->labels[1], behind, "",
                   axis->labels[2]);
    else
        buf_printf(out, "%*s\n", columns - lengths[0], axis->labels[2]);
}
