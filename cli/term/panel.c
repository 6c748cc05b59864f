/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines at the bottom of a terminal that are drawn again in place.
 *
 * To erase them it must be known how many rows they take. `widths` keeps the
 * width of each line on the screen: if the terminal became narrower, a line
 * wrapped and takes several rows. Escape codes have no width and are never cut
 * off, else a style would stay on.
 */
#include "cli/term/panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/term/term.h"

struct panel {
    FILE *file;
    int fd;
    int columns;
    size_t lines_max;
    size_t *widths; /* [lines_max] of the lines on the screen */
    size_t count;
};

struct panel *panel_create(FILE *file, int fd, int columns, size_t lines_max)
{
    struct panel *panel = mem_zero(sizeof(*panel));

    panel->file = file;
    panel->fd = fd;
    panel->columns = columns;
    panel->lines_max = lines_max;
    panel->widths = mem_array(lines_max, sizeof(*panel->widths));
    return panel;
}

static size_t columns_now(const struct panel *panel)
{
    int columns = panel->columns;

    if (columns == 0)
        columns = term_columns(panel->fd);
    return columns > 1 ? (size_t)columns : TERM_DEFAULT_COLUMNS;
}

/* A terminal with fewer lines than the panel could not be drawn over. */
size_t panel_lines(const struct panel *panel)
{
    int lines = term_lines(panel->fd);

    return lines > 1 && (size_t)lines <= panel->lines_max ? (size_t)lines - 1
                                                          : panel->lines_max;
}

/* Moves to where the panel's first line begins and clears from there on. */
static void add_erase(struct panel *panel, size_t columns, struct buf *out)
{
    size_t rows = 0;

    for (size_t i = 0; i < panel->count; i++)
        rows += panel->widths[i] > columns
                    ? (panel->widths[i] + columns - 1) / columns
                    : 1;
    buf_add_char(out, '\r');
    if (rows > 0)
        buf_printf(out, "\033[%zuA", rows);
    buf_add_string(out, "\033[J");
    panel->count = 0;
}

/* Appends what fits of a line, all its codes for style included; its width.
 * There is no guard behind a panel, so other codes end here. */
static size_t add_line(const char *line, size_t length, size_t columns,
                       struct buf *out)
{
    const char *end = line + length;
    struct buf shown = BUF_INIT;
    size_t used = 0;

    while (line < end) {
        size_t bytes = escape_colour_length(line, (size_t)(end - line));
        size_t width = 0;

        buf_truncate(&shown, 0);
        if (bytes > 0) {
            buf_add(&shown, line, bytes);
        } else {
            bytes = text_next_rune(line, (size_t)(end - line), NULL);
            bytes += bytes == 0;
            text_escape(line, bytes, &shown);
            width = text_columns(buf_text(&shown));
        }
        line += bytes;
        if (used + width > columns) {
            columns = used; /* nothing narrower may follow */
            continue;
        }
        used += width;
        buf_add(out, shown.data, shown.length);
    }
    buf_clear(&shown);
    return used;
}

static void write_frame(struct panel *panel, struct buf *frame)
{
    fwrite(buf_text(frame), 1, frame->length, panel->file);
    fflush(panel->file);
    buf_clear(frame);
}

void panel_show(struct panel *panel, const char *lines)
{
    struct buf frame = BUF_INIT;
    size_t columns = columns_now(panel);
    size_t most = panel_lines(panel);

    if (!term_is_writable(panel->fd))
        return;
    buf_add_string(&frame, "\033[?25l");
    add_erase(panel, columns, &frame);
    while (*lines != '\0' && panel->count < most) {
        size_t length = strcspn(lines, "\n");

        panel->widths[panel->count++] =
            add_line(lines, length, columns - 1, &frame);
        buf_add_char(&frame, '\n');
        lines += length;
        lines += *lines == '\n';
    }
    buf_add_string(&frame, "\033[?25h");
    write_frame(panel, &frame);
}

void panel_hide(struct panel *panel)
{
    struct buf frame = BUF_INIT;

    if (panel->count == 0)
        return;
    add_erase(panel, columns_now(panel), &frame);
    write_frame(panel, &frame);
}

void panel_destroy(struct panel *panel)
{
    if (panel == NULL)
        return;
    panel_hide(panel);
    free(panel->widths);
    free(panel);
}

void panel_add_bar(double share, bool utf8, struct buf *out)
{
    static const char *const eighths[] = {
        "",       "\u258f", "\u258e", "\u258d",
        "\u258c", "\u258b", "\u258a", "\u2589",
    };
    double filled = fmin(fmax(share, 0.0), 1.0) * BAR_COLUMNS;
    int whole = (int)filled;
    int part = utf8 ? (int)((filled - whole) * 8.0) : 0;
    int rest = BAR_COLUMNS - whole - (part > 0 ? 1 : 0);

    for (int i = 0; i < whole; i++)
        buf_add_string(out, utf8 ? "\u2588" : "#");
    buf_add_string(out, eighths[part]);
    for (int i = 0; i < rest; i++)
        buf_add_string(out, utf8 ? "\u2591" : ".");
}
