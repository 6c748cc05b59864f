/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A workflow's steps as nodes for workflows/draw/, which knows neither files
 * nor runs. */
#include "cli/show/jobs/workflow_drawing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/term/term.h"
#include "orchestrator/spec/experiment/gpus.h"
#include "orchestrator/spec/workflow/workflow.h"

int64_t workflow_step_copies(const struct step *step)
{
    int64_t copies = step->copies;

    for (size_t i = 0; i < step->axis_count; i++) {
        if (step->axes[i].kind != AXIS_VALUES)
            return -1;
        copies *= (int64_t)step->axes[i].value_count;
    }
    return copies;
}

static void add_part(struct buf *out, const char *part)
{
    buf_printf(out, "%s%s", out->length > 0 ? ", " : "", part);
}

static void add_count(struct buf *out, int64_t count, const char *what)
{
    if (count > 0)
        buf_printf(out, "%s%" PRId64 " %s%s", out->length > 0 ? ", " : "",
                   count, what, count > 1 ? "s" : "");
}

static void add_claims(struct buf *out, const struct workflow *workflow,
                       const struct flow_step *flow)
{
    for (size_t i = 0; i < flow->claim_count; i++)
        buf_printf(out, "%s%" PRId64 " of %s", out->length > 0 ? ", " : "",
                   flow->claims[i].amount,
                   workflow->pools[flow->claims[i].pool].name);
}

static void add_resources(struct buf *out, const struct resources *resources)
{
    const char *const words[] = {resources->slurm.partition,
                                 resources->slurm.mode};
    char *gpus = gpus_words(resources);
    char time[32];

    add_count(out, resources->nodes > 1 ? resources->nodes : 0, "node");
    add_count(out, resources->tasks > 1 ? resources->tasks : 0, "rank");
    add_count(out, resources->cpus > 1 ? resources->cpus : 0, "CPU");
    if (gpus != NULL)
        add_part(out, gpus);
    free(gpus);
    if (resources->time_ms > 0) {
        units_format_duration(resources->time_ms, time, sizeof(time));
        add_part(out, time);
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (words[i] != NULL)
            buf_printf(out, "%s%s %s", out->length > 0 ? ", " : "",
                       i == 0 ? "partition" : "mode", words[i]);
    }
}

/* What a step takes, and how it goes on, in a few words; NULL: nothing. */
static char *make_detail(const struct workflow *workflow, size_t index)
{
    const struct step *step = &workflow->steps[index];
    struct buf text = BUF_INIT;

    if (step->file != NULL)
        add_part(&text, strrchr(step->file, '/') != NULL
                            ? strrchr(step->file, '/') + 1
                            : step->file);
    if (step->kind == STEP_TASK)
        add_resources(&text, &step->task.resources);
    add_claims(&text, workflow, &workflow->flow_steps[index]);
    if (strcmp(step->executor, workflow->executors[0].name) != 0)
        buf_printf(&text, "%s%s executor", text.length > 0 ? ", " : "",
                   step->executor);
    if (step->link.max > 0)
        add_part(&text, "in links");
    if (step->repeat.max > 0)
        buf_printf(&text, "%sup to %" PRId64 " rounds",
                   text.length > 0 ? ", " : "", step->repeat.max);
    if (step->condition != NULL)
        add_part(&text, "on a condition");
    return text.length > 0 ? buf_take(&text) : NULL;
}

void workflow_drawing_init(struct workflow_drawing *drawing,
                           const struct cli *cli,
                           const struct workflow *workflow)
{
    static const enum draw_kind kinds[] = {
        [STEP_TASK] = DRAW_TASK,         [STEP_EXPERIMENT] = DRAW_EXPERIMENT,
        [STEP_WORKFLOW] = DRAW_WORKFLOW, [STEP_FAIL] = DRAW_FAIL,
        [STEP_JOIN] = DRAW_JOIN,
    };

    drawing->count = workflow->step_count;
    drawing->details = mem_array(drawing->count + 1, sizeof(char *));
    drawing->nodes = mem_array(drawing->count + 1, sizeof(*drawing->nodes));
    for (size_t i = 0; i < drawing->count; i++) {
        drawing->details[i] = make_detail(workflow, i);
        drawing->nodes[i] = (struct draw_node){
            .name = workflow->steps[i].name,
            .detail = drawing->details[i],
            .kind = kinds[workflow->steps[i].kind],
            .when = workflow->flow_steps[i].when,
            .is_final = workflow->flow_steps[i].is_final,
            .copies = workflow_step_copies(&workflow->steps[i]),
        };
    }
    drawing->drawing = (struct drawing){
        .title = workflow->name,
        .graph = workflow->graph,
        .nodes = drawing->nodes,
        .utf8 = term_is_utf8(),
        .columns =
            cli->out_is_terminal ? (size_t)term_columns(STDOUT_FILENO) : 0,
    };
}

void workflow_drawing_clear(struct workflow_drawing *drawing)
{
    for (size_t i = 0; i < drawing->count; i++)
        free(drawing->details[i]);
    free(drawing->details);
    free(drawing->nodes);
}
