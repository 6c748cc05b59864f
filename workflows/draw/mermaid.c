/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "workflows/draw/draw_impl.h"

/* In a quoted label Mermaid reads Markdown and HTML: all that is neither a
 * letter, a digit, a blank, nor harmless, is written by its number. */
static void add_label(struct buf *out, const char *text)
{
    static const char harmless[] = " ,.:-_/()+=";
    struct buf clean = BUF_INIT;

    text_escape(text, strlen(text), &clean);
    for (const char *c = buf_text(&clean); *c != '\0'; c++) {
        bool is_plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
                        (*c >= 'A' && *c <= 'Z') || (*c & 0x80) != 0 ||
                        strchr(harmless, *c) != NULL;

        if (is_plain)
            buf_add_char(out, *c);
        else
            buf_printf(out, "#%d;", *c);
    }
    buf_clear(&clean);
}

struct shape {
    const char *open, *close;
};

static struct shape shape_of(const struct draw_node *node)
{
    static const struct shape shapes[] = {
        [DRAW_TASK] = {"(", ")"},       [DRAW_EXPERIMENT] = {"{{", "}}"},
        [DRAW_WORKFLOW] = {"[[", "]]"}, [DRAW_FAIL] = {"[/", "/]"},
        [DRAW_JOIN] = {"((", "))"},
    };

    return shapes[node->kind];
}

static void add_node(const struct drawing *drawing, size_t step,
                     struct buf *out)
{
    const struct draw_node *node = &drawing->nodes[step];
    struct shape shape = shape_of(node);
    struct buf note = BUF_INIT;

    buf_printf(out, "    s%zu%s\"", step, shape.open);
    if (node->kind == DRAW_JOIN) {
        buf_add_char(out, ' ');
    } else {
        add_label(out, node->name);
        draw_note(drawing, node, &note);
        if (note.length > 0)
            buf_add_string(out, "<br>");
        add_label(out, buf_text(&note));
    }
    buf_printf(out, "\"%s", shape.close);
    if (drawing->has_states)
        buf_printf(out, ":::%s", draw_state_name(node->state));
    buf_add_char(out, '\n');
    buf_clear(&note);
}

static void add_edges(const struct drawing *drawing, size_t step,
                      struct buf *out)
{
    bool is_dashed = drawing->nodes[step].when != FLOW_ALL_SUCCESS;
    size_t count;
    const size_t *needs = graph_needs(drawing->graph, step, &count);

    for (size_t i = 0; i < count; i++)
        buf_printf(out, "    s%zu %s s%zu\n", needs[i],
                   is_dashed ? "-.->" : "-->", step);
}

void draw_mermaid(const struct drawing *drawing, struct buf *out)
{
    static const char *const classes[DRAW_STATES] = {
        [FLOW_WAITING] = "stroke:#8c959f",
        [FLOW_ACTIVE] = "fill:#ddf4ff,stroke:#1f6feb,color:#0a3069",
        [FLOW_SUCCEEDED] = "fill:#dafbe1,stroke:#1a7f37,color:#044f1e",
        [FLOW_FAILED] = "fill:#ffebe9,stroke:#cf222e,color:#660018",
        [FLOW_SKIPPED] = "stroke:#8c959f,stroke-dasharray:4 4",
    };
    size_t count = graph_count(drawing->graph);

    buf_add_string(out, "flowchart TD\n");
    for (size_t i = 0; i < count; i++)
        add_node(drawing, i, out);
    for (size_t i = 0; i < count; i++)
        add_edges(drawing, i, out);
    for (int i = 0; drawing->has_states && i < DRAW_STATES; i++)
        buf_printf(out, "    classDef %s %s\n",
                   draw_state_name((enum flow_state)i), classes[i]);
}
