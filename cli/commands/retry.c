/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune retry`. Like resume.c it asks the engine first and takes over the
 * run only without one. The request has an id, and a repetition is answered
 * from the record. A retry that took effect just before the engine crashed is
 * not made twice. The view of the run is closed before a fork, because a
 * database must not be open across it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/drive/background.h"
#include "cli/drive/file_difference.h"
#include "cli/drive/log_options.h"
#include "cli/show/jobs/job_numbers.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/run/control_once.h"
#include "orchestrator/run/reopen.h"
#include "orchestrator/run/run.h"
#include "store/store.h"

enum { LIMIT_MS = 20000 }; /* a disk may be slow, or the engine busy */

struct options {
    bool failed, force, detach;
    struct log_options log;
};

static const struct opt opts[] = {
    {"failed", 0, OPT_FLAG, offsetof(struct options, failed), NULL,
     "all failed trials or jobs", 0, NULL},
    {"force", 0, OPT_FLAG, offsetof(struct options, force), NULL,
     "also successful ones", 0, NULL},
    BACKGROUND_OPT_DETACH(struct options, detach),
    LOG_OPTIONS(struct options, log),
    {0},
};

static void say(const struct cli *cli, const char *run, bool is_workflow,
                int64_t count)
{
    if (!cli->quiet)
        fprintf(stderr, "smtune: run '%s': %" PRId64 " %s%s again\n", run,
                count, is_workflow ? "job" : "trial",
                count == 1 ? " runs" : "s run");
}

static json_t *request_json(const struct reopen_request *request)
{
    json_t *numbers = json_array();

    for (size_t i = 0; i < request->count; i++)
        json_array_append_new(numbers, json_integer(request->numbers[i]));
    return json_pack("{s:s, s:o, s:b, s:b}", "op", "retry", "trials", numbers,
                     "failed", (int)request->all_failed, "force",
                     (int)request->even_succeeded);
}

static enum control_outcome retry_live(const struct cli *cli,
                                       const struct run_view *view,
                                       const struct reopen_request *request,
                                       struct err *err)
{
    char *directory = store_run_directory(view->store, view->row.name);
    const struct control_order order = {view->store, view->row.id, directory,
                                        LIMIT_MS};
    json_t *reply = NULL;
    enum control_outcome outcome =
        control_call_once(&order, request_json(request), &reply, err);

    if (reply != NULL)
        say(cli, view->row.name, run_is_workflow(&view->row),
            json_integer_value(json_object_get(reply, "count")));
    if (outcome == CONTROL_ERROR)
        err_prefix(err, "run '%s'", view->row.name);
    json_decref(reply);
    free(directory);
    return outcome;
}

struct retrying {
    const struct cli *cli;
    const struct reopen_request *request;
};

static int begin(struct run *run, void *user, struct err *err)
{
    const struct retrying *retrying = user;
    size_t count;

    if (reopen_trials(run->store, run->id, run->workflow, retrying->request,
                      &count, err) != 0)
        return err_prefix(err, "run '%s'", run->name);
    say(retrying->cli, run->name, run->workflow != NULL, (int64_t)count);
    return 0;
}

/* What the operands name, as numbers. */
static int find_numbers(const struct run_view *view, char **operands, int count,
                        const struct options *options,
                        struct job_numbers *numbers, struct err *err)
{
    if (run_is_workflow(&view->row))
        return job_numbers_find(view, operands, count, options->force, numbers,
                                err);
    for (int i = 0; i < count; i++) {
        int64_t number;

        if (run_parse_trial(operands[i], &number, err) != 0)
            return -1;
        job_numbers_add(numbers, number);
    }
    return 0;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    const struct cli own = log_options_apply(cli, &options->log);
    struct job_numbers numbers = {0};
    struct reopen_request request = {
        .all_failed = options->failed,
        .even_succeeded = options->force,
    };
    struct retrying retrying = {cli, &request};
    struct background_task first = {begin, &retrying};
    enum control_outcome outcome = CONTROL_DONE;
    struct run_view view;
    int64_t id;
    int result;

    if (count == 1 && !options->failed)
        return err_set(err, ERR_USAGE,
                       "missing JOB: numbers or names of trials or jobs, or "
                       "--failed");
    result = run_view_open(&view, cli, operands[0], err);
    if (result == 0)
        result = find_numbers(&view, operands + 1, count - 1, options, &numbers,
                              err);
    if (result == 0)
        file_difference_warn(cli, view.store, view.row.id);
    request.numbers = numbers.items;
    request.count = numbers.count;
    if (result == 0)
        outcome = retry_live(cli, &view, &request, err);
    id = view.row.id;
    run_view_close(&view); /* before anything forks */
    if (outcome == CONTROL_ERROR)
        result = -1;
    else if (outcome != CONTROL_DONE)
        result =
            background_go_on(&own, id, options->detach,
                             outcome == CONTROL_NO_ENGINE ? &first : NULL, err);
    job_numbers_clear(&numbers);
    return result;
}

const struct cmd cmd_retry = {
    .name = "retry",
    .operands = "RUN [JOB...]",
    .summary = "run finished trials or jobs again",
    .details = "A trial that failed, was stopped or was cancelled starts "
               "again, with the same setting, its checkpoints, and all "
               "its retries. Its new result replaces the old one, in the "
               "search too.\n\n"
               "If the run has an engine, the engine starts the trials at "
               "once. Otherwise the run is resumed. If the budget is used "
               "up, only these trials run.\n\n"
               "In a workflow a JOB is a step, its copy STEP[3], its "
               "second round STEP#2, or a number. A step with several "
               "copies means its failed copies. All steps that depend on "
               "the step run again after it. --failed includes jobs that "
               "the end of the time budget stopped, or their step (fail_fast: "
               "kill).",
    .examples = "smtune retry mnist 7 12\n"
                "smtune retry mnist --failed    # after you fix the cause\n"
                "smtune retry mnist 3 --force   # although it succeeded\n"
                "smtune retry nightly train[3]  # of a workflow\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .has_loop = true,
    .exec = exec,
};
