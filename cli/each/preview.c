/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of a dry run, by the same templates and values as in the run. */
#include "cli/each/preview.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "cli/each/command.h"
#include "cli/each/lines.h"
#include "cli/term/output.h"
#include "orchestrator/spec/spec.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "orchestrator/steps/steps.h"
#include "orchestrator/wrap/command_line.h"
#include "workflows/matrix.h"

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"command", NULL, COLUMN_TEXT, NULL},
};

struct preview {
    const struct workflow *workflow;
    struct steps *steps;
    struct output *output; /* NULL: for people */
};

static int print_one(const struct preview *preview, int64_t copy,
                     struct err *err)
{
    const struct job job = {.copy = copy};
    const struct launch_places nowhere = {0};
    struct value *values = steps_values(preview->steps, &job, &nowhere);
    struct buf command = BUF_INIT;
    int result = command_line_expand(&preview->workflow->steps[0].task, values,
                                     &command, err);

    if (result != 0)
        err_prefix(err, "line %" PRId64, copy + 1);
    else if (preview->output == NULL)
        printf("%s\n", buf_text(&command));
    else
        result = output_row(preview->output,
                            (const struct value[ARRAY_LEN(columns)]){
                                value_int(copy + 1),
                                value_text(buf_text(&command)),
                            },
                            err);
    free(values);
    buf_clear(&command);
    return result;
}

static int print_all(struct preview *preview, const struct cli *cli,
                     const json_t *axes, struct err *err)
{
    int64_t count;
    int result = steps_begin(preview->steps, 0, axes, err);

    if (result != 0)
        return -1;
    if (cli->output != OUTPUT_TABLE)
        preview->output = output_create(cli, columns, ARRAY_LEN(columns));
    count = steps_copies(preview->steps, 0);
    for (int64_t i = 0; i < count && result == 0; i++)
        result = print_one(preview, i, err);
    if (preview->output != NULL && result == 0)
        return output_finish(preview->output, err);
    output_destroy(preview->output);
    return result;
}

int each_preview_print(const struct cli *cli, const struct spec *spec,
                       const struct each_lines *lines, const char *name,
                       struct err *err)
{
    struct preview preview = {.workflow = spec->workflow};
    json_t *list = matrix_axis_from_line_text(buf_text(&lines->json),
                                              lines->json.length, true, err);
    json_t *axes = list != NULL ? json_pack("{so}", EACH_AXIS, list) : NULL;
    int result = -1;

    if (axes != NULL)
        preview.steps = steps_create(spec->workflow, name, err);
    if (preview.steps != NULL)
        result = print_all(&preview, cli, axes, err);
    steps_destroy(preview.steps);
    json_decref(axes);
    return result;
}
