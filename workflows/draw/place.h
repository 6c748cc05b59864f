/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_DRAW_PLACE_H
#define SMTUNE_WORKFLOWS_DRAW_PLACE_H

#include <stdbool.h>

#include "workflows/draw/draw.h"
#include "workflows/draw/layout.h"

/*
 * Where the boxes of a picture go, in pixels: as wide as what stands in them.
 * Names are set in a fixed pitch, of which every common face is at most 0.61 em
 * wide; notes in a sans-serif face, of which words are less than that.
 */

enum {
    DRAW_BOX_HEIGHT = 46,
    DRAW_BOX_PAD = 14,
    DRAW_LAYER_GAP = 44,
    DRAW_JOIN_SIZE = 12, /* what a join has in place of a box */
    DRAW_ICON = 20,      /* what a state's sign takes */
    DRAW_NAME_PITCH = 8
};

struct draw_place {
    struct layout *layout;
    double *widths; /* [graph_count] */
    bool *is_last;  /* [graph_count] those below all others */
};

/* The drawing is borrowed as long as the places live. */
void draw_place_init(struct draw_place *places, const struct drawing *drawing);
void draw_place_clear(struct draw_place *places);

/* What of a name, and of a note, has room in a box; the caller's to free. */
char *draw_shown_name(const struct draw_node *node);
char *draw_shown_note(const struct drawing *drawing,
                      const struct draw_node *node);

#endif
