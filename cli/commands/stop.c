/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune stop`. A run with an engine is stopped by a signal to it, and waited
 * for. A run whose engine crashed has nobody to signal: this process then takes
 * the run over and stops the trials that are left (cli/drive/foreground.h). The
 * two cases may change while the command waits, so the state is read again
 * after the engine has ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/process_hold.h"
#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/show/jobs/job_numbers.h"
#include "cli/show/jobs/run_jobs.h"
#include "cli/show/run/run_outcome.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/cancel_jobs.h"
#include "orchestrator/run/control_once.h"
#include "store/engine_lock.h"
#include "store/store.h"

enum {
    LIMIT_MS = 20000, /* a disk may be slow, or the engine busy */
    LOOK_MS = 20
};

struct options {
    bool drain;
    bool no_wait;
    struct opt_texts jobs;
};

static const struct opt opts[] = {
    {"drain", 'd', OPT_FLAG, offsetof(struct options, drain), NULL,
     "let running trials finish; only start no new ones", 0, NULL},
    {"no-wait", 0, OPT_FLAG, offsetof(struct options, no_wait), NULL,
     "do not wait until the engine ends", 0, NULL},
    {"job", 'j', OPT_TEXTS, offsetof(struct options, jobs), "JOB",
     "stop this trial or job alone, for good; the run continues", 0, NULL},
    {0},
};

/* Where the process has no descriptor, its lock is looked at until it is free
 * or somebody else's. */
static void await_end(const char *directory, const struct process_hold *engine)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    struct pollfd gone = {.fd = engine->fd, .events = POLLIN};
    int64_t pid = engine->pid;

    if (engine->fd >= 0) {
        while (poll(&gone, 1, -1) < 0 && errno == EINTR)
            continue;
        return;
    }
    while (engine_lock_probe(directory, &pid, NULL) > 0 && pid == engine->pid)
        nanosleep(&pause, NULL);
}

/*
 * Signals the run's engine, which is held first, then checked that the lock is
 * still held by that pid, so that no stranger is ever signalled. 1: there is no
 * engine.
 */
static int signal_engine(const char *directory, const struct options *options,
                         struct err *err)
{
    int64_t pid, same_pid;
    int held = engine_lock_probe(directory, &pid, err);
    struct process_hold engine;
    int result = 0;

    if (held <= 0 || pid == 0)
        return held < 0 ? -1 : 1;
    if (process_hold(&engine, (pid_t)pid) != 0)
        return errno == ESRCH ? 1
                              : err_set_errno(err, ERR_FAILED, errno,
                                              "cannot reach the engine (pid "
                                              "%" PRId64 ")",
                                              pid);
    held = engine_lock_probe(directory, &same_pid, err);
    if (held <= 0 || same_pid != pid)
        result = held < 0 ? -1 : 1;
    else if (process_hold_signal(&engine, options->drain ? SIGINT : SIGTERM) !=
             0)
        result =
            err_set_errno(err, ERR_FAILED, errno,
                          "cannot signal the engine (pid %" PRId64 ")", pid);
    if (result == 0 && !options->no_wait)
        await_end(directory, &engine);
    process_hold_release(&engine);
    return result;
}

static void say(const struct cli *cli, const struct run_outcome *run,
                bool was_told, bool is_waited)
{
    if (!was_told)
        fprintf(stderr, "smtune: run '%s' is not running\n", run->name);
    else if (is_waited && strcmp(run->state, run_state_names[RUN_STOPPED]) != 0)
        fprintf(stderr, "smtune: run '%s' ended by itself meanwhile: it %s\n",
                run->name, run->state);
    else if (!cli->quiet)
        fprintf(stderr, "smtune: run '%s' %s (resume it: smtune %s %s)\n",
                run->name, is_waited ? "stopped" : "is being stopped",
                run->is_asked ? "suggest --stdio --record" : "resume",
                run->name);
}

static int stop_run(const struct cli *cli, struct store *store, int64_t id,
                    const struct options *options, struct err *err)
{
    struct run_outcome run = {NULL};
    char *directory;
    int result, told;

    if (run_outcome_read(&run, store, id, err) != 0)
        return -1;
    directory = store_run_directory(store, run.name);
    result = told = engine_lock_check_owner(directory, err) == 0
                        ? signal_engine(directory, options, err)
                        : err_prefix(err, "run '%s'", run.name);
    if (told == 0 && !options->no_wait)
        result = run_outcome_read(&run, store, id, err);
    /* its engine may have died of something else while it was waited for */
    if (result >= 0 && (told == 1 || !options->no_wait) &&
        strcmp(run.state, run_state_names[RUN_RUNNING]) == 0)
        result = foreground_stop_orphans(cli, id, err);
    else if (result >= 0)
        say(cli, &run, told == 0, !options->no_wait);
    free(directory);
    run_outcome_clear(&run);
    return result < 0 ? -1 : 0;
}

/* ---- one job ---- */

static int find_numbers(const struct run_view *view,
                        const struct opt_texts *jobs,
                        struct job_numbers *numbers, struct err *err)
{
    for (size_t i = 0; i < jobs->count; i++) {
        struct run_job job = {0};
        int64_t number = 0;
        int result = run_is_workflow(&view->row)
                         ? run_jobs_find(view, jobs->items[i], &job, err)
                         : run_parse_trial(jobs->items[i], &number, err);

        if (result == 0)
            job_numbers_add(numbers, number != 0 ? number : job.number);
        run_job_clear(&job);
        if (result != 0)
            return -1;
    }
    return 0;
}

/* Holding the run's lock, so that no engine begins meanwhile. */
static int record(const struct run_view *view,
                  const struct job_numbers *numbers, struct err *err)
{
    char *directory = store_run_directory(view->store, view->row.name);
    int lock = engine_lock_take(directory, err), result = -1;
    struct store *store = NULL;

    if (lock >= 0)
        store = store_open(store_directory(view->store), STORE_WRITE, err);
    if (store != NULL)
        result = cancel_jobs(store, view->row.id, numbers->items,
                             numbers->count, err);
    store_close(store);
    if (lock >= 0)
        close(lock);
    free(directory);
    return result;
}

static enum control_outcome ask_engine(const struct run_view *view,
                                       const struct job_numbers *numbers,
                                       struct err *err)
{
    char *directory = store_run_directory(view->store, view->row.name);
    const struct control_order order = {view->store, view->row.id, directory,
                                        LIMIT_MS};
    json_t *list = json_array(), *reply = NULL;
    enum control_outcome outcome;

    for (size_t i = 0; i < numbers->count; i++)
        json_array_append_new(list, json_integer(numbers->items[i]));
    outcome = control_call_once(
        &order, json_pack("{s:s, s:o}", "op", "cancel", "trials", list), &reply,
        err);
    json_decref(reply);
    free(directory);
    return outcome;
}

static int stop_jobs(const struct cli *cli, const struct run_view *view,
                     const struct opt_texts *jobs, struct err *err)
{
    struct job_numbers numbers = {0};
    enum control_outcome outcome = CONTROL_ERROR;
    int result = find_numbers(view, jobs, &numbers, err);

    if (result == 0)
        outcome = ask_engine(view, &numbers, err);
    if (outcome == CONTROL_NO_ENGINE)
        result = record(view, &numbers, err);
    else if (outcome == CONTROL_ERROR)
        result = -1;
    if (result == 0 && !cli->quiet)
        fprintf(stderr, "smtune: run '%s': %zu job%s stopped%s%s\n",
                view->row.name, numbers.count,
                numbers.count == 1 ? " is" : "s are",
                outcome == CONTROL_DONE ? ""
                                        : " as soon as it resumes: smtune "
                                          "resume ",
                outcome == CONTROL_DONE ? "" : view->row.name);
    job_numbers_clear(&numbers);
    return result == 0 ? 0 : err_prefix(err, "run '%s'", view->row.name);
}

static int exec_jobs(const struct cli *cli, const struct options *options,
                     char **operands, int count, struct err *err)
{
    struct run_view view;
    int result;

    if (count != 1 || options->drain || options->no_wait)
        return err_set(err, ERR_USAGE,
                       "--job takes one RUN, and neither --drain nor "
                       "--no-wait");
    result = run_view_open(&view, cli, operands[0], err);
    if (result == 0)
        result = stop_jobs(cli, &view, &options->jobs, err);
    run_view_close(&view);
    return result;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    struct store *store;
    int result = 0;

    if (options->jobs.count > 0)
        return exec_jobs(cli, options, operands, count, err);
    store = store_open(cli->store, STORE_READ, err);
    if (store == NULL)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        int64_t id;

        result = store_find_run(store, operands[i], &id, err);
        if (result == 0)
            result = stop_run(cli, store, id, given, err);
    }
    store_close(store);
    return result;
}

const struct cmd cmd_stop = {
    .name = "stop",
    .operands = "RUN...",
    .summary = "stop runs; smtune resume continues them",
    .details = "Stops running trials (SIGTERM, and SIGKILL after their "
               "grace period). They start again when you resume the run. "
               "If the engine of a run crashed, its remaining trials are "
               "stopped.\n\n"
               "With --job only these trials or jobs are stopped, and they "
               "stay cancelled: the run continues without them. 'smtune "
               "retry' starts them again. If the run has no engine, they are "
               "stopped when you resume it.",
    .examples = "smtune stop mnist            # stop its trials now\n"
                "smtune stop mnist --drain    # let running trials finish\n"
                "smtune stop last             # the newest run\n"
                "smtune stop mnist --job 7    # trial 7 alone\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .has_loop = true,
    .exec = exec,
};
