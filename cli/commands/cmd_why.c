/* SPDX-License-Identifier: GPL-3.0-or-later */
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
    .summary =
        "say why a trial was chosen, or a job waits, failed or did not run",
    .details =
        "Which method chose it, and why that method; the step of it that did; "
        "what the method expected of the trial, and what it came to; the best "
        "trial at that time; how many results were known, and how many "
        "other trials had none yet. A method says what it has: random and "
        "sobol know nothing of results, and expect nothing.\n\n"
        "Of a run with a schedule also each time that the schedule looked at "
        "the trial: what it had reached, what was decided, and why. A trial "
        "that began at another one's checkpoint has that as its parent.\n\n"
        "Of a step of a workflow, or of one of its jobs (STEP[3], STEP#2): "
        "what it waits for, why it was skipped or failed, or whose result it "
        "took; the rules of its file that have a say, with their lines; the "
        "steps that it needs; and of a job how each attempt ended, and which "
        "retry rule or link that led to.",
    .examples = "smtune why last 17\n"
                "smtune why mlp 17 -o json     # for programs\n"
                "smtune why nightly train[3]   # a job of a workflow\n",
    .completes = "run",
    .min_operands = 2,
    .max_operands = 2,
    .exec = exec_why,
};
