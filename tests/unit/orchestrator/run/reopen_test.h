/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_ORCHESTRATOR_RUN_REOPEN_TEST_H
#define SMTUNE_TESTS_UNIT_ORCHESTRATOR_RUN_REOPEN_TEST_H

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/diag.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "tests/unit/store/store_test.h"

/* Jobs and steps of run 1 that have come to their end, to be put back. */

/* told: the place in which the strategy got its value; 0: it has none. */
UNUSED static void must_end(struct store *store, int64_t job, const char *state,
                            int64_t told)
{
    const double value = 3.0;
    struct err err = {0};

    must(store_change_job(store,
                          &(struct job_change){.run = 1,
                                               .job = job,
                                               .state = state,
                                               .event = state,
                                               .time_ms = 5,
                                               .ended_ms = 5,
                                               .values = &value,
                                               .value_count = told != 0,
                                               .told = told},
                          &err));
}

UNUSED static void must_step(struct store *store, int64_t step,
                             const char *state, const char *event,
                             int64_t first_job)
{
    struct err err = {0};

    must(store_change_step(store,
                           &(struct step_change){.run = 1,
                                                 .step = step,
                                                 .state = state,
                                                 .event = event,
                                                 .first_job = first_job,
                                                 .copies = 2,
                                                 .time_ms = 5},
                           &err));
}

/* state NULL: it goes on. */
UNUSED static void must_job(struct store *store, int64_t step, int64_t number,
                            int64_t copy, const char *state)
{
    struct err err = {0};
    int64_t job;

    must(store_add_job(store,
                       &(struct job_new){.run = 1,
                                         .number = number,
                                         .state = "ready",
                                         .step = step,
                                         .copy = copy,
                                         .time_ms = 2},
                       &job, &err));
    if (state != NULL)
        must_end(store, job, state, 0);
}

UNUSED static void must_add_workflow(struct store *store, const char *text,
                                     const char *const *steps, size_t count)
{
    struct err err = {0};
    int64_t run;

    must(store_add_run(store,
                       &(struct run_new){.name = "w",
                                         .kind = "workflow",
                                         .spec = text,
                                         .overrides = "[]",
                                         .spec_path = "",
                                         .work_directory = "/tmp",
                                         .steps = steps,
                                         .step_count = count,
                                         .time_ms = 1},
                       &run, &err));
}

UNUSED static struct workflow *must_parse(const char *text)
{
    const struct experiment_source source = {
        .text = text, .length = strlen(text), .path = ""};
    struct diags *diags = diags_create("w.yaml");
    struct err err = {0};
    struct workflow *workflow = workflow_parse(&source, diags, &err);

    if (workflow == NULL)
        diags_to_err(diags, &err);
    diags_destroy(diags);
    must(workflow != NULL ? 0 : -1);
    return workflow;
}

UNUSED static int append_step_state(void *user, const struct step_row *row)
{
    buf_printf(user, "%s ", row->state);
    return 0;
}

UNUSED static void must_be_steps(struct store *store, const char *states)
{
    struct buf found = BUF_INIT;
    struct err err = {0};

    must(store_each_step(store, 1, append_step_state, &found, &err));
    assert_string_equal(buf_text(&found), states);
    buf_clear(&found);
}

#endif
