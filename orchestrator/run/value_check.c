/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/value_check.h"

#include <unistd.h>

#include "orchestrator/spec/spec_mask.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "orchestrator/wrap/env_sources.h"

static int check_task(const struct job_spec *task, struct err *err)
{
    struct word_list list = {0};
    int result = env_sources_read(task, environ, &list, err);

    words_free(list.items);
    return result;
}

int run_check_values(const struct experiment *experiment,
                     const struct workflow *workflow, struct err *err)
{
    size_t step_count = workflow != NULL ? workflow->step_count : 0;

    if (spec_is_masked(experiment->source))
        return err_set(err, ERR_USAGE,
                       "the file has masked secrets, and nothing can start "
                       "with them: use the original file ('smtune edit RUN "
                       "FILE' for a run of a backup), or that of 'smtune show "
                       "RUN --file --with-secrets'");
    if (check_task(&experiment->task, err) != 0)
        return -1;
    for (size_t i = 0; i < step_count; i++)
        if (check_task(&workflow->steps[i].task, err) != 0)
            return err_prefix(err, "step '%s'", workflow->steps[i].name);
    return 0;
}
