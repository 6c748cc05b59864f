/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/background.h"
#include "cli/cmd.h"
#include "cli/run_outcome.h"
#include "cli/run_view.h"
#include "orchestrator/control_link.h"
#include "orchestrator/reopen.h"
#include "orchestrator/run.h"
#include "store/store.h"

struct options {
    bool failed, force, detach;
};

static const struct opt opts[] = {
    {"failed", 0, OPT_FLAG, offsetof(struct options, failed), NULL,
     "all trials that failed", 0, NULL},
    {"force", 0, OPT_FLAG, offsetof(struct options, force), NULL,
     "also trials that succeeded", 0, NULL},
    BACKGROUND_OPT_DETACH(struct options, detach),
    {0},
};

static void say(const struct cli *cli, const char *run, int64_t count)
{
    if (!cli->quiet)
        fprintf(stderr, "smtune: run '%s': %" PRId64 " trial%s again\n", run,
                count, count == 1 ? " runs" : "s run");
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

/* 1 when the run has no engine. */
static int retry_live(const struct cli *cli, const char *name,
                      const char *directory,
                      const struct reopen_request *request, struct err *err)
{
    json_t *reply = NULL;
    int result =
        control_call(directory, request_json(request), NULL, &reply, err);

    if (result == 0)
        say(cli, name, json_integer_value(json_object_get(reply, "count")));
    else if (result < 0)
        err_prefix(err, "run '%s'", name);
    json_decref(reply);
    return result;
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
    say(retrying->cli, run->name, (int64_t)count);
    return 0;
}

static int parse_numbers(char **operands, int count, int64_t *numbers,
                         struct err *err)
{
    for (int i = 0; i < count; i++) {
        if (run_parse_trial(operands[i], &numbers[i], err) != 0)
            return -1;
    }
    return 0;
}

/* The store is closed before anything forks. */
static int find(const struct cli *cli, const char *selector, int64_t *id,
                struct run_outcome *run, char **directory, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_READ, err);
    int result = -1;

    if (store == NULL)
        return -1;
    if (store_find_run(store, selector, id, err) == 0)
        result = run_outcome_read(run, store, *id, err);
    if (result == 0)
        *directory = store_run_directory(store, run->name);
    store_close(store);
    return result;
}

static int retry(const struct cli *cli, const char *selector, bool detach,
                 const struct reopen_request *request, struct err *err)
{
    struct run_outcome run = {NULL};
    struct retrying retrying = {cli, request};
    struct background_task first = {begin, &retrying};
    char *directory = NULL;
    int64_t id;
    int result = find(cli, selector, &id, &run, &directory, err);

    if (result == 0)
        result = retry_live(cli, run.name, directory, request, err);
    if (result == 1)
        result = background_go_on(cli, id, detach, &first, err);
    free(directory);
    run_outcome_clear(&run);
    return result;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    int64_t *numbers = mem_array((size_t)count, sizeof(*numbers));
    struct reopen_request request = {
        .numbers = numbers,
        .count = (size_t)count - 1,
        .all_failed = options->failed,
        .even_succeeded = options->force,
    };
    int result;

    if (request.count == 0 && !options->failed)
        result = err_set(err, ERR_USAGE,
                         "which trials? (their numbers, or --failed for all "
                         "that failed)");
    else
        result = parse_numbers(operands + 1, count - 1, numbers, err);
    if (result == 0)
        result = retry(cli, operands[0], options->detach, &request, err);
    free(numbers);
    return result;
}

const struct cmd cmd_retry = {
    .name = "retry",
    .operands = "RUN [TRIAL...]",
    .summary = "run trials again that are over",
    .details =
        "A trial that failed, was stopped or was cancelled starts again, with "
        "the same setting, its checkpoints, and all its retries anew. Its new "
        "result takes the old one's place, for the search too.\n\n"
        "Where the run still goes on, its engine takes them up at once; else "
        "the run goes on as by smtune resume. Where its budget is used up, "
        "these trials alone run.",
    .examples = "smtune retry mnist 7 12\n"
                "smtune retry mnist --failed    # the cause is mended\n"
                "smtune retry mnist 3 --force   # although it succeeded\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec,
};
