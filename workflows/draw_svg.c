/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "workflows/draw_impl.h"
#include "workflows/draw_svg_style.h"
#include "workflows/layout.h"

/*
 * Pixels. Names are set in a fixed pitch, of which every common face is at most
 * 0.61 em wide; notes in a sans-serif face, of which words are less than that.
 */
enum {
    BOX_HEIGHT = 46,
    BOX_PAD = 14,
    BOX_MIN = 72,
    NODE_GAP = 28,
    LINE_GAP = 16,
    LAYER_GAP = 44,
    MARGIN = 24,
    HEAD = 40,   /* the title */
    LEGEND = 26, /* the line below it */
    STACK = 4,   /* how far apart the sheets of a stack are */
    ICON = 20,   /* what a state's sign takes */
    JOIN_SIZE = 12,
    NAME_MAX_COLUMNS = 36,
    NOTE_MAX_COLUMNS = 48
};

static const double name_pitch = 8.0, note_pitch = 6.6;

struct picture {
    const struct drawing *drawing;
    struct layout *layout;
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

static char *shown_note(const struct drawing *drawing,
                        const struct draw_node *node)
{
    struct buf note = BUF_INIT;
    char *shown;

    draw_note(drawing, node, &note);
    shown = shorten(buf_text(&note), NOTE_MAX_COLUMNS);
    buf_clear(&note);
    return shown;
}

/* -- Where things are -----------------------------------------------------*/

static bool is_stack(const struct draw_node *node)
{
    return node->copies != 1 && node->kind != DRAW_JOIN;
}

static double box_width(const struct drawing *drawing,
                        const struct draw_node *node)
{
    char *name, *note;
    double width;

    if (node->kind == DRAW_JOIN)
        return JOIN_SIZE;
    name = shorten(node->name, NAME_MAX_COLUMNS);
    note = shown_note(drawing, node);
    width = fmax(name_pitch * (double)text_columns(name),
                 note_pitch * (double)text_columns(note));
    free(note);
    free(name);
    return fmax(width + 2 * BOX_PAD + (drawing->has_states ? ICON : 0),
                BOX_MIN);
}

static void place(struct picture *picture, const double *widths,
                  const bool *is_last)
{
    struct layout_options options = {
        .widths = widths,
        .height = BOX_HEIGHT,
        .gap = NODE_GAP,
        .line_gap = LINE_GAP,
        .layer_gap = LAYER_GAP,
        .is_last = is_last,
    };
    const struct drawing *drawing = picture->drawing;
    double title = name_pitch * (double)text_columns(drawing->title);

    picture->layout = layout_create(drawing->graph, &options);
    picture->top = MARGIN + HEAD + (drawing->has_states ? LEGEND : 0);
    picture->width = fmax(layout_width(picture->layout), title);
    if (drawing->has_states)
        picture->width = fmax(picture->width, SVG_LEGEND_WIDTH);
    picture->width += 2.0 * MARGIN;
    picture->left = (picture->width - layout_width(picture->layout)) / 2.0;
    picture->height = picture->top + layout_height(picture->layout) + MARGIN;
    for (size_t i = 0; i < graph_count(drawing->graph); i++) {
        double above =
            picture->top + layout_box(picture->layout, i).y - LAYER_GAP / 2.0;

        if (is_last[i] && above > picture->top &&
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
    char *name = shorten(node->name, NAME_MAX_COLUMNS);
    char *note = shown_note(picture->drawing, node);
    double shift = picture->drawing->has_states ? ICON / 2.0 : 0.0;
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
        buf_printf(out, ": %s", draw_state_name(node->state));
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
                   middle, box.y, BOX_HEIGHT, middle, box.y + BOX_HEIGHT / 2.0,
                   JOIN_SIZE / 2.0);
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
        svg_add_sign(node->state, box.x + BOX_PAD + 4.0, box.y + 23.0, out);
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
    size_t count = graph_count(drawing->graph);
    double *widths = mem_array(count + 1, sizeof(*widths));
    bool *is_last = mem_array(count + 1, sizeof(*is_last));

    for (size_t i = 0; i < count; i++) {
        widths[i] = box_width(drawing, &drawing->nodes[i]);
        is_last[i] = drawing->nodes[i].is_final;
    }
    place(&picture, widths, is_last);
    add_head(&picture, out);
    add_lines(&picture, out);
    for (size_t i = 0; i < count; i++)
        add_node(&picture, i, out);
    buf_add_string(out, "</svg>\n");
    layout_destroy(picture.layout);
    free(is_last);
    free(widths);
}
