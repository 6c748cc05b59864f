/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune notify`: sends what waits in the outbox, then lists it. The run's
 * lock decides who sends. If an engine holds it, the engine sends, and this
 * command only lists. Addresses are shown without their path, which is often a
 * secret.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mask.h"
#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"
#include "orchestrator/run/deliver.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec.h"

struct options {
    bool test;
};

static const struct opt opts[] = {
    {"test", 0, OPT_FLAG, offsetof(struct options, test), NULL,
     "send a test message to every receiver", 0, NULL},
    {0},
};

static const struct table_column columns[] = {
    {"created", NULL, COLUMN_TIME, NULL},
    {"event", NULL, COLUMN_TEXT, NULL},
    {"receiver", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"tries", NULL, COLUMN_NUMBER, NULL},
    {"delivery", NULL, COLUMN_TEXT, NULL},
    {"error", NULL, COLUMN_TEXT, NULL},
};

struct listing {
    const struct experiment *experiment;
    struct output *output;
    struct err *err;
    bool all_delivered;
};

/* An address without its path, which often is the key to it, and without a
 * user. */
static char *shown_address(const struct experiment *experiment, int64_t i)
{
    const char *url, *host;
    struct buf shown = BUF_INIT;

    if (i < 0 || (size_t)i >= experiment->receiver_count)
        return NULL;
    url = experiment->receivers[i].url;
    host = strstr(url, "://") + strlen("://");
    host += strcspn(host, "/?#");
    mask_add(NULL, url, (size_t)(host - url), &shown);
    return buf_take(&shown);
}

static int list_notification(void *user, const struct notification_row *row)
{
    struct listing *listing = user;
    char *address = shown_address(listing->experiment, row->receiver);
    const char *state = row->delivered_ms > 0  ? "delivered"
                        : row->given_up_ms > 0 ? "given up"
                                               : "waiting";
    const struct value cells[ARRAY_LEN(columns)] = {
        value_int(row->created_ms),
        value_text(row->event),
        value_text_or_null(address),
        value_text(state),
        value_int(row->tries),
        value_text(row->delivery),
        value_text_unless_empty(row->error),
    };
    int result = output_row(listing->output, cells, listing->err);

    listing->all_delivered &= row->delivered_ms > 0;
    free(address);
    return result;
}

/* Where an engine has the run, that sends what waits. */
static int send_waiting(const struct cli *cli, int64_t id, bool test,
                        struct err *err)
{
    struct store *store = store_open(cli->store, STORE_WRITE, err);
    struct run *run = NULL;
    int result = -1;

    if (store != NULL)
        run = foreground_open(cli, store, id, err);
    if (run != NULL)
        result = deliver_run(run, test, err);
    else if (!test && err->kind == ERR_BUSY)
        result = 0;
    run_close(run);
    store_close(store);
    return result;
}

static int list(const struct cli *cli, const struct run_view *view,
                const struct experiment *experiment, struct err *err)
{
    struct listing listing = {
        .experiment = experiment, .err = err, .all_delivered = true};
    int result;

    listing.output = output_create(cli, columns, ARRAY_LEN(columns));
    output_when_empty(listing.output, "no messages");
    result = store_each_notification(view->store, view->row.id,
                                     list_notification, &listing, err);
    if (result == 0)
        result = output_finish(listing.output, err);
    else
        output_destroy(listing.output);
    if (result == 0 && !listing.all_delivered)
        result = err_exit_status(ERR_UNMET);
    return result;
}

static int notify(const struct cli *cli, const struct run_view *view,
                  const struct options *options, struct err *err)
{
    struct spec spec;
    int result = run_read_spec(view->store, view->row.id, &spec, err);

    if (result == 0 && spec.experiment->receiver_count == 0)
        result = err_set(err, ERR_USAGE,
                         "run '%s' has no receivers: missing key 'notify'",
                         view->row.name);
    if (result == 0)
        result = send_waiting(cli, view->row.id, options->test, err);
    if (result == 0)
        result = list(cli, view, spec.experiment, err);
    spec_clear(&spec);
    return result;
}

static int exec_notify(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)count;
    if (status == 0)
        status = notify(cli, &view, options, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_notify = {
    .name = "notify",
    .operands = "RUN",
    .summary = "send the notifications of a run, and list them",
    .details = "A run sends notifications to the receivers under 'notify' "
               "in its file, and repeats each until the receiver accepts "
               "it. If the engine ends first, the next engine or this "
               "command sends the rest. The list shows the state of every "
               "notification.\n\n"
               "Exit status: 0 all are delivered; 6 some are not.",
    .examples = "smtune notify last\n"
                "smtune notify last --test   # does the address work?\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .has_loop = true,
    .exec = exec_notify,
};
