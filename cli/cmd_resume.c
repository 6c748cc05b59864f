/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/background.h"
#include "cli/cmd.h"
#include "cli/run_below.h"
#include "cli/run_view.h"
#include "orchestrator/budget_change.h"
#include "orchestrator/control_link.h"
#include "orchestrator/run.h"
#include "store/store.h"

struct options {
    int64_t trials; /* 0: as many as it has */
    bool detach;
};

static const struct opt opts[] = {
    {"trials", 0, OPT_INT, offsetof(struct options, trials), "N",
     "give the run's budget so many trials in all, more or fewer than it has",
     1, NULL},
    BACKGROUND_OPT_DETACH(struct options, detach),
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
    store_close(store);
    return result;
}

static void resume_below(const struct cli *cli, int64_t id)
{
    struct store *store = store_open(cli->store, STORE_READ, NULL);

    if (store != NULL)
        run_below_tell(store, id, json_pack("{s:s}", "op", "resume"));
    store_close(store);
}

static void say_trials(const struct cli *cli, const char *run, int64_t trials)
{
    if (trials > 0 && !cli->quiet)
        fprintf(stderr,
                "smtune: run '%s': its budget is %" PRId64 " trial%s now\n",
                run, trials, trials == 1 ? "" : "s");
}

/* 1 when the run has no engine. */
static int resume_live(const struct cli *cli, const struct found *found,
                       int64_t trials, struct err *err)
{
    json_t *request = json_pack("{s:s}", "op", "resume");
    json_t *reply = NULL;
    bool was_paused;
    int result;

    if (trials > 0)
        json_object_set_new(request, "trials", json_integer(trials));
    result = control_call(found->directory, request, NULL, &reply, err);
    was_paused = json_is_true(json_object_get(reply, "was_paused"));
    json_decref(reply);
    if (result != 0)
        return result < 0 ? err_prefix(err, "run '%s'", found->name) : 1;
    if (!was_paused && trials == 0)
        return err_set(err, ERR_BUSY,
                       "run '%s' runs already (smtune attach %s shows it)",
                       found->name, found->name);
    say_trials(cli, found->name, trials);
    if (was_paused)
        resume_below(cli, found->id);
    if (!cli->quiet)
        fprintf(stderr,
                "smtune: run '%s' goes on (smtune attach %s shows it)\n",
                found->name, found->name);
    return 0;
}

struct changing {
    const struct cli *cli;
    int64_t trials;
};

static int change_budget(struct run *run, void *user, struct err *err)
{
    const struct changing *changing = user;

    if (budget_change_trials(run, changing->trials, err) != 0)
        return err_prefix(err, "run '%s'", run->name);
    say_trials(changing->cli, run->name, changing->trials);
    return 0;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    struct changing changing = {cli, options->trials};
    const struct background_task change = {change_budget, &changing};
    struct found found = {0};
    int result = find(cli, operands[0], &found, err);

    (void)count;
    if (result == 0)
        result = resume_live(cli, &found, options->trials, err);
    if (result == 1 && found.is_over && options->trials == 0) {
        fprintf(stderr,
                "smtune: run '%s' has ended; there is nothing left to do\n",
                found.name);
        result = 0;
    } else if (result == 1) {
        result = background_go_on(cli, found.id, options->detach,
                                  options->trials > 0 ? &change : NULL, err);
    }
    free(found.name);
    free(found.directory);
    return result;
}

const struct cmd cmd_resume = {
    .name = "resume",
    .operands = "RUN",
    .summary = "go on with a run that is paused, stopped or lost its engine",
    .details =
        "Trials that still run are taken over, those that ended meanwhile are "
        "counted, those that were interrupted start again with their "
        "checkpoints, and the rest follows as if nothing had happened.\n\n"
        "A paused run goes on where its engine is.\n\n"
        "With --trials a run tries more settings than its file says, or fewer, "
        "be it stopped, still under way, or over because all its trials were "
        "tried. The search goes on as it was planned by the file's number. A "
        "run that has ended for another reason, because its target was "
        "reached, say, stays as it is.",
    .examples = "smtune resume mnist\n"
                "smtune resume mnist --detach    # in the background\n"
                "smtune resume mnist --trials 200    # in all\n"
                "smtune resume last\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .has_loop = true,
    .exec = exec,
};
