/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_CANVAS_H
#define SMTUNE_CLI_TERM_CANVAS_H

#include <stdbool.h>

struct buf;

/*
 * Dots in character cells: 2 x 4 of them in a braille pattern, or one a cell in
 * ASCII. Two layers; where both have dots in a cell, the line is shown, and a
 * mark at the edge before both.
 */
struct canvas;

enum canvas_layer { LAYER_POINTS, LAYER_LINE, LAYER_COUNT };

struct canvas *canvas_create(int columns, int rows, bool utf8, bool colour);
void canvas_destroy(struct canvas *canvas);

/* x from the left and y from the bottom, each in 0..1: the nearest dot. A place
 * outside has a mark at the edge instead, which points there; one that is NaN
 * is left out. */
void canvas_dot(struct canvas *canvas, enum canvas_layer layer, double x,
                double y);
/* From (x0, y) to (x1, y), and from (x, y0) to (x, y1). A level outside is a
 * row of marks at the edge; a drop ends there. */
void canvas_level(struct canvas *canvas, double x0, double x1, double y);
void canvas_drop(struct canvas *canvas, double x, double y0, double y1);

/* Appends one row of cells, 0 at the top, without blanks at its end. */
void canvas_print_row(const struct canvas *canvas, int row, struct buf *out);

#endif
