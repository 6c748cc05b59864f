/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_DRAW_SVG_STYLE_H
#define SMTUNE_WORKFLOWS_DRAW_SVG_STYLE_H

#include "workflows/draw/draw.h"

/* How the parts of a picture look; each part is of a class, and the style
 * sheet gives the classes their colours, once for light and once for dark. */

enum { SVG_LEGEND_WIDTH = 560 }; /* pixels, at most */

void svg_add_style(struct buf *out);
/* The class of a step's box: its state's, or without states its kind's. */
const char *svg_class(const struct drawing *drawing,
                      const struct draw_node *node);
/* A state's sign, so that it is not told by colour alone. */
void svg_add_sign(enum flow_state state, double x, double y, struct buf *out);
/* All states there are, and how many steps are in each. */
void svg_add_legend(const struct drawing *drawing, double x, double y,
                    struct buf *out);

#endif
