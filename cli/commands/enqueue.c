/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune enqueue`: adds a setting, or lists those that were added. Values stay
 * text here; the run's parameters interpret them. cli/drive/enqueue_setting.c
 * decides whether the engine or the store takes the order, so that exactly one
 * of them does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/drive/enqueue_setting.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"

enum { LIMIT_MS = 20000 };

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"params", NULL, COLUMN_JSON, NULL},
    {"enqueued", NULL, COLUMN_TIME, NULL},
    {"trial", NULL, COLUMN_NUMBER, NULL},
};

struct listing {
    struct output *output;
    struct err *err;
};

static int on_enqueued(void *user, const struct enqueued_row *enqueued)
{
    const struct listing *listing = user;

    return output_row(
        listing->output,
        (const struct value[]){value_int(enqueued->index),
                               value_text(enqueued->params),
                               value_int(enqueued->created_ms),
                               value_int_unless(enqueued->trial, 0)},
        listing->err);
}

static int list(const struct cli *cli, const struct run_view *view,
                struct err *err)
{
    struct listing listing = {output_create(cli, columns, ARRAY_LEN(columns)),
                              err};

    output_when_empty(listing.output, "no setting was enqueued");
    if (store_each_enqueued(view->store, view->row.id, on_enqueued, &listing,
                            err) == 0)
        return output_finish(listing.output, err);
    output_destroy(listing.output);
    return -1;
}

/* NAME=VALUE: the parameter knows what the text means. */
static int read_params(char **words, int count, json_t *params, struct err *err)
{
    for (int i = 0; i < count; i++) {
        const char *value;
        char *name = enqueue_part_word(words[i], &value, err);

        if (name == NULL)
            return -1;
        json_object_set_new(params, name, json_from_text(value));
        free(name);
    }
    return 0;
}

static int enqueue(const struct cli *cli, const struct run_view *view,
                   const json_t *params, struct err *err)
{
    const struct enqueue_order order = {.run = view->row.id,
                                        .run_name = view->row.name,
                                        .has_succeeded =
                                            run_has_succeeded(&view->row),
                                        .params = params,
                                        .limit_ms = LIMIT_MS};
    struct enqueue_reply reply;

    if (enqueue_setting(view->store, &order, &reply, err) != 0)
        return -1;
    if (!cli->quiet && reply.is_waited)
        fprintf(stderr,
                "smtune: run '%s' evaluates the setting after you resume "
                "it (smtune resume %s)\n",
                view->row.name, view->row.name);
    else if (!cli->quiet)
        fprintf(stderr,
                "smtune: run '%s' evaluates the setting next (smtune "
                "enqueue %s shows the trial)\n",
                view->row.name, view->row.name);
    return 0;
}

static int exec_enqueue(const struct cli *cli, const void *options,
                        char **operands, int count, struct err *err)
{
    json_t *params = json_object();
    struct run_view view;
    int result = run_view_open(&view, cli, operands[0], err);

    (void)options;
    if (result == 0)
        result = read_params(operands + 1, count - 1, params, err);
    if (result == 0)
        result = count > 1 ? enqueue(cli, &view, params, err)
                           : list(cli, &view, err);
    json_decref(params);
    run_view_close(&view);
    return result;
}

const struct cmd cmd_enqueue = {
    .name = "enqueue",
    .operands = "RUN [NAME=VALUE...]",
    .summary = "evaluate a setting of your own in a run",
    .details = "The next new trial evaluates the setting, after the "
               "settings enqueued before. The search learns from it like "
               "from its own, and it uses one trial of the budget. "
               "Missing parameters are drawn at random. If the run has no "
               "engine, the setting waits until you resume the run. "
               "Without a setting, the enqueued settings and their trials "
               "are listed.\n\n"
               "To enqueue settings before a run starts, write them into "
               "its file: 'enqueue' in smtune-experiment(5).",
    .examples = "smtune enqueue mnist lr=0.003 width=128\n"
                "smtune enqueue mnist optimizer=adam    # the rest at "
                "random\n"
                "smtune enqueue mnist                   # list their "
                "trials\n",
    .completes = "run",
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec_enqueue,
};
