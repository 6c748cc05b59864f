/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a run ended, by its record alone, for commands that did not drive it. The
 * exit status must be the one that cli/drive/run_end.c would have given; a
 * change needs both.
 */
#include "cli/show/run/run_outcome.h"

#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/job/budget.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"

void run_outcome_clear(struct run_outcome *outcome)
{
    free(outcome->name);
    free(outcome->state);
    free(outcome->reason);
    *outcome = (struct run_outcome){NULL};
}

/* Whether the run's file, with what --set made of it, has a target. */
static bool has_target(const struct run_row *run)
{
    const char *text = run_row_spec(run);
    const char *overrides = run_row_overrides(run);
    struct diags *diags = diags_create("");
    struct conf_doc *doc = conf_parse(text, strlen(text), diags);
    json_t *list = json_parse(overrides, strlen(overrides), NULL);
    bool found = false;

    if (doc != NULL) {
        for (size_t i = 0; i < json_array_size(list); i++)
            conf_set(doc, experiment_schema,
                     json_string_value(json_array_get(list, i)), NULL);
        found = conf_get(conf_get(conf_root(doc), "budget"), "target") != NULL;
    }
    json_decref(list);
    conf_destroy(doc);
    diags_destroy(diags);
    return found;
}

static int keep_row(void *user, const struct run_row *run)
{
    struct run_outcome *outcome = user;

    run_outcome_clear(outcome);
    outcome->name = mem_copy_string(run->name);
    outcome->state = mem_copy_string(run->state);
    outcome->reason = mem_copy_string(run->reason != NULL ? run->reason : "");
    outcome->is_workflow = run_is_workflow(run);
    outcome->is_asked = run_row_is_asked(run);
    outcome->has_best = run->best_trial > 0;
    outcome->has_target = has_target(run);
    return 0;
}

int run_outcome_read(struct run_outcome *outcome, struct store *store,
                     int64_t run, struct err *err)
{
    return store_get_run_uncounted(store, run, keep_row, outcome, err);
}

int run_outcome_status(const struct run_outcome *outcome)
{
    if (budget_vain_reason(outcome->reason) != NULL)
        return err_exit_status(ERR_UNMET);
    if (strcmp(outcome->state, "succeeded") != 0)
        return err_exit_status(ERR_FAILED);
    if (outcome->is_workflow)
        return 0;
    if (!outcome->has_best)
        return err_exit_status(ERR_UNMET);
    if (outcome->has_target &&
        budget_verdict_find(outcome->reason) != BUDGET_TARGET)
        return err_exit_status(ERR_UNMET);
    return 0;
}
