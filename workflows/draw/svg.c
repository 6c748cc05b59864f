/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "workflows/draw/draw_impl.h"
#include "workflows/draw/layout.h"
#include "workflows/draw/place.h"
#include "workflows/draw/svg_style.h"

/* Pixels. */
enum {
    MARGIN = 24,
    HEAD = 40,   /* the title */
    LEGEND = 26, /* the line below it */
    STACK = 4    /* how far apart the sheets of a stack are */
};

struct picture {
    const struct drawing *drawing;
    const struct layout *layout;
    double left, top; /* of the layout */
    double split;     /* between the last steps and the others; 0: none */
    double width, height;
};

/* -- Text -----------------------------------------------------------------*/

/* XML has no place for control characters; text_escape() leaves none. */
static void add_xml(struct buf *out, const char *text, size_t length)
{
    struct buf clean = BUF_INIT;

    text_escape(text, length, &clean);
    for (const char *c = buf_text(&clean); *c != '\0'; c++) {
        switch (*c) {
        case '&':
            buf_add_string(out, "&amp;");
            break;
        case '<':
            buf_add_string(out, "&lt;");
            break;
        case '>':
            buf_add_string(out, "&gt;");
            break;
        case '"':
            buf_add_string(out, "&quot;");
            break;
        default:
            buf_add_char(out, *c);
        }
    }
    buf_clear(&clean);
}

/* -- Where things are -----------------------------------------------------*/

static bool is_stack(const struct draw_node *node)
{
    return node->copies != 1 && node->kind != DRAW_JOIN;
}

static void place(struct picture *picture, const struct draw_place *places)
{
    const struct drawing *drawing = picture->drawing;
    double title = DRAW_NAME_PITCH * (double)text_columns(drawing->title);

    picture->layout = places->layout;
    picture->top = MARGIN + HEAD + (drawing->has_states ? LEGEND : 0);
    picture->width = fmax(layout_width(picture->layout), title);
    if (drawing->has_states)
        picture->width = fmax(picture->width, SVG_LEGEND_WIDTH);
    picture->width += 2.0 * MARGIN;
    picture->left = (picture->width - layout_width(picture->layout)) / 2.0;
    picture->height = picture->top + layout_height(picture->layout) + MARGIN;
    for (size_t i = 0; i < graph_count(drawing->graph); i++) {
        double above = picture->top + layout_box(picture->layout, i).y -
                       DRAW_LAYER_GAP / 2.0;

        if (places->is_last[i] && above > picture->top &&
            (picture->split == 0.0 || above < picture->split))
            picture->split = above;
    }
}

/* -- Lines ----------------------------------------------------------------*/

/* Dashed where it is followed though something failed. */
static const char *line_class(const struct draw_node *node)
{
    if (node->kind == DRAW_JOIN)
        return " class=\"plain\"";
    return node->when != FLOW_ALL_SUCCESS ? " class=\"dashed\"" : "";
}

static void add_line(const struct picture *picture, size_t step, size_t need,
                     struct buf *out)
{
    const char *class = line_class(&picture->drawing->nodes[step]);
    size_t count;
    struct layout_point *points =
        layout_line(picture->layout, step, need, &count);
    double x = points[0].x + picture->left, y = points[0].y + picture->top;

    buf_printf(out, "<path%s d=\"M%.1f %.1f", class, x, y);
    for (size_t i = 1; i < count; i++) {
        double next_x = points[i].x + picture->left;
        double next_y = points[i].y + picture->top;
        double middle = (y + next_y) / 2.0;

        if (i % 2 == 0 || fabs(next_x - x) < 0.05)
            buf_printf(out, "L%.1f %.1f", next_x, next_y);
        else
            buf_printf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, next_x,
                       middle, next_x, next_y);
        x = next_x;
        y = next_y;
    }
    buf_add_string(out, "\"/>\n");
    free(points);
}

static void add_lines(const struct picture *picture, struct buf *out)
{
    const struct graph *graph = picture->drawing->graph;

    buf_add_string(out, "<g class=\"lines\">\n");
    for (size_t i = 0; i < graph_count(graph); i++) {
        size_t count;

        graph_needs(graph, i, &count);
        for (size_t k = 0; k < count; k++)
            add_line(picture, i, k, out);
    }
    buf_add_string(out, "</g>\n");
}

/* -- Boxes ----------------------------------------------------------------*/

static void add_sheet(const struct layout_box *box, double shift,
                      struct buf *out)
{
    buf_printf(out,
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
               "rx=\"8\"/>",
               box->x + shift, box->y + shift, box->width, box->height);
}

/* How much of the copies has succeeded and has failed, along the lower edge. */
static void add_progress(const struct draw_node *node,
                         const struct layout_box *box, struct buf *out)
{
    double x = box->x + 8.0, width = box->width - 16.0;
    double y = box->y + box->height - 4.0;
    double good = width * (double)node->succeeded / (double)node->copies;
    double bad = width * (double)node->failed / (double)node->copies;

    buf_printf(out,
               "<path class=\"rest\" d=\"M%.1f %.1fh%.1f\"/>"
               "<path class=\"good\" d=\"M%.1f %.1fh%.1f\"/>"
               "<path class=\"bad\" d=\"M%.1f %.1fh%.1f\"/>",
               x, y, width, x, y, good, x + good, y, bad);
}

