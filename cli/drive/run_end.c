/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of a run, which this process drove or the record has: exit status,
 * reason, outcome. Scripts depend on the exit status, so it is decided in one
 * place (run_end_status), and docs/environment.md lists the values. Reasons and
 * hints go to stderr, so that standard output has the outcome alone.
 */
#include "cli/drive/run_end.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/failed_jobs.h"
#include "cli/drive/run_result.h"
#include "cli/drive/summary.h"
#include "cli/drive/workflow_end.h"
#include "cli/show/run/run_view.h"
#include "cli/term/term.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec.h"
#include "store/store.h"

int run_end_status(const struct run_end *end)
{
    const struct engine_result *result = end->result;
    const struct budget *budget = &end->spec->experiment->budget;

    if (result->state == RUN_STOPPED)
        return 128 + result->signal;
    if (result->state == RUN_FAILED)
        return err_exit_status(budget_vain_reason(result->reason) != NULL
                                   ? ERR_UNMET
                                   : ERR_FAILED);
    if (end->spec->workflow != NULL)
        return 0;
    if (result->tally.best_trial == 0 ||
        (budget->has_target && result->verdict != BUDGET_TARGET))
        return err_exit_status(ERR_UNMET);
    return 0;
}

static int print_outcome(const struct cli *cli, const struct run_end *end,
                         bool is_workflow, struct err *err)
{
    if (is_workflow)
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
    struct buf shown = BUF_INIT;

    fprintf(stderr, "smtune: run '%s': %s", end->name,
            term_shown(result->reason, &shown));
    if (words != NULL)
        fprintf(stderr, "; %s", term_shown(words, &shown));
    fputc('\n', stderr);
    buf_clear(&shown);
    free(words);
}

int run_end_print(const struct cli *cli, const struct run_end *end,
                  struct err *err)
{
    const struct engine_result *result = end->result;
    int status = run_end_status(end);

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
    return print_outcome(cli, end, end->spec->workflow != NULL, err) == 0
               ? status
               : -1;
}

/* ---- a run that ended before ---- */

struct recorded {
    char *name;
    bool is_workflow;
    struct engine_result result; /* what an outcome needs of it */
};

static int keep_recorded(void *user, const struct run_row *row)
{
    struct recorded *recorded = user;
    struct engine_result *result = &recorded->result;
    int state = run_state_find(row->state);

    recorded->name = mem_copy_string(row->name);
    recorded->is_workflow = run_is_workflow(row);
    if (state >= 0)
        result->state = (enum run_state)state;
    snprintf(result->reason, sizeof(result->reason), "%s",
             row->reason != NULL ? row->reason : "");
    result->tally = (struct tally){
        .suggested = row->trials,
        .succeeded = row->succeeded,
        .failed = row->failed,
        .stopped = row->stopped,
        .cancelled = row->cancelled,
        .nonfinite = row->nonfinite,
        .infeasible = row->infeasible,
    };
    return 0;
}

/* Only the object of an experiment needs its file, which an older smtune may
 * have accepted. */
static int read_spec(const struct cli *cli, struct store *store, int64_t run,
                     const struct recorded *recorded, struct spec *spec,
                     struct err *err)
{
    return recorded->is_workflow || cli->output == OUTPUT_TABLE
               ? 0
               : run_read_spec(store, run, spec, err);
}

int run_end_print_recorded(const struct cli *cli, struct store *store,
                           int64_t run, struct err *err)
{
    struct recorded recorded = {0};
    struct spec spec = {0};
    int status = -1;

    if (store_get_run(store, run, keep_recorded, &recorded, err) == 0 &&
        read_spec(cli, store, run, &recorded, &spec, err) == 0)
        status = print_outcome(cli,
                               &(struct run_end){.store = store,
                                                 .run = run,
                                                 .name = recorded.name,
                                                 .spec = &spec,
                                                 .result = &recorded.result},
                               recorded.is_workflow, err);
    spec_clear(&spec);
    free(recorded.name);
    return status;
}

int run_end_print_over(const struct cli *cli, int64_t run, struct err *err)
{
    struct store *store;
    int status = -1;

    if (cli->output == OUTPUT_TABLE)
        return 0;
    store = store_open(cli->store, STORE_READ, err);
    if (store != NULL)
        status = run_end_print_recorded(cli, store, run, err);
    store_close(store);
    return status;
}
