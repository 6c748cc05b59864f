/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/diag.h"
#include "base/mem.h"
#include "orchestrator/spec/workflow/workflow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Whole workflow files: either a workflow whose steps are all there and in an
 * order, or messages that can be shown; never both.
 */

static void check_step(const struct workflow *workflow, size_t index)
{
    const struct step *step = &workflow->steps[index];
    const struct scope *scope = &step->scope;
    size_t columns = 0;

    assert(step->name != NULL && step->executor != NULL);
    assert(workflow_find(workflow, step->name) == (int64_t)index);
    if (step->kind == STEP_TASK)
        assert(step->task.command != NULL && step->task.metrics != NULL);
    if (step->kind == STEP_FAIL)
        assert(step->message != NULL);
    if (step->kind == STEP_JOIN)
        return;
    for (size_t i = 0; i < scope->table_count; i++)
        columns += scope->tables[i].column_count;
    assert(columns == scope->count);
    assert(step->result_count >= 4);
}

static void check_parts(const struct workflow *workflow)
{
    size_t count = workflow->step_count;
    size_t *order = mem_array(count, sizeof(*order));
    struct flow *flow;

    assert(workflow->name != NULL && count > 0);
    assert(graph_order(workflow->graph, order) == count);
    for (size_t i = 0; i < count; i++)
        check_step(workflow, i);
    flow = flow_create(workflow->flow_steps, count, NULL, 0, NULL);
    assert(flow != NULL);
    flow_destroy(flow);
    free(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags *diags = diags_create("fuzz.yaml");
    struct buf shown = BUF_INIT;
    struct experiment_source source = {
        .text = (const char *)data, .length = size, .path = ""};
    struct err err = {0};
    struct workflow *workflow = workflow_parse(&source, diags, &err);

    assert(err.kind == ERR_NONE);
    assert((workflow == NULL) == (diags_count(diags) > 0));
    if (workflow != NULL)
        assert(workflow_is((const char *)data, size));
    if (workflow != NULL && workflow->pool_count == 0)
        check_parts(workflow);
    diags_render(diags, false, &shown);
    buf_clear(&shown);
    workflow_destroy(workflow);
    diags_destroy(diags);
    return 0;
}
