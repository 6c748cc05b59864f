/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune schema`: the JSON Schema of a kind of file, and behind the hidden
 * option --man its part of the manual page. Both come from the table that
 * checks such files.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/schema.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "orchestrator/spec/experiment/config_files.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "orchestrator/spec/workflow/workflow.h"

struct schema_options {
    bool man;
};

/* The kinds of files; the first is meant where none is said. */
static const struct {
    const char *name, *title;
    const struct schema_key *keys;
} kinds[] = {
    {"experiment", "smtune experiment", experiment_schema},
    {"workflow", "smtune workflow", workflow_schema},
    {"config", "smtune configuration", config_schema},
};

/* -1: there is no such kind. */
static int find_kind(const char *name, struct err *err)
{
    const char *names[ARRAY_LEN(kinds)];

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        names[i] = kinds[i].name;
        if (strcmp(names[i], name) == 0)
            return (int)i;
    }
    return text_unknown("kind of file", name, names, ARRAY_LEN(kinds),
                        ERR_USAGE, err);
}

static int exec_schema(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct schema_options *chosen = options;
    int kind = count > 0 ? find_kind(operands[0], err) : 0;
    struct buf out = BUF_INIT;

    (void)cli;
    if (kind < 0)
        return -1;
    if (chosen->man)
        schema_print_roff(kinds[kind].keys, &out);
    else
        schema_print_json(kinds[kind].keys, kinds[kind].title, &out);
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
    .operands = "[KIND]",
    .summary = "print the JSON Schema of a kind of file",
    .details = "KIND is experiment (default), workflow or config. With the "
               "schema, an editor completes keys and marks mistakes. With "
               "the YAML language server, begin a file with this line:\n\n"
               "# yaml-language-server: $schema=smtune.schema.json",
    .examples = "smtune schema >smtune.schema.json\n"
                "smtune schema workflow >workflow.schema.json\n",
    .completes = "experiment workflow config",
    .opts = schema_opts,
    .options_size = sizeof(struct schema_options),
    .max_operands = 1,
    .without_config = true,
    .exec = exec_schema,
};
