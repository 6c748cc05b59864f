/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dots in character cells. A braille pattern has 2 x 4 dots, numbered in an odd
 * order that the table holds. Two layers share the cells; a cell has one
 * colour, so the line wins where both have dots.
 */
#include "cli/term/canvas.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/term/term.h"

enum { BRAILLE_WIDE = 2, BRAILLE_HIGH = 4 };

/* Unicode numbers a pattern's dots down the left, down the right, and then the
 * two at the bottom. */
static const unsigned char braille_bits[BRAILLE_HIGH][BRAILLE_WIDE] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

enum edge { EDGE_NONE, EDGE_UP, EDGE_DOWN, EDGE_LEFT, EDGE_RIGHT };

/* Towards the places that are beyond. */
static const char *const utf8_marks[] = {"", "\u25b2", "\u25bc", "\u25c0",
                                         "\u25b6"};
static const char ascii_marks[] = " ^v<>";

struct canvas {
    int columns, rows;
    int wide, high; /* dots in a cell */
    bool colour;
    unsigned char *cells[LAYER_COUNT]; /* [rows * columns] of bits */
    unsigned char *edges[LAYER_COUNT]; /* [rows * columns] of enum edge */
};

struct canvas *canvas_create(int columns, int rows, bool utf8, bool colour)
{
    struct canvas *canvas = mem_zero(sizeof(*canvas));

    canvas->columns = columns;
    canvas->rows = rows;
    canvas->wide = utf8 ? BRAILLE_WIDE : 1;
    canvas->high = utf8 ? BRAILLE_HIGH : 1;
    canvas->colour = colour;
    for (int i = 0; i < LAYER_COUNT; i++) {
        canvas->cells[i] = mem_array((size_t)columns, (size_t)rows);
        canvas->edges[i] = mem_array((size_t)columns, (size_t)rows);
    }
    return canvas;
}

void canvas_destroy(struct canvas *canvas)
{
    if (canvas == NULL)
        return;
    for (int i = 0; i < LAYER_COUNT; i++) {
        free(canvas->cells[i]);
        free(canvas->edges[i]);
    }
    free(canvas);
}

static int dots_across(const struct canvas *canvas)
{
    return canvas->columns * canvas->wide;
}

static int dots_down(const struct canvas *canvas)
{
    return canvas->rows * canvas->high;
}

/* Dots from the left and from the bottom, clamped. */
static int dot_x(const struct canvas *canvas, double x)
{
    return (int)lround(fmin(fmax(x, 0.0), 1.0) * (dots_across(canvas) - 1));
}

static int dot_y(const struct canvas *canvas, double y)
{
    return (int)lround(fmin(fmax(y, 0.0), 1.0) * (dots_down(canvas) - 1));
}

static int cell_at(const struct canvas *canvas, int x, int y)
{
    int from_top = dots_down(canvas) - 1 - y;

    return from_top / canvas->high * canvas->columns + x / canvas->wide;
}

static void set(struct canvas *canvas, enum canvas_layer layer, int x, int y)
{
    int from_top = dots_down(canvas) - 1 - y;
    int cell = cell_at(canvas, x, y);

    canvas->cells[layer][cell] |=
        braille_bits[from_top % canvas->high][x % canvas->wide];
}

/* On which edge the mark of a place is. */
static enum edge edge_of(double x, double y)
{
    if (y > 1.0)
        return EDGE_UP;
    if (y < 0.0)
        return EDGE_DOWN;
    if (x < 0.0)
        return EDGE_LEFT;
    return x > 1.0 ? EDGE_RIGHT : EDGE_NONE;
}

void canvas_dot(struct canvas *canvas, enum canvas_layer layer, double x,
                double y)
{
    enum edge edge = edge_of(x, y);

    if (isnan(x) || isnan(y))
        return;
    if (edge == EDGE_NONE)
        set(canvas, layer, dot_x(canvas, x), dot_y(canvas, y));
    else
        canvas->edges[layer][cell_at(canvas, dot_x(canvas, x),
                                     dot_y(canvas, y))] = (unsigned char)edge;
}

void canvas_level(struct canvas *canvas, double x0, double x1, double y)
{
    int end = dot_x(canvas, x1), row = dot_y(canvas, y);
    enum edge edge = edge_of(0.0, y);

    for (int x = dot_x(canvas, x0); x <= end; x++) {
        if (edge == EDGE_NONE)
            set(canvas, LAYER_LINE, x, row);
        else
            canvas->edges[LAYER_LINE][cell_at(canvas, x, row)] =
                (unsigned char)edge;
    }
}

void canvas_drop(struct canvas *canvas, double x, double y0, double y1)
{
    int end = dot_y(canvas, fmax(y0, y1));

    for (int y = dot_y(canvas, fmin(y0, y1)); y <= end; y++)
        set(canvas, LAYER_LINE, dot_x(canvas, x), y);
}

static void add_pattern(unsigned char bits, struct buf *out)
{
    buf_add_char(out, (char)0xe2);
    buf_add_char(out, (char)(0xa0 + (bits >> 6)));
    buf_add_char(out, (char)(0x80 + (bits & 0x3f)));
}

/* What is shown of a cell: the marks of a layer, then the line. */
static int layer_of(const struct canvas *canvas, int cell)
{
    for (int layer = LAYER_COUNT - 1; layer >= 0; layer--)
        if (canvas->edges[layer][cell] != EDGE_NONE)
            return layer;
    return canvas->cells[LAYER_LINE][cell] != 0 ? LAYER_LINE : LAYER_POINTS;
}

void canvas_print_row(const struct canvas *canvas, int row, struct buf *out)
{
    static const enum style styles[] = {STYLE_DIM, STYLE_BUSY};
    static const char marks[] = {'.', '*'};
    size_t end = out->length;
    int shown = -1; /* the layer whose style is on */

    for (int column = 0; column < canvas->columns; column++) {
        int cell = row * canvas->columns + column;
        int layer = layer_of(canvas, cell);
        unsigned char bits = canvas->cells[layer][cell];
        unsigned char edge = canvas->edges[layer][cell];

        if (bits == 0 && edge == EDGE_NONE) {
            buf_add_char(out, ' ');
            continue;
        }
        if (layer != shown) {
            buf_add_string(out, term_style(STYLE_PLAIN, canvas->colour));
            buf_add_string(out, term_style(styles[layer], canvas->colour));
            shown = layer;
        }
        if (edge != EDGE_NONE && canvas->wide == BRAILLE_WIDE)
            buf_add_string(out, utf8_marks[edge]);
        else if (edge != EDGE_NONE)
            buf_add_char(out, ascii_marks[edge]);
        else if (canvas->wide == BRAILLE_WIDE)
            add_pattern(bits, out);
        else
            buf_add_char(out, marks[layer]);
        end = out->length;
    }
    buf_truncate(out, end);
    if (shown >= 0)
        buf_add_string(out, term_style(STYLE_PLAIN, canvas->colour));
}
