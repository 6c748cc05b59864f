/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "base/buf.h"
#include "base/schema.h"
#include "cli/cmd.h"
#include "orchestrator/experiment.h"

struct schema_options {
    bool man;
};

static int exec_schema(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct schema_options *chosen = options;
    struct buf out = BUF_INIT;

    (void)cli, (void)operands, (void)count, (void)err;
    if (chosen->man)
        schema_print_roff(experiment_schema, &out);
    else
        schema_print_json(experiment_schema, "smtune experiment", &out);
    fputs(buf_text(&out), stdout);
    buf_clear(&out);
    return 0;
}

static const struct opt schema_opts[] = {
    {.name = "man",
     .type = OPT_FLAG,
     .offset = offsetof(struct schema_options, man)},
    {.name = NULL},
};

const struct cmd cmd_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of experiment files, for editors",
    .details = "An editor that knows the schema completes keys and marks "
               "mistakes. With the YAML language server, put this line on top "
               "of a file:\n\n"
               "# yaml-language-server: $schema=smtune.schema.json",
    .examples = "smtune schema >smtune.schema.json\n",
    .opts = schema_opts,
    .options_size = sizeof(struct schema_options),
    .exec = exec_schema,
};
