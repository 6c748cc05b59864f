/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/draw/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

enum {
    BOX_MIN = 72,
    NODE_GAP = 28,
    LINE_GAP = 16,
    NAME_MAX_COLUMNS = 36,
    NOTE_MAX_COLUMNS = 48
};

static const double note_pitch = 6.6;

/* What is shown of a text: all, or its beginning and three dots. */
static char *shorten(const char *text, size_t columns)
{
    struct buf shown = BUF_INIT;
    size_t end = 0, last = 0;

    text_escape(text, strlen(text), &shown);
    if (text_columns(buf_text(&shown)) <= columns)
        return buf_take(&shown);
    for (size_t i = 0; i + 1 < columns; i++) {
        last = end;
        end += text_next_rune(shown.data + end, shown.length - end, NULL);
    }
    buf_truncate(&shown, last);
    buf_add_string(&shown, "…");
    return buf_take(&shown);
}

char *draw_shown_name(const struct draw_node *node)
{
    return shorten(node->name, NAME_MAX_COLUMNS);
}

char *draw_shown_note(const struct drawing *drawing,
                      const struct draw_node *node)
{
    struct buf note = BUF_INIT;
    char *shown;

    draw_note(drawing, node, &note);
    shown = shorten(buf_text(&note), NOTE_MAX_COLUMNS);
    buf_clear(&note);
    return shown;
}

static double box_width(const struct drawing *drawing,
                        const struct draw_node *node)
{
    char *name, *note;
    double width;

    if (node->kind == DRAW_JOIN)
        return DRAW_JOIN_SIZE;
    name = draw_shown_name(node);
    note = draw_shown_note(drawing, node);
    width = fmax(DRAW_NAME_PITCH * (double)text_columns(name),
                 note_pitch * (double)text_columns(note));
    free(note);
    free(name);
    return fmax(width + 2 * DRAW_BOX_PAD +
                    (drawing->has_states ? DRAW_ICON : 0),
                BOX_MIN);
}

void draw_place_init(struct draw_place *places, const struct drawing *drawing)
{
    size_t count = graph_count(drawing->graph);
    struct layout_options options = {
        .height = DRAW_BOX_HEIGHT,
        .gap = NODE_GAP,
        .line_gap = LINE_GAP,
        .layer_gap = DRAW_LAYER_GAP,
    };

    places->widths = mem_array(count + 1, sizeof(*places->widths));
    places->is_last = mem_array(count + 1, sizeof(*places->is_last));
    for (size_t i = 0; i < count; i++) {
        places->widths[i] = box_width(drawing, &drawing->nodes[i]);
        places->is_last[i] = drawing->nodes[i].is_final;
    }
    options.widths = places->widths;
    options.is_last = places->is_last;
    places->layout = layout_create(drawing->graph, &options);
}

void draw_place_clear(struct draw_place *places)
{
    layout_destroy(places->layout);
    free(places->is_last);
    free(places->widths);
}
