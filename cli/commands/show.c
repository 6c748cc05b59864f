/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune show`: a run, or a part of it. The document is complete before
 * anything is printed, so that JSON is never cut off by an error. */
#include <stddef.h>

#include "cli/cmd.h"
#include "cli/show/jobs/efficiency.h"
#include "cli/show/run/importance_view.h"
#include "cli/show/run/run_document.h"
#include "cli/show/run/run_view.h"
#include "cli/show/show_document.h"
#include "cli/term/document.h"

struct options {
    bool is_efficiency, with_secrets;
};

static const struct opt opts[] = {
    {"efficiency", 0, OPT_FLAG, offsetof(struct options, is_efficiency), NULL,
     "time, CPU, memory and GPUs: asked for against used", 0, NULL},
    {"with-secrets", 0, OPT_FLAG, offsetof(struct options, with_secrets), NULL,
     "show secrets as they are", 0, NULL},
    {0},
};

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

static int show_efficiency(const struct cli *cli, const struct run_view *view,
                           const char *part, struct err *err)
{
    struct document *document = document_create(cli);
    int status = efficiency_add(document, view, part, err);

    if (status == 0)
        status = document_finish(document, err);
    document_destroy(document);
    return status;
}

static int exec_show(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    const char *part = count > 1 ? operands[1] : NULL;
    struct cli own = *cli;
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    own.with_secrets = chosen->with_secrets;
    if (status == 0)
        status = chosen->is_efficiency ? show_efficiency(&own, &view, part, err)
                                       : show(&own, &view, part, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_show = {
    .name = "show",
    .operands = "RUN [JOB]",
    .summary = "show details of a run, or of one of its trials or jobs",
    .details = "For a run: its origin, objectives, progress and best "
               "trial, and the importance of each parameter, the share of "
               "an objective's variance over the space. With a schedule "
               "it shows the resource used and, for each rung, the number "
               "of trials planned, arrived, promoted, stopped, paused and "
               "on the way, and the worst promoted value. For a trial: "
               "its parameters, its attempts and why each ended, the "
               "decisions of the schedule, and the last value of each "
               "metric.\n\n"
               "For a workflow: its steps. For a job (STEP, its copy "
               "STEP[3], its second round STEP#2): its command, its "
               "values of the matrix and the round, its outputs, its "
               "attempts, its child runs, and the origin of a cache hit. "
               "For a step with several copies it lists them.\n\n"
               "--efficiency compares, for each job, the time, CPUs, memory "
               "and GPUs that its attempts asked for with those that they "
               "used. The use of GPUs is that of samples of "
               "nvidia-smi, every 5 seconds, where it is installed. It is "
               "unknown for parts of a GPU (MIG, gpus: 0.5).\n\n"
               "Secrets in commands and in words of --set are masked. "
               "--with-secrets shows them.",
    .examples = "smtune show last            # the newest run\n"
                "smtune show mlp 17          # its trial 17\n"
                "smtune show mlp 17 -o json  # for programs\n"
                "smtune show nightly train   # a step of a workflow\n"
                "smtune show mlp --efficiency\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 2,
    .exec = exec_show,
};
