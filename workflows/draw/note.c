/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all formats say of a step in the same words. */
#include <inttypes.h>

#include "base/buf.h"
#include "workflows/draw/draw_impl.h"

const char *draw_state_name(enum flow_state state)
{
    static const char *const names[DRAW_STATES] = {
        [FLOW_WAITING] = "waiting",     [FLOW_ACTIVE] = "active",
        [FLOW_SUCCEEDED] = "succeeded", [FLOW_FAILED] = "failed",
        [FLOW_SKIPPED] = "skipped",
    };

    return names[state];
}

const char *draw_state_word(const struct drawing *drawing,
                            enum flow_state state)
{
    return state == FLOW_ACTIVE && drawing->active != NULL
               ? drawing->active
               : draw_state_name(state);
}

static void add_part(struct buf *out, size_t begin, const char *part)
{
    if (part == NULL || part[0] == '\0')
        return;
    if (out->length > begin)
        buf_add_string(out, ", ");
    buf_add_string(out, part);
}

static void print_copies(const struct drawing *drawing,
                         const struct draw_node *node, struct buf *out)
{
    if (node->copies < 0)
        buf_add_string(out, "copies not known yet");
    if (node->copies < 0 || node->copies == 1)
        return;
    if (drawing->has_states && node->state != FLOW_WAITING)
        buf_printf(out, "%" PRId64 " of ", node->succeeded);
    buf_printf(out, "%" PRId64 " copies", node->copies);
    if (!drawing->has_states)
        return;
    if (node->running > 0)
        buf_printf(out, ", %" PRId64 " %s", node->running,
                   drawing->active != NULL ? drawing->active : "running");
    if (node->failed > 0)
        buf_printf(out, ", %" PRId64 " failed", node->failed);
}

void draw_note(const struct drawing *drawing, const struct draw_node *node,
               struct buf *out)
{
    static const char *const kinds[] = {
        [DRAW_TASK] = "",
        [DRAW_EXPERIMENT] = "experiment",
        [DRAW_WORKFLOW] = "workflow",
        [DRAW_FAIL] = "fail",
        [DRAW_JOIN] = "",
    };
    static const char *const rules[] = {
        [FLOW_ALL_SUCCESS] = "",
        [FLOW_ALL_DONE] = "when all are done",
        [FLOW_ANY_FAILED] = "when one has failed",
        [FLOW_ALWAYS] = "always",
    };
    struct buf copies = BUF_INIT;
    size_t begin = out->length;

    print_copies(drawing, node, &copies);
    add_part(out, begin, kinds[node->kind]);
    add_part(out, begin, buf_text(&copies));
    add_part(out, begin, node->detail);
    add_part(out, begin, node->is_final ? "at the end" : "");
    add_part(out, begin, rules[node->when]);
    buf_clear(&copies);
}
