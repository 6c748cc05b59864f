/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/steps_drawing.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/term.h"
#include "cli/workflow_drawing.h"
#include "orchestrator/states.h"

enum { STATES = FLOW_SKIPPED + 1 };

static void set_states(struct workflow_drawing *drawing,
                       const struct step_list *list)
{
    for (size_t i = 0; i < drawing->count; i++) {
        const struct step_line *line = &list->lines[i];
        struct draw_node *node = &drawing->nodes[i];

        node->state = line->state;
        node->running = line->jobs.running;
        node->succeeded = line->jobs.succeeded;
        node->failed = line->jobs.failed;
        if (line->began_ms > 0)
            node->copies = line->copies;
    }
}

int steps_drawing_print(const struct cli *cli, const struct run_view *view,
                        const struct run_steps *steps, const char *format,
                        struct err *err)
{
    const struct workflow *workflow = steps->spec.workflow;
    const char *paint[STATES + 1];
    struct workflow_drawing drawing;
    struct buf out = BUF_INIT;

    if (workflow == NULL || workflow->step_count != steps->list.count)
        return err_set(err, ERR_FAILED,
                       "the file of run '%s' can no longer be read",
                       view->row.name);
    for (int i = 0; i < STATES; i++)
        paint[i] = term_style(term_state_style(step_state_names[i]), true);
    paint[STATES] = term_style(STYLE_PLAIN, true);
    workflow_drawing_init(&drawing, cli, workflow);
    set_states(&drawing, &steps->list);
    drawing.drawing.title = view->row.name;
    drawing.drawing.has_states = true;
    drawing.drawing.paint = cli->colour_out ? paint : NULL;
    draw_find(format)(&drawing.drawing, &out);
    fwrite(buf_text(&out), 1, out.length, stdout);
    buf_clear(&out);
    workflow_drawing_clear(&drawing);
    return 0;
}
