/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune plan`: loads a file like `smtune run` does, and prints what cli/plan/
 * makes of it. */
#include <stddef.h>

#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/plan/plan.h"
#include "cli/plan/script.h"
#include "cli/plan/workflow.h"
#include "orchestrator/spec/spec.h"
#include "workflows/draw/draw.h"

struct options {
    struct opt_texts set;
    const char *format;
    int64_t shown;
    bool is_script, has_secrets;
};

static const struct opt opts[] = {
    DRIVE_OPT_SET(struct options, set),
    {"trials", 'n', OPT_INT, offsetof(struct options, shown), "N",
     "show the first N trials (default 5), or steps (40)", 1, NULL},
    {"format", 'f', OPT_CHOICE, offsetof(struct options, format), "FORMAT",
     "only a workflow's graph: text, mermaid, dot or svg", 0,
     draw_format_names},
    {"script", 0, OPT_FLAG, offsetof(struct options, is_script), NULL,
     "show the batch scripts that would be submitted", 0, NULL},
    {"with-secrets", 0, OPT_FLAG, offsetof(struct options, has_secrets), NULL,
     "show secrets as they are", 0, NULL},
    {0},
};

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    struct cli own = *cli;
    struct spec spec;
    int result = foreground_load(cli, operands[0], &options->set, &spec, err);

    (void)count;
    own.with_secrets = options->has_secrets;
    if (result == 0 && options->is_script)
        result = plan_script_print(&own, &spec, options->shown, err);
    else if (result == 0 && options->format == NULL)
        result = plan_print(&own, &spec,
                            &(struct plan_order){.shown = options->shown}, err);
    else if (result == 0 && spec.workflow == NULL)
        result = err_set(err, ERR_USAGE,
                         "--format draws the graph of a workflow, and '%s' is "
                         "an experiment",
                         operands[0]);
    else if (result == 0)
        plan_workflow_draw(cli, spec.workflow, options->format);
    spec_clear(&spec);
    return result;
}

const struct cmd cmd_plan = {
    .name = "plan",
    .operands = "FILE",
    .summary = "show the plan of a run without starting it",
    .details = "For an experiment: the search, the budget, and the first "
               "trials. For a workflow: its graph, the resources of its "
               "steps, and their commands in a possible order. Of each step "
               "with a cache it shows the job whose result would be used, the "
               "reason of a cache miss, or the step that decides.\n\n"
               "In the graph, lines at the left connect each step with "
               "the steps above that it needs. --format prints only the "
               "graph: as text, for Mermaid or Graphviz (dot), or as a "
               "picture (svg).\n\n"
               "--script prints the batch scripts for a cluster instead: of "
               "the first trial, or the first N, or of each step. "
               "smtune keeps what it "
               "submits as the file sbatch in the folder of each attempt.\n\n"
               "Values of env and other secrets are masked. --with-secrets "
               "shows them.",
    .examples = "smtune plan experiment.yaml\n"
                "smtune plan experiment.yaml --trials 20\n"
                "smtune plan experiment.yaml -o json\n"
                "smtune plan pipeline.yaml --format svg >pipeline.svg\n"
                "smtune plan pipeline.yaml --script\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .has_loop = true,
    .exec = exec,
};
