/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/drive/run_end.h"
#include "cli/drive/watcher.h"
#include "cli/show/run/run_outcome.h"
#include "cli/term/signals.h"
#include "orchestrator/engine/status_json.h"
#include "orchestrator/run/control_link.h"
#include "orchestrator/run/run.h"
#include "store/store.h"

/*
 * Shows what the run's engine says on its socket. Signals come through a
 * descriptor, so that Ctrl-C ends no more than the showing.
 */

struct attached {
    struct store *store;
    int64_t run;
    struct run_outcome outcome; /* of the record, as it was */
    struct spec spec;
    struct control_link *link;
    struct watcher *watcher;
    int signals;
    struct status_json status; /* the last one */
    struct status_json last;   /* the run's end, once it has come */
};

/* What it points to is in it, wherever it is. */
static void keep_status(struct attached *attached,
                        const struct status_json *line)
{
    struct status_json *status = &attached->status;

    status_json_clear(status);
    *status = *line;
    status->status.tally = &status->tally;
    if (status->status.steps != NULL)
        status->status.steps = &status->steps;
}

static int show_line(struct attached *attached, const char *text, size_t length,
                     struct err *err)
{
    struct status_json line;
    int result =
        status_json_read(&line, attached->spec.experiment, text, length, err);

    if (result != 0) {
        status_json_clear(&line);
        return -1;
    }
    if (strcmp(line.event, "status") == 0) {
        keep_status(attached, &line);
        watcher_tick(attached->watcher, &attached->status.status);
    } else if (strcmp(line.event, "ended") == 0) {
        attached->last = line;
    } else {
        if (attached->status.json != NULL)
            watcher_trial_ended(attached->watcher, &line.trial,
                                &attached->status.status);
        status_json_clear(&line);
    }
    return 0;
}

static int show_lines(struct attached *attached, struct err *err)
{
    const char *line;
    size_t length;
    int result = 0;

    while (result == 0 && attached->last.json == NULL &&
           (line = control_next_line(attached->link, &length)) != NULL)
        result = show_line(attached, line, length, err);
    return result;
}

/* The signal that ended it, 0 when the run has ended or the engine is gone. */
static int show(struct attached *attached, struct err *err)
{
    struct pollfd files[] = {
        {.fd = control_descriptor(attached->link), .events = POLLIN},
        {.fd = attached->signals, .events = POLLIN},
    };

    while (attached->last.json == NULL) {
        int signal_number = 0;

        if (show_lines(attached, err) != 0)
            return -1;
        if (attached->last.json != NULL)
            break;
        if (poll(files, 2, -1) < 0 && errno != EINTR)
            return err_set_errno(err, ERR_FAILED, errno, "cannot wait");
        if (files[1].revents != 0)
            signal_number = signals_read(attached->signals);
        if (signal_number != 0)
            return signal_number;
        if (files[0].revents != 0 && control_take(attached->link) != 0)
            break;
    }
    return 0;
}

static int say_detached(const struct cli *cli, const char *name,
                        int signal_number)
{
    if (!cli->quiet)
        fprintf(stderr,
                "smtune: detached; run '%s' is still running (show it: "
                "smtune attach %s, stop it: smtune stop %s)\n",
                name, name, name);
    return 128 + signal_number;
}

static int engine_is_gone(const char *name, struct err *err)
{
    return err_set(err, ERR_FAILED,
                   "run '%s' lost its engine (resume it: smtune resume %s)",
                   name, name);
}

static int follow(const struct cli *cli, struct attached *attached,
                  struct err *err)
{
    const char *name = attached->outcome.name;
    int result;

    if (run_read_spec(attached->store, attached->run, &attached->spec, err) !=
        0)
        return -1;
    attached->watcher = watcher_create(cli, &attached->spec, name,
                                       attached->store, attached->run, err);
    if (attached->watcher == NULL)
        return -1;
    attached->signals = signals_open();
    result = show(attached, err);
    watcher_destroy(attached->watcher);
    attached->watcher = NULL;
    if (result > 0)
        return say_detached(cli, name, result);
    if (result < 0)
        return -1;
    if (attached->last.json == NULL)
        return engine_is_gone(name, err);
    return run_end_print(cli,
                         &(struct run_end){.store = attached->store,
                                           .run = attached->run,
                                           .name = name,
                                           .spec = &attached->spec,
                                           .result = &attached->last.result},
                         err);
}

/* Nobody is there to be followed. */
static int show_record(const struct cli *cli, struct attached *attached,
                       struct err *err)
{
    if (run_outcome_read(&attached->outcome, attached->store, attached->run,
                         err) != 0)
        return -1;
    if (strcmp(attached->outcome.state, run_state_names[RUN_RUNNING]) == 0)
        return engine_is_gone(attached->outcome.name, err);
    if (run_end_print_recorded(cli, attached->store, attached->run, err) != 0)
        return -1;
    return run_outcome_status(&attached->outcome);
}

static int attach(const struct cli *cli, struct attached *attached,
                  const char *selector, struct err *err)
{
    char *directory;
    int result;

    if (store_find_run(attached->store, selector, &attached->run, err) != 0 ||
        run_outcome_read(&attached->outcome, attached->store, attached->run,
                         err) != 0)
        return -1;
    directory = store_run_directory(attached->store, attached->outcome.name);
    result = control_call(directory, json_pack("{s:s}", "op", "subscribe"),
                          &attached->link, NULL, err);
    free(directory);
    if (result < 0)
        return err_prefix(err, "run '%s'", attached->outcome.name);
    return result == 1 ? show_record(cli, attached, err)
                       : follow(cli, attached, err);
}

static int exec(const struct cli *cli, const void *options, char **operands,
                int count, struct err *err)
{
    struct attached attached = {.signals = -1};
    int result = -1;

    (void)options, (void)count;
    attached.store = store_open(cli->store, STORE_READ, err);
    if (attached.store != NULL)
        result = attach(cli, &attached, operands[0], err);
    watcher_destroy(attached.watcher);
    control_hang_up(attached.link);
    if (attached.signals >= 0)
        close(attached.signals);
    status_json_clear(&attached.status);
    status_json_clear(&attached.last);
    spec_clear(&attached.spec);
    run_outcome_clear(&attached.outcome);
    store_close(attached.store);
    return result;
}

const struct cmd cmd_attach = {
    .name = "attach",
    .operands = "RUN",
    .summary = "show the progress of a run in the background",
    .details = "Shows the progress of a run that runs in the background "
               "or in another terminal, until it ends. It then prints the "
               "results and exits with the status of the run. Ctrl-C ends "
               "only the display (130): the run continues.\n\n"
               "If the run has ended, its results are printed at once.",
    .examples = "smtune attach last\n",
    .completes = "run",
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec,
};
