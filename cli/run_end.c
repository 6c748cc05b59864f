/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run_end.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd.h"
#include "cli/run_result.h"
#include "cli/summary.h"
#include "orchestrator/engine.h"
#include "orchestrator/spec.h"

static int exit_status(const struct experiment *experiment,
                       const struct engine_result *result)
{
    if (result->state == RUN_STOPPED)
        return 128 + result->signal;
    if (result->state == RUN_FAILED)
        return err_exit_status(ERR_FAILED);
    if (result->tally.best_trial == 0 ||
        (experiment->budget.has_target && result->verdict != BUDGET_TARGET))
        return err_exit_status(ERR_UNMET);
    return 0;
}

int run_end_print(const struct cli *cli, const struct run_end *end,
                  struct err *err)
{
    const struct engine_result *result = end->result;
    int status = exit_status(end->spec->experiment, result);

    if (status != 0)
        fprintf(stderr, "smtune: run '%s': %s\n", end->name, result->reason);
    if (result->tally.best_trial == 0 && result->tally.infeasible > 0)
        fprintf(stderr,
                "smtune: run '%s': no trial satisfies the constraints "
                "on outcomes\n",
                end->name);
    if (result->undelivered > 0)
        fprintf(stderr,
                "smtune: %" PRId64 " messages to receivers wait to be "
                "delivered: smtune notify %s\n",
                result->undelivered, end->name);
    if (result->state == RUN_STOPPED)
        fprintf(stderr, "smtune: go on with it: smtune resume %s\n", end->name);
    if (cli->output != OUTPUT_TABLE) {
        if (run_result_print(end, err) != 0)
            return -1;
    } else if (!cli->quiet &&
               summary_print(cli, end->store, end->run, err) != 0) {
        return -1;
    }
    return status;
}
