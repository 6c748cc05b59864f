/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command of a recorded job, for people. Its values are put together again
 * from the record as the engine did: matrix, round, results of other steps. */
#include "orchestrator/steps/command_step.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/job/workspace.h"
#include "orchestrator/steps/results.h"
#include "orchestrator/steps/results_load.h"
#include "orchestrator/steps/rounds.h"
#include "orchestrator/steps/scope_fill.h"
#include "orchestrator/wrap/command_line.h"
#include "workflows/matrix.h"

static int expand(const struct command_step *job, const struct matrix *matrix,
                  struct results *results, struct buf *out, struct err *err)
{
    const struct step *step = &job->workflow->steps[job->step];
    struct value *axes = mem_array(step->axis_count, sizeof(*axes));
    struct value *rounds = mem_array(step->repeat.value_count, sizeof(*rounds));
    struct value *values = mem_array(step->scope.count, sizeof(*values));
    char *directory =
        mem_printf("%s/trials/%" PRId64, job->run_directory, job->number);
    char *checkpoints =
        workspace_checkpoint_directory(job->run_directory, job->number);
    const struct job_site site = {
        .step = job->step,
        .copy = job->copy,
        .copies = job->copies,
        .round = job->round,
        .axes = axes,
        .rounds = rounds,
        .run_name = job->run_name,
        .directory = directory,
        .checkpoint_directory = checkpoints,
    };
    int result;

    if (matrix != NULL)
        matrix_values(matrix, job->copy, axes);
    rounds_values(&step->repeat, job->rounds, rounds);
    scope_fill(job->workflow, results, &site, values);
    result = command_line_expand(&step->task, values, out, err);
    free(checkpoints);
    free(directory);
    free(values);
    free(rounds);
    free(axes);
    return result;
}

int command_step_print(const struct command_step *job, struct buf *out,
                       struct err *err)
{
    struct results *results = results_create(job->workflow);
    struct matrix *matrix = NULL;
    int result =
        results_load(results, job->workflow, job->store, job->run, err);

    if (result == 0 && job->matrix != NULL) {
        matrix = matrix_create(job->matrix, err);
        result = matrix != NULL ? 0 : -1;
    }
    if (result == 0)
        result = expand(job, matrix, results, out, err);
    matrix_destroy(matrix);
    results_destroy(results);
    return result;
}
