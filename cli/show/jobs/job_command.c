/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/job_command.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/show/jobs/job_matrix.h"
#include "orchestrator/steps/command_step.h"

static char *print(const struct command_step *job)
{
    struct buf text = BUF_INIT;

    if (command_step_print(job, &text, NULL) == 0)
        return buf_take(&text);
    buf_clear(&text);
    return NULL;
}

char *job_command(const struct run_view *view, const struct run_steps *steps,
                  const struct trial_row *job)
{
    const struct workflow *workflow = steps->spec.workflow;
    char *directory, *command;
    json_t *matrix, *rounds;

    if (workflow == NULL || job->started_ms == 0 || job->step < 0 ||
        (size_t)job->step >= workflow->step_count ||
        workflow->steps[job->step].task.command == NULL)
        return NULL;
    directory = store_run_directory(view->store, view->row.name);
    matrix = job_matrix_read(view, job->step);
    rounds = job->rounds != NULL
                 ? json_parse(job->rounds, strlen(job->rounds), NULL)
                 : NULL;
    command = print(&(struct command_step){
        .workflow = workflow,
        .store = view->store,
        .run = view->row.id,
        .run_name = view->row.name,
        .run_directory = directory,
        .step = (size_t)job->step,
        .number = job->number,
        .copy = job->copy,
        .copies = steps->list.lines[job->step].copies,
        .round = job->round,
        .matrix = matrix,
        .rounds = rounds,
    });
    json_decref(rounds);
    json_decref(matrix);
    free(directory);
    return command;
}
