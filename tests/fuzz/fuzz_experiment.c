/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/conf/diag.h"
#include "base/mem.h"
#include "orchestrator/spec/experiment/experiment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Whole experiment files: either an experiment whose parts are all there, or
 * messages that can be shown; never both.
 */

static void check_parts(const struct experiment *experiment)
{
    assert(experiment->name != NULL && experiment->objective_count > 0);
    assert(experiment->task.command != NULL &&
           experiment->task.metrics != NULL);
    assert(space_count(experiment->space) > 0);
    for (size_t i = 0; i < experiment->objective_count; i++)
        assert(experiment->objectives[i].metric != NULL);
    for (size_t i = 0; i < experiment->task.environment_count; i++)
        assert(experiment->task.environment[i].value != NULL);
    for (size_t i = 0; i < experiment->task.retry_count; i++)
        assert(experiment->task.retries[i].max > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags *diags = diags_create("fuzz.yaml");
    struct buf shown = BUF_INIT;
    struct experiment_source source = {
        .text = (const char *)data, .length = size, .path = ""};
    struct err err = {0};
    struct experiment *experiment = experiment_parse(&source, diags, &err);

    assert(err.kind == ERR_NONE);
    assert((experiment == NULL) == (diags_count(diags) > 0));
    if (experiment != NULL)
        check_parts(experiment);
    diags_render(diags, false, &shown);
    buf_clear(&shown);
    experiment_destroy(experiment);
    diags_destroy(diags);
    return 0;
}
