/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune resume`. The engine is asked first, because a paused run has one.
 * Only if there is none does this process become the engine, or its parent with
 * --detach. The owner of the run changes the budget: the engine, or this
 * process after it took the engine's lock. So it changes once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/background.h"
#include "cli/drive/child_runs.h"
#include "cli/drive/file_difference.h"
#include "cli/drive/log_options.h"
#include "cli/drive/run_end.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/run/budget_change.h"
#include "orchestrator/run/control_link.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/value_check.h"
#include "store/engine_lock.h"
#include "store/store.h"

struct options {
    int64_t trials; /* 0: as many as it has */
    struct opt_duration time;
    bool detach;
    struct log_options log;
};

static const struct opt opts[] = {
    {"trials", 0, OPT_INT, offsetof(struct options, trials), "N",
     "set the trial budget to N in total, more or fewer", 1, NULL},
    {"time", 0, OPT_DURATION, offsetof(struct options, time), "TIME",
     "set the time budget in total, more or less", 1000, NULL},
    BACKGROUND_OPT_DETACH(struct options, detach),
    LOG_OPTIONS(struct options, log),
    {0},
};

struct found {
    int64_t id;
    char *name, *directory;
    bool is_over;
};

static int keep_run(void *user, const struct run_row *row)
{
    struct found *found = user;

    found->name = mem_copy_string(row->name);
    found->is_over = run_has_succeeded(row);
    return 0;
}

static int find(const struct cli *cli, const char *selector,
                struct found *found, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_READ, err);
    int result = -1;

    if (store == NULL)
        return -1;
    if (store_find_run(store, selector, &found->id, err) == 0)
        result =
            store_get_run_uncounted(store, found->id, keep_run, found, err);
    if (result == 0)
        found->directory = store_run_directory(store, found->name);
    if (result == 0 && engine_lock_check_owner(found->directory, err) != 0)
        result = err_prefix(err, "run '%s'", found->name);
    if (result == 0 && !found->is_over)
        file_difference_warn(cli, store, found->id);
    store_close(store);
    return result;
}

static void resume_child(const struct cli *cli, int64_t id)
{
    struct store *store = store_open(cli->store, STORE_READ, NULL);

    if (store != NULL)
        child_runs_tell(store, id, json_pack("{s:s}", "op", "resume"));
    store_close(store);
}

static void say_budget(const struct cli *cli, const char *run,
                       const struct budget_change *change)
{
    struct buf text = BUF_INIT;

    if (change->trials > 0)
        buf_printf(&text, "%" PRId64 " trial%s%s", change->trials,
                   change->trials == 1 ? "" : "s",
                   change->time_ms > 0 ? " and " : "");
    if (change->time_ms > 0)
        units_add_duration(change->time_ms, &text);
    if (budget_change_is_any(change) && !cli->quiet)
        fprintf(stderr, "smtune: run '%s': its budget is now %s\n", run,
                buf_text(&text));
    buf_clear(&text);
}

/* 1 when the run has no engine. */
static int resume_live(const struct cli *cli, const struct found *found,
                       const struct budget_change *change, struct err *err)
{
    json_t *request = json_pack("{s:s}", "op", "resume");
    json_t *reply = NULL;
    bool was_paused;
    int result;

    if (change->trials > 0)
        json_object_set_new(request, "trials", json_integer(change->trials));
    if (change->time_ms > 0)
        json_object_set_new(request, "time_ms", json_integer(change->time_ms));
    result = control_call(found->directory, request, NULL, &reply, err);
    was_paused = json_is_true(json_object_get(reply, "was_paused"));
    json_decref(reply);
    if (result != 0)
        return result < 0 ? err_prefix(err, "run '%s'", found->name) : 1;
    if (!was_paused && !budget_change_is_any(change))
        return err_set(
            err, ERR_BUSY,
            "run '%s' is already running (show it: smtune attach %s)",
            found->name, found->name);
    say_budget(cli, found->name, change);
    if (was_paused)
        resume_child(cli, found->id);
    if (!cli->quiet)
        fprintf(stderr,
                "smtune: run '%s' continues (show it: smtune attach %s)\n",
                found->name, found->name);
    return 0;
}

struct changing {
    const struct cli *cli;
    struct budget_change change;
};

static int change_budget(struct run *run, void *user, struct err *err)
{
    const struct changing *changing = user;

    if (run_check_values(run->experiment, run->workflow, err) != 0 ||
        budget_change_make(run, &changing->change, err) != 0)
        return err_prefix(err, "run '%s'", run->name);
    say_budget(changing->cli, run->name, &changing->change);
    return 0;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    const struct cli own = log_options_apply(cli, &options->log);
    struct changing changing = {
        cli, {.trials = options->trials, .time_ms = options->time.ms}};
    const struct background_task task = {change_budget, &changing};
    bool changes = budget_change_is_any(&changing.change);
    struct found found = {0};
    int result = find(cli, operands[0], &found, err);

    (void)count;
    if (result == 0)
        result = resume_live(cli, &found, &changing.change, err);
    if (result == 1 && found.is_over && !changes) {
        fprintf(stderr,
                "smtune: run '%s' has ended; there is nothing to resume\n",
                found.name);
        result = run_end_print_over(cli, found.id, err);
    } else if (result == 1) {
        result = background_go_on(&own, found.id, options->detach,
                                  changes ? &task : NULL, err);
    }
    free(found.name);
    free(found.directory);
    return result;
}

const struct cmd cmd_resume = {
    .name = "resume",
    .operands = "RUN",
    .summary = "continue a run that is paused, stopped or lost its engine",
    .details = "The new engine adopts trials that are still running, and "
               "counts trials that ended meanwhile. Interrupted trials "
               "restart from their checkpoints. The search continues as "
               "without the interruption.\n\n"
               "A paused run continues in the engine that it has.\n\n"
               "--trials changes the number of trials of the run, and "
               "--time its time. Both work on a stopped run, a running "
               "run, and a run that ended because that budget was used "
               "up. The search continues with the plan of the file. "
               "Trials that were stopped when the time was over stay "
               "stopped until `smtune retry`. A run that ended for "
               "another reason, for example because it reached its "
               "target, does not change.",
    .examples = "smtune resume mnist\n"
                "smtune resume mnist --detach    # in the background\n"
                "smtune resume mnist --trials 200    # in total\n"
                "smtune resume mnist --time 8h       # in total\n"
                "smtune resume last\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .has_loop = true,
    .exec = exec,
};
