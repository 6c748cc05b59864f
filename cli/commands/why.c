/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune why`: opens the run; cli/show/why_document.h has the
 * explanation. */
#include "cli/cmd.h"
#include "cli/show/run/run_view.h"
#include "cli/show/why_document.h"
#include "cli/term/document.h"

static int exec_why(const struct cli *cli, const void *options, char **operands,
                    int count, struct err *err)
{
    struct document *document = document_create(cli);
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)options, (void)count;
    if (status == 0)
        status = why_document_add(document, &view, operands[1], err);
    if (status == 0)
        status = document_finish(document, err);
    document_destroy(document);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_why = {
    .name = "why",
    .operands = "RUN JOB",
    .summary = "explain why a trial was chosen, or why a job waits or failed",
    .details = "Shows the method that chose the trial, and why this "
               "method; its step; the expected value and the result; the "
               "best trial at that time; and the number of known results "
               "and of unfinished trials. Each method shows the data that it "
               "has: random and sobol do not use results, and expect no "
               "value.\n\n"
               "For a run with a schedule it also shows each decision on "
               "the trial: the value reached, the decision, and its "
               "reason. A trial that started from the checkpoint of "
               "another one has that as its parent.\n\n"
               "For a step of a workflow, or one of its jobs (STEP[3], "
               "STEP#2), it shows why it waits, was skipped or failed, or "
               "the origin of a cache hit. It lists the rules of the file "
               "that apply, with their lines, and the steps that it "
               "needs. For a job it shows how each attempt ended, and the "
               "retry rule or link that followed.",
    .examples = "smtune why last 17\n"
                "smtune why mlp 17 -o json     # for programs\n"
                "smtune why nightly train[3]   # a job of a workflow\n",
    .completes = "run",
    .min_operands = 2,
    .max_operands = 2,
    .exec = exec_why,
};
