/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a run that this process drove: exit status, reason, outcome.
 * Scripts depend on the exit status, so it is decided in one place
 * (exit_status), and docs/environment.md lists the values. Reasons and hints go
 * to stderr, so that standard output has the outcome alone.
 */
#include "cli/drive/run_end.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/failed_jobs.h"
#include "cli/drive/run_result.h"
#include "cli/drive/summary.h"
#include "cli/drive/workflow_end.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/spec/spec.h"

static int exit_status(const struct spec *spec,
                       const struct engine_result *result)
{
    const struct budget *budget = &spec->experiment->budget;

    if (result->state == RUN_STOPPED)
        return 128 + result->signal;
    if (result->state == RUN_FAILED)
        return err_exit_status(budget_vain_reason(result->reason) != NULL
                                   ? ERR_UNMET
                                   : ERR_FAILED);
    if (spec->workflow != NULL)
        return 0;
    if (result->tally.best_trial == 0 ||
        (budget->has_target && result->verdict != BUDGET_TARGET))
        return err_exit_status(ERR_UNMET);
    return 0;
}

static int print_outcome(const struct cli *cli, const struct run_end *end,
                         struct err *err)
{
    if (end->spec->workflow != NULL)
        return workflow_end_print(cli, end->name, err);
    if (cli->output != OUTPUT_TABLE)
        return run_result_print(end, err);
    return cli->quiet ? 0 : summary_print(cli, end->store, end->run, err);
}

/* One line, with what the first trial that failed said where that is why. */
static void print_reason(const struct run_end *end)
{
    const struct engine_result *result = end->result;
    char *words = budget_vain_reason(result->reason) != NULL ||
                          budget_verdict_is_failure(result->verdict)
                      ? failed_jobs_first_words(end->store, end->run)
                      : NULL;

    fprintf(stderr, "smtune: run '%s': %s%s%s\n", end->name, result->reason,
            words != NULL ? "; " : "", words != NULL ? words : "");
    free(words);
}

int run_end_print(const struct cli *cli, const struct run_end *end,
                  struct err *err)
{
    const struct engine_result *result = end->result;
    int status = exit_status(end->spec, result);

    if (status != 0)
        print_reason(end);
    if (result->tally.best_trial == 0 && result->tally.infeasible > 0)
        fprintf(stderr,
                "smtune: run '%s': no trial satisfies the constraints on "
                "metrics\n",
                end->name);
    if (result->undelivered > 0)
        fprintf(stderr,
                "smtune: %" PRId64
                " notification%s not delivered yet: smtune notify %s\n",
                result->undelivered, units_plural(result->undelivered),
                end->name);
    if (result->state == RUN_STOPPED)
        fprintf(stderr, "smtune: resume it: smtune resume %s\n", end->name);
    return print_outcome(cli, end, err) == 0 ? status : -1;
}
