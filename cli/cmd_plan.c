/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "cli/cmd.h"
#include "cli/drive.h"
#include "cli/plan.h"
#include "orchestrator/spec.h"

struct options {
    struct opt_texts set;
    int64_t trials;
};

static const struct opt opts[] = {
    DRIVE_OPT_SET(struct options, set),
    {"trials", 'n', OPT_INT, offsetof(struct options, trials), "N",
     "show the first N trials (default 5)", 1, NULL},
    {0},
};

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    struct spec spec;
    int64_t shown = options->trials > 0 ? options->trials : PLAN_TRIALS_SHOWN;
    int result = drive_load(cli, operands[0], &options->set, &spec, err);

    (void)count;
    if (result == 0)
        result = plan_print(cli, spec.experiment, shown, err);
    spec_clear(&spec);
    return result;
}

const struct cmd cmd_plan = {
    .name = "plan",
    .operands = "FILE",
    .summary = "show what a run would do, and start nothing",
    .examples = "smtune plan experiment.yaml\n"
                "smtune plan experiment.yaml --trials 20\n"
                "smtune plan experiment.yaml -o json\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec,
};
