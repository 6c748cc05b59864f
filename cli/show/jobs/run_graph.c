/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The graph of a workflow's run with the states of its steps. States come from
 * the record, the graph from the run's file: without a valid file there is
 * nothing to draw.
 */
#include "cli/show/jobs/run_graph.h"

#include <stdio.h>

#include "base/buf.h"
#include "cli/cmd.h"
#include "cli/show/jobs/run_steps.h"
#include "cli/show/jobs/workflow_drawing.h"
#include "cli/show/run/run_view.h"
#include "cli/term/term.h"

enum { STATES = FLOW_SKIPPED + 1 };

void run_graph_set_states(struct workflow_drawing *drawing,
                          const struct step_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct step_line *line = &list->lines[i];
        struct draw_node *node = &drawing->nodes[i];

        node->state = line->state;
        node->running = line->jobs.running + line->jobs.interrupted;
        node->succeeded = line->jobs.succeeded;
        node->failed = line->jobs.failed;
        if (line->copies > 0)
            node->copies = line->copies;
    }
    drawing->drawing.has_states = true;
    drawing->drawing.active = list->interrupted;
}

static void draw(const struct cli *cli, const struct run_view *view,
                 const struct run_steps *steps, const char *format)
{
    const char *paint[STATES + 1];
    struct workflow_drawing drawing;
    struct buf out = BUF_INIT;

    for (int i = 0; i < STATES; i++)
        paint[i] =
            term_style(term_state_style(draw_state_name((enum flow_state)i)),
                       cli->colour_out);
    paint[STATES] = term_style(STYLE_PLAIN, cli->colour_out);
    workflow_drawing_init(&drawing, cli, steps->spec.workflow);
    run_graph_set_states(&drawing, &steps->list);
    drawing.drawing.title = view->row.name;
    drawing.drawing.paint = paint;
    draw_find(format)(&drawing.drawing, &out);
    fwrite(buf_text(&out), 1, out.length, stdout);
    buf_clear(&out);
    workflow_drawing_clear(&drawing);
}

int run_graph_draw(const struct cli *cli, const struct run_view *view,
                   const char *format, struct err *err)
{
    struct run_steps steps;
    int status;

    if (!run_is_workflow(&view->row))
        return err_set(
            err, ERR_USAGE,
            "--format draws the graph of a workflow, and run '%s' is "
            "an experiment",
            view->row.name);
    status = run_steps_load(&steps, view->store, view->row.id, err);
    if (status == 0 && steps.list.graph == NULL)
        status =
            err_set(err, ERR_FAILED,
                    "the file of run '%s' is no longer valid: its graph is "
                    "unknown",
                    view->row.name);
    if (status == 0)
        draw(cli, view, &steps, format);
    run_steps_clear(&steps);
    return status;
}