static void add_words(const struct picture *picture,
                      const struct draw_node *node,
                      const struct layout_box *box, struct buf *out)
{
    char *name = draw_shown_name(node);
    char *note = draw_shown_note(picture->drawing, node);
    double shift = picture->drawing->has_states ? DRAW_ICON / 2.0 : 0.0;
    double x = box->x + box->width / 2.0 + shift;

    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", x,
               box->y + (note[0] != '\0' ? 19.0 : 28.0));
    add_xml(out, name, strlen(name));
    buf_add_string(out, "</text>");
    if (note[0] != '\0') {
        buf_printf(out, "<text class=\"note\" x=\"%.1f\" y=\"%.1f\">", x,
                   box->y + 34.5);
        add_xml(out, note, strlen(note));
        buf_add_string(out, "</text>");
    }
    free(note);
    free(name);
}

/* What a pointer that rests on it, or a reader, is told. */
static void add_title(const struct drawing *drawing,
                      const struct draw_node *node, struct buf *out)
{
    struct buf note = BUF_INIT;

    draw_note(drawing, node, &note);
    buf_add_string(out, "<title>");
    add_xml(out, node->name, strlen(node->name));
    if (drawing->has_states)
        buf_printf(out, ": %s", draw_state_word(drawing, node->state));
    if (note.length > 0)
        buf_add_string(out, ", ");
    add_xml(out, buf_text(&note), note.length);
    buf_add_string(out, "</title>");
    buf_clear(&note);
}

static void add_node(const struct picture *picture, size_t step,
                     struct buf *out)
{
    const struct drawing *drawing = picture->drawing;
    const struct draw_node *node = &drawing->nodes[step];
    struct layout_box box = layout_box(picture->layout, step);
    double middle;

    box.x += picture->left;
    box.y += picture->top;
    middle = box.x + box.width / 2.0;
    buf_printf(out, "<g class=\"%s\">", svg_class(drawing, node));
    add_title(drawing, node, out);
    if (node->kind == DRAW_JOIN) {
        buf_printf(out,
                   "<path class=\"through\" d=\"M%.1f %.1fv%d\"/>"
                   "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/></g>\n",
                   middle, box.y, DRAW_BOX_HEIGHT, middle,
                   box.y + DRAW_BOX_HEIGHT / 2.0, DRAW_JOIN_SIZE / 2.0);
        return;
    }
    for (int i = is_stack(node) ? 2 : 0; i >= 0; i--)
        add_sheet(&box, i * STACK, out);
    if (node->kind == DRAW_WORKFLOW) {
        struct layout_box inner = {box.x + 3.0, box.y + 3.0, box.width - 6.0,
                                   box.height - 6.0};

        add_sheet(&inner, 0.0, out);
    }
    if (drawing->has_states && node->copies > 1)
        add_progress(node, &box, out);
    add_words(picture, node, &box, out);
    if (drawing->has_states)
        svg_add_sign(node->state, box.x + DRAW_BOX_PAD + 4.0, box.y + 23.0,
                     out);
    buf_add_string(out, "</g>\n");
}

/* -- The picture ----------------------------------------------------------*/

static void add_head(const struct picture *picture, struct buf *out)
{
    const struct drawing *drawing = picture->drawing;
    size_t count = graph_count(drawing->graph);

    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
               "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
               "aria-labelledby=\"title desc\">\n<title id=\"title\">",
               picture->width, picture->height, picture->width,
               picture->height);
    add_xml(out, drawing->title, strlen(drawing->title));
    buf_printf(out,
               "</title>\n<desc id=\"desc\">A workflow of %zu steps, each "
               "below those that it needs.</desc>\n",
               count);
    svg_add_style(out);
    buf_printf(out,
               "<rect class=\"page\" width=\"%.0f\" height=\"%.0f\"/>\n"
               "<text class=\"head\" x=\"%d\" y=\"%d\">",
               picture->width, picture->height, MARGIN, MARGIN + 14);
    add_xml(out, drawing->title, strlen(drawing->title));
    buf_add_string(out, "</text>\n");
    if (drawing->has_states)
        svg_add_legend(drawing, MARGIN, MARGIN + HEAD, out);
    if (picture->split > 0.0)
        buf_printf(out,
                   "<path class=\"split\" d=\"M%d %.1fH%.1f\"/>\n"
                   "<text class=\"aside\" x=\"%d\" y=\"%.1f\">at the end"
                   "</text>\n",
                   MARGIN, picture->split, picture->width - MARGIN, MARGIN,
                   picture->split + 14.0);
}

void draw_svg(const struct drawing *drawing, struct buf *out)
{
    struct picture picture = {.drawing = drawing};
    struct draw_place places;

    draw_place_init(&places, drawing);
    place(&picture, &places);
    add_head(&picture, out);
    add_lines(&picture, out);
    for (size_t i = 0; i < graph_count(drawing->graph); i++)
        add_node(&picture, i, out);
    buf_add_string(out, "</svg>\n");
    draw_place_clear(&places);
}
