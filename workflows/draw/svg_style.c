/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/draw/svg_style.h"

#include "base/buf.h"
#include "workflows/draw/draw_impl.h"

enum { SWATCH = 20, SWATCH_TEXT = 8 };

/* No variables: not every program that shows pictures has them. */
static const char style[] =
    "<style>\n"
    "text{font:13px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;"
    "text-anchor:middle;fill:#1f2328}\n"
    ".note,.aside{font:11px system-ui,'DejaVu Sans',sans-serif;fill:#59636e}\n"
    ".head{font:600 16px system-ui,'DejaVu Sans',sans-serif}\n"
    ".head,.aside{text-anchor:start}\n"
    ".page{fill:#ffffff}\n"
    "g rect{fill:#f6f8fa;stroke:#8c959f;stroke-width:1.2}\n"
    "path{fill:none;stroke:#8c959f;stroke-width:1.4}\n"
    ".lines path{marker-end:url(#tip)}\n"
    ".lines .plain{marker-end:none}\n"
    "#tip path{fill:#8c959f;stroke:none}\n"
    ".dashed,.split,.skipped rect{stroke-dasharray:5 4}\n"
    ".split{stroke:#d1d9e0}\n"
    ".join circle{fill:#8c959f}\n"
    ".experiment rect{fill:#fbefff;stroke:#8250df}\n"
    ".workflow rect{fill:#fff8c5;stroke:#9a6700}\n"
    ".fail rect,.failed rect{fill:#ffebe9;stroke:#cf222e}\n"
    ".active rect{fill:#ddf4ff;stroke:#0969da}\n"
    ".succeeded rect{fill:#dafbe1;stroke:#1a7f37}\n"
    ".skipped text,.waiting text{fill:#59636e}\n"
    ".sign{stroke-width:2;stroke-linecap:round;stroke-linejoin:round}\n"
    ".active .sign{stroke:#0969da;fill:#0969da}\n"
    ".succeeded .sign,.good{stroke:#1a7f37}\n"
    ".failed .sign,.bad{stroke:#cf222e}\n"
    ".rest{stroke:#d1d9e0}\n"
    ".rest,.good,.bad{stroke-width:3}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#e6edf3}\n"
    ".note,.aside,.skipped text,.waiting text{fill:#9198a1}\n"
    ".page{fill:#0d1117}\n"
    "g rect{fill:#151b23;stroke:#656c76}\n"
    "path{stroke:#656c76}\n"
    "#tip path,.join circle{fill:#656c76}\n"
    ".split,.rest{stroke:#3d444d}\n"
    ".experiment rect{fill:#271052;stroke:#ab7df8}\n"
    ".workflow rect{fill:#341a00;stroke:#d29922}\n"
    ".fail rect,.failed rect{fill:#3c0c0e;stroke:#f85149}\n"
    ".active rect{fill:#051d4d;stroke:#4493f8}\n"
    ".succeeded rect{fill:#04260f;stroke:#3fb950}\n"
    ".active .sign{stroke:#4493f8;fill:#4493f8}\n"
    ".succeeded .sign,.good{stroke:#3fb950}\n"
    ".failed .sign,.bad{stroke:#f85149}\n"
    "}\n"
    "</style>\n"
    "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
    "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
    "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";

void svg_add_style(struct buf *out)
{
    buf_add(out, style, sizeof(style) - 1);
}

const char *svg_class(const struct drawing *drawing,
                      const struct draw_node *node)
{
    static const char *const kinds[] = {
        [DRAW_TASK] = "task",         [DRAW_EXPERIMENT] = "experiment",
        [DRAW_WORKFLOW] = "workflow", [DRAW_FAIL] = "fail",
        [DRAW_JOIN] = "join",
    };

    if (drawing->has_states && node->kind != DRAW_JOIN)
        return draw_state_name(node->state);
    return kinds[node->kind];
}

void svg_add_sign(enum flow_state state, double x, double y, struct buf *out)
{
    static const char *const signs[DRAW_STATES] = {
        [FLOW_WAITING] = "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
        [FLOW_ACTIVE] = "m-3 -4l7 4l-7 4z",
        [FLOW_SUCCEEDED] = "m-5 0l4 4l6 -8",
        [FLOW_FAILED] = "m-4 -4l8 8m0 -8l-8 8",
        [FLOW_SKIPPED] = "m-4 0h8",
    };

    buf_printf(out, "<path class=\"sign\" d=\"M%.1f %.1f%s\"/>", x, y,
               signs[state]);
}

void svg_add_legend(const struct drawing *drawing, double x, double y,
                    struct buf *out)
{
    size_t counts[DRAW_STATES] = {0};

    for (size_t i = 0; i < graph_count(drawing->graph); i++)
        if (drawing->nodes[i].kind != DRAW_JOIN)
            counts[drawing->nodes[i].state]++;
    for (int i = 0; i < DRAW_STATES; i++) {
        enum flow_state state = (enum flow_state)i;
        struct buf text = BUF_INIT;

        if (counts[i] == 0)
            continue;
        buf_printf(&text, "%zu %s", counts[i], draw_state_word(drawing, state));
        buf_printf(out,
                   "<g class=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" "
                   "height=\"%d\" rx=\"4\"/>",
                   draw_state_name(state), x, y - 11.0, SWATCH, SWATCH);
        svg_add_sign(state, x + SWATCH / 2.0, y - 1.0, out);
        buf_printf(out, "<text class=\"aside\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                   x + SWATCH + 6.0, y + 3.0, buf_text(&text));
        buf_add_string(out, "</g>\n");
        x += SWATCH + 24.0 + SWATCH_TEXT * (double)text.length;
        buf_clear(&text);
    }
}
