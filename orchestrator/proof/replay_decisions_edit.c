/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run whose file was edited, event by event: each decision is judged by the
 * file of its time. The first one is in the event that created the run. An edit
 * may change only what the search does not depend on; that it did not change
 * more is part of the proof.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "orchestrator/proof/replay_decisions_impl.h"
#include "orchestrator/spec/spec_change.h"

const struct job_spec *deciding_task(const struct deciding *deciding,
                                     int64_t step)
{
    const struct workflow *workflow = deciding->workflow;

    if (workflow == NULL)
        return &deciding->experiment->task;
    return step >= 0 && (size_t)step < workflow->step_count
               ? &workflow->steps[step].task
               : NULL;
}

const struct link_rule *deciding_link_rule(const struct deciding *deciding,
                                           int64_t step)
{
    const struct link_rule *rule;

    if (deciding->workflow == NULL || deciding_task(deciding, step) == NULL)
        return NULL;
    rule = &deciding->workflow->steps[step].link;
    return rule->max > 0 ? rule : NULL;
}

/* Takes the file over, and drops the one before. */
static void take_spec(struct deciding *deciding, const struct spec *spec)
{
    struct spec before = deciding->spec;

    deciding->spec = *spec;
    deciding->experiment = spec->experiment;
    deciding->workflow = spec->workflow;
    for (size_t i = 0; i < deciding->job_count; i++) {
        struct judged *job = &deciding->jobs[i];

        job->task = deciding_task(deciding, job->step);
        job->link_rule = deciding_link_rule(deciding, job->step);
    }
    deciding->tally.improvement = deciding->experiment->budget.improvement;
    deciding_create_convergence(deciding);
    spec_clear(&before);
}

int deciding_begin(struct deciding *deciding)
{
    struct spec spec;

    if (replay_parse_spec(deciding->replay, "", &spec) != 0)
        return -1;
    take_spec(deciding, &spec);
    deciding->budget =
        (struct budget_change){.trials = spec.experiment->budget.trials,
                               .time_ms = spec.experiment->budget.time_ms};
    return 0;
}

static int check_changes(struct deciding *deciding, const struct spec *after)
{
    struct spec_changes changes = {0};
    const struct spec_change *refused = NULL;
    int result = spec_change_find(&deciding->spec, after, &changes,
                                  deciding->replay->err);

    if (result == 0)
        refused = spec_changes_refused(&changes);
    if (refused != NULL)
        result = replay_differ(deciding->replay, PROOF_DECISIONS, 0,
                               "the edit changed '%s', which a run keeps",
                               refused->key);
    spec_changes_clear(&changes);
    return result;
}

/* Each job has all its retries again, and the file's resources. */
static void forget_retries(struct deciding *deciding)
{
    for (size_t i = 0; i < deciding->job_count; i++) {
        struct judged *job = &deciding->jobs[i];

        free(job->retries_used);
        job->retries_used = NULL;
        if (job->task != NULL)
            job->resources = job->task->resources;
    }
}

static bool has_key(const json_t *detail, const char *key)
{
    return json_object_get(detail, key) != NULL;
}

int deciding_edit(struct deciding *deciding, const json_t *detail)
{
    struct spec spec;
    int result = replay_parse_spec(deciding->replay, "edited_", &spec);

    if (result == 0)
        result = check_changes(deciding, &spec);
    if (result != 0) {
        spec_clear(&spec);
        return result;
    }
    take_spec(deciding, &spec);
    if (has_key(detail, "budget_trials"))
        deciding->budget.trials = spec.experiment->budget.trials;
    if (has_key(detail, "budget_time_ms"))
        deciding->budget.time_ms = spec.experiment->budget.time_ms;
    if (has_key(detail, "retry_base")) {
        deciding->retry_base = detail_integer(detail, "retry_base", 0);
        forget_retries(deciding);
    }
    deciding->proof->proved++;
    return 0;
}
