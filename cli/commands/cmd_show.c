/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd.h"
#include "cli/show/run/importance_view.h"
#include "cli/show/run/run_document.h"
#include "cli/show/run/run_view.h"
#include "cli/show/show_document.h"
#include "cli/term/document.h"

static int add_whole(struct document *document, const struct cli *cli,
                     const struct run_view *view, struct err *err)
{
    int status = show_document_add_run(document, cli, view, err);

    if (status == 0 && !run_is_workflow(&view->row))
        status = importance_view_add(document, cli, view, err);
    return status;
}

static int show(const struct cli *cli, const struct run_view *view,
                const char *part, struct err *err)
{
    struct document *document = document_create(cli);
    int status = part != NULL
                     ? show_document_add_part(document, cli, view, part, err)
                     : add_whole(document, cli, view, err);

    if (status == 0)
        status = document_finish(document, err);
    if (status == 0 && part == NULL)
        run_document_hint(cli, view);
    document_destroy(document);
    return status;
}

static int exec_show(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)options;
    if (status == 0)
        status = show(cli, &view, count > 1 ? operands[1] : NULL, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_show = {
    .name = "show",
    .operands = "RUN [JOB]",
    .summary = "show all about a run, or about one of its trials or jobs",
    .details = "Of a run: where it came from, its objectives, how far it is, "
               "its best trial, and how much each parameter matters: its "
               "share of what an objective varies by over the whole space. "
               "Where it has a schedule also how much of the resource was "
               "used, and of each rung how many trials are planned, came "
               "there, went on, were stopped, are paused or on the way there, "
               "and the worst value that went on. Of "
               "a trial: its parameters, its attempts and why each ended, what "
               "its schedule decided, and the last value of each metric.\n\n"
               "Of a workflow: its steps, and of a job (STEP, its copy "
               "STEP[3], its second round STEP#2) its command as it was "
               "run, its values of the matrix and of the round, its outputs, "
               "its attempts, the runs below "
               "it, and whose result it took from the cache. Of a step with "
               "several copies, the list of them.",
    .examples = "smtune show last            # the newest run\n"
                "smtune show mlp 17          # its trial 17\n"
                "smtune show mlp 17 -o json  # for programs\n"
                "smtune show nightly train   # a step of a workflow\n",
    .completes = "run",
    .min_operands = 1,
    .max_operands = 2,
    .exec = exec_show,
};
