/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/value_check.h"

#include <string.h>
#include <unistd.h>

#include "base/mask.h"
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

/* What a page shows, copied into a file. */
static int check_variables(const struct job_spec *task, struct err *err)
{
    for (size_t i = 0; i < task->environment_count; i++) {
        const struct env_entry *entry = &task->environment[i];

        if (strcmp(template_source(entry->value), MASKED) == 0)
            return err_set(err, ERR_USAGE,
                           "the value of '%s' in env is '***', which smtune "
                           "shows in place of a secret: write the value, or "
                           "use env_from",
                           entry->name);
    }
    return 0;
}

static int check(const struct job_spec *task, struct err *err)
{
    return check_variables(task, err) == 0 ? check_task(task, err) : -1;
}

int run_check_masked(const struct experiment *experiment, struct err *err)
{
    if (!spec_is_masked(experiment->source))
        return 0;
    return err_set(err, ERR_USAGE,
                   "the secrets in this file are masked, and nothing starts "
                   "with masked values (file with secrets: smtune show RUN "
                   "--file --with-secrets; run from a backup: smtune edit RUN "
                   "FILE with the original file)");
}

int run_check_values(const struct experiment *experiment,
                     const struct workflow *workflow, struct err *err)
{
    size_t step_count = workflow != NULL ? workflow->step_count : 0;

    if (run_check_masked(experiment, err) != 0 ||
        check(&experiment->task, err) != 0)
        return -1;
    for (size_t i = 0; i < step_count; i++)
        if (check(&workflow->steps[i].task, err) != 0)
            return err_prefix(err, "step '%s'", workflow->steps[i].name);
    return 0;
}
