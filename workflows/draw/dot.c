/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "workflows/draw/draw_impl.h"

/* A quoted string: what is in it needs a backslash only before quotes and
 * backslashes. */
static void add_quoted(struct buf *out, const char *text)
{
    struct buf clean = BUF_INIT;

    text_escape(text, strlen(text), &clean);
    for (const char *c = buf_text(&clean); *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, *c);
    }
    buf_clear(&clean);
}

static const char *style_of(const struct drawing *drawing,
                            const struct draw_node *node)
{
    static const char *const states[DRAW_STATES] = {
        [FLOW_WAITING] = "",
        [FLOW_ACTIVE] = ", color=\"#1f6feb\", fillcolor=\"#ddf4ff\"",
        [FLOW_SUCCEEDED] = ", color=\"#1a7f37\", fillcolor=\"#dafbe1\"",
        [FLOW_FAILED] = ", color=\"#cf222e\", fillcolor=\"#ffebe9\"",
        [FLOW_SKIPPED] = ", color=\"#8c959f\", fontcolor=\"#59636e\", "
                         "style=\"rounded,dashed\"",
    };

    return drawing->has_states ? states[node->state] : "";
}

static const char *shape_of(const struct draw_node *node)
{
    static const char *const shapes[] = {
        [DRAW_TASK] = "",
        [DRAW_EXPERIMENT] = ", shape=hexagon, style=filled",
        [DRAW_WORKFLOW] = ", peripheries=2",
        [DRAW_FAIL] = ", shape=octagon, style=filled",
        [DRAW_JOIN] = ", shape=circle, width=0.1, fixedsize=true",
    };

    if (node->kind == DRAW_TASK && node->copies != 1)
        return ", shape=box3d, style=filled";
    return shapes[node->kind];
}

static void add_node(const struct drawing *drawing, size_t step,
                     struct buf *out)
{
    const struct draw_node *node = &drawing->nodes[step];
    struct buf note = BUF_INIT;

    buf_printf(out, "  s%zu [label=\"", step);
    if (node->kind == DRAW_JOIN) {
        buf_add_string(out, "\", tooltip=\"");
        add_quoted(out, node->name);
    } else {
        add_quoted(out, node->name);
        draw_note(drawing, node, &note);
        if (note.length > 0)
            buf_add_string(out, "\\n");
        add_quoted(out, buf_text(&note));
    }
    buf_printf(out, "\"%s%s];\n", shape_of(node), style_of(drawing, node));
    buf_clear(&note);
}

/* A line that is followed though something failed is dashed. */
static void add_edges(const struct drawing *drawing, size_t step,
                      struct buf *out)
{
    bool is_dashed = drawing->nodes[step].when != FLOW_ALL_SUCCESS;
    size_t count;
    const size_t *needs = graph_needs(drawing->graph, step, &count);

    for (size_t i = 0; i < count; i++)
        buf_printf(out, "  s%zu -> s%zu%s;\n", needs[i], step,
                   is_dashed ? " [style=dashed]" : "");
}

void draw_dot(const struct drawing *drawing, struct buf *out)
{
    size_t count = graph_count(drawing->graph);

    buf_add_string(out, "digraph \"");
    add_quoted(out, drawing->title);
    buf_add_string(out, "\" {\n"
                        "  node [shape=box, style=\"rounded,filled\", "
                        "fillcolor=white, fontname=\"sans-serif\"];\n");
    for (size_t i = 0; i < count; i++)
        add_node(drawing, i, out);
    for (size_t i = 0; i < count; i++)
        add_edges(drawing, i, out);
    buf_add_string(out, "}\n");
}
