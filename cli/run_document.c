/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run_document.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

static const struct column count_columns[] = {
    {"total", NULL, COLUMN_NUMBER, NULL},
    {"done", NULL, COLUMN_NUMBER, NULL},
    {"succeeded", NULL, COLUMN_NUMBER, NULL},
    {"failed", NULL, COLUMN_NUMBER, NULL},
    {"running", NULL, COLUMN_NUMBER, NULL},
    {"pending", NULL, COLUMN_NUMBER, NULL},
};

int run_document_counts(struct document *document, const struct run_view *view,
                        struct err *err)
{
    const struct value cells[ARRAY_LEN(count_columns)] = {
        value_int(view->row.trials),    value_int(run_done(&view->row)),
        value_int(view->row.succeeded), value_int(view->row.failed),
        value_int(view->row.running),   value_int(view->row.pending),
    };

    return document_fields(document, "trials", count_columns, cells,
                           ARRAY_LEN(count_columns), err);
}

int run_document_objectives(struct document *document,
                            const struct run_view *view, struct err *err)
{
    struct column *columns = mem_array(view->objective_count, sizeof(*columns));
    struct value *cells = mem_array(view->objective_count, sizeof(*cells));
    int status;

    for (size_t i = 0; i < view->objective_count; i++) {
        columns[i] = (struct column){view->metrics[i], NULL, COLUMN_TEXT, NULL};
        cells[i] = value_text(view->goals[i]);
    }
    status = document_fields(document, "objectives", columns, cells,
                             view->objective_count, err);
    free(columns);
    free(cells);
    return status;
}

void run_document_hint(const struct cli *cli, const struct run_view *view)
{
    if (cli->quiet || cli->output != OUTPUT_TABLE)
        return;
    fflush(stdout);
    if (strcmp(view->state, "interrupted") == 0)
        fprintf(stderr,
                "\nIts engine ended without a word. To go on with it: smtune "
                "resume %s\n",
                view->row.name);
    else if (strcmp(view->state, "stopped") == 0)
        fprintf(stderr, "\nTo go on with it: smtune resume %s\n",
                view->row.name);
}
