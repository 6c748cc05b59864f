/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune run`: a new run of a file, or the continuation of its last one.
 *
 * Options about steps (--from, --only, --force) become assignments of --set,
 * and the file is loaded again with them. So the record holds what was run, and
 * a resumed run does the same. cli/drive/resume_prompt.c decides between a new
 * run and an earlier one. With --detach the process forks before it opens the
 * store, because a database must not be open across a fork.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/drive/background.h"
#include "cli/drive/detach.h"
#include "cli/drive/foreground.h"
#include "cli/drive/log_options.h"
#include "cli/drive/resume_prompt.h"
#include "cli/drive/run_again.h"
#include "cli/drive/run_end.h"
#include "cli/drive/warm_start_view.h"
#include "cli/plan/plan.h"
#include "orchestrator/run/reopen.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec.h"
#include "orchestrator/steps/child_run.h"
#include "store/store.h"

struct options {
    struct opt_texts set;
    const char *name;
    bool dry_run;
    bool detach;
    bool resume;
    bool failed;
    const char *from, *only;
    struct opt_texts force;
    bool touch;
    const char *below;
    struct log_options log;
};

struct request {
    struct spec *spec;
    struct run_order order;
    int64_t earlier; /* the run to go on with; 0: a new one */
    bool retry;      /* what has failed in that */
};

static const struct opt opts[] = {
    DRIVE_OPT_SET(struct options, set),
    {"name", 'n', OPT_TEXT, offsetof(struct options, name), "NAME",
     "name of the run (default: that of the file, numbered)", 0, NULL},
    {"dry-run", 0, OPT_FLAG, offsetof(struct options, dry_run), NULL,
     "check the file and show the plan; start nothing", 0, NULL},
    BACKGROUND_OPT_DETACH(struct options, detach),
    {"resume", 'r', OPT_FLAG, offsetof(struct options, resume), NULL,
     "resume the run of that name, if it exists, without asking", 0, NULL},
    {"failed", 0, OPT_FLAG, offsetof(struct options, failed), NULL,
     "continue the last run of the file, and retry its failed "
     "jobs",
     0, NULL},
    {"from", 0, OPT_TEXT, offsetof(struct options, from), "STEP",
     "run this step of a workflow and the steps that need it, "
     "with the results of the last run for the others",
     0, NULL},
    {"only", 0, OPT_TEXT, offsetof(struct options, only), "STEP",
     "run only this step, with the results of the last run for "
     "the others",
     0, NULL},
    {"force", 0, OPT_TEXTS, offsetof(struct options, force), "STEP",
     "run this step even on a cache hit; may be repeated", 0, NULL},
    {"touch", 0, OPT_FLAG, offsetof(struct options, touch), NULL,
     "accept the files that exist as made, and run no command", 0, NULL},
    LOG_OPTIONS(struct options, log),
    {"below", 0, OPT_TEXT, offsetof(struct options, below), "RUN:JOB", NULL, 0,
     NULL},
    {0},
};

static struct run *go_on(const struct cli *cli, const struct request *request,
                         struct store *store, struct err *err)
{
    const struct reopen_request all = {.all_failed = true};
    struct run *run = foreground_open(cli, store, request->earlier, err);
    size_t count;

    if (run == NULL || !request->retry ||
        reopen_trials(store, run->id, run->workflow, &all, &count, err) == 0)
        return run;
    err_prefix(err, "run '%s'", run->name);
    run_close(run);
    return NULL;
}

/* A new run of the file, which it takes over, or the one of the record that is
 * to go on. */
static struct run *open_run(const struct cli *cli,
                            const struct request *request, struct store *store,
                            struct err *err)
{
    struct run *run;

    if (request->earlier != 0)
        return go_on(cli, request, store, err);
    run = run_create(store, request->spec, &request->order, err);
    if (run != NULL && !cli->quiet)
        warm_start_view_print(stderr, "smtune: ", run->experiment, run->warm);
    return run;
}

static int run_here(const struct cli *cli, const struct request *request,
                    struct detach *detach, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_CREATE, err);
    struct run *run = NULL;
    int result = -1;

    if (store != NULL)
        run = open_run(cli, request, store, err);
    if (run != NULL &&
        (detach == NULL || background_tell(cli, run, detach, err) == 0))
        result = foreground_run(cli, run, err);
    run_close(run);
    store_close(store);
    return result;
}

static int run(const struct cli *cli, const struct request *request,
               bool detached, struct err *err)
{
    struct detach detach = {0};

    if (!detached)
        return run_here(cli, request, NULL, err);
    if (detach_fork(&detach, err) != 0)
        return -1;
    return detach.child > 0 ? detach_wait(&detach)
                            : run_here(cli, request, &detach, err);
}

static int run_or_resume(const struct cli *cli, const struct options *options,
                         struct spec *spec, struct err *err)
{
    struct request request = {
        .spec = spec,
        .order = {.name = options->name},
    };
    const struct resume_prompt prompt = {spec, &request.order, options->resume,
                                         options->failed};
    enum resume_answer answer;

    if (options->below != NULL &&
        child_run_parse(options->below, &request.order.parent,
                        &request.order.parent_job, err) != 0)
        return -1;
    answer = resume_prompt_ask(cli, &prompt, &request.earlier, err);
    if (answer == RESUME_ERROR)
        return -1;
    if (answer == RESUME_NOTHING)
        return run_end_print_over(cli, request.earlier, err);
    request.retry = answer == RESUME_RETRY;
    return run(cli, &request, options->detach, err);
}

static void add_word(struct opt_texts *set, const char *word)
{
    const char **items = mem_array(set->count + 1, sizeof(*items));

    if (set->count > 0)
        memcpy(items, set->items, set->count * sizeof(*items));
    items[set->count++] = word;
    free(set->items);
    set->items = items;
}

/* The --set word of --force. */
static char *force_word(const struct opt_texts *force)
{
    json_t *steps = json_array();
    struct buf word = BUF_INIT;

    for (size_t i = 0; i < force->count; i++)
        json_array_append_new(steps, json_from_text(force->items[i]));
    buf_add_string(&word, "refresh=");
    json_print(steps, &word);
    json_decref(steps);
    return buf_take(&word);
}

/* That of --from and --only; *word stays NULL where neither is given. */
static int again_word(const struct cli *cli, const struct options *options,
                      const struct spec *spec, char **word, struct err *err)
{
    const struct run_again again = {options->from, options->only};

    *word = NULL;
    if (again.from == NULL && again.only == NULL)
        return 0;
    if (again.from != NULL && again.only != NULL)
        return err_set(err, ERR_USAGE, "--from and --only exclude each other");
    *word = run_again_plan(cli, spec, &again, err);
    return *word != NULL ? 0 : -1;
}

/* That of --touch; *word stays NULL without it. */
static int touch_word(const struct options *options, const struct spec *spec,
                      char **word, struct err *err)
{
    if (!options->touch)
        return 0;
    if (spec->workflow == NULL)
        return err_set(err, ERR_USAGE,
                       "--touch is only for workflows: no file shows the "
                       "result of a trial");
    if (options->from != NULL || options->only != NULL || options->failed)
        return err_set(err, ERR_USAGE, "--touch and --%s exclude each other",
                       options->failed         ? "failed"
                       : options->from != NULL ? "from"
                                               : "only");
    *word = mem_copy_string("touch=true");
    return 0;
}

enum { WORDS = 3 };

/* What the options say of steps becomes a part of the file. */
static int apply_options(const struct cli *cli, const char *path,
                         struct options *options, char **words,
                         struct spec *spec, struct err *err)
{
    if (touch_word(options, spec, &words[2], err) != 0 ||
        again_word(cli, options, spec, &words[0], err) != 0)
        return -1;
    if (options->force.count > 0)
        words[1] = force_word(&options->force);
    if (words[0] == NULL && words[1] == NULL && words[2] == NULL)
        return 0;
    for (int i = 0; i < WORDS; i++) {
        if (words[i] != NULL)
            add_word(&options->set, words[i]);
    }
    spec_clear(spec);
    return foreground_load(cli, path, &options->set, spec, err);
}

static int run_file(const struct cli *cli, const char *path,
                    struct options *options, struct spec *spec, struct err *err)
{
    char *words[WORDS] = {NULL};
    int result = apply_options(cli, path, options, words, spec, err);

    if (result == 0 && options->dry_run)
        result = plan_print(cli, spec,
                            &(struct plan_order){.name = options->name}, err);
    else if (result == 0)
        result = run_or_resume(cli, options, spec, err);
    for (int i = 0; i < WORDS; i++)
        free(words[i]);
    return result;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    struct options options = *(const struct options *)given;
    const struct cli own = log_options_apply(cli, &options.log);
    struct opt_texts set = {0};
    struct spec spec;
    int result;

    (void)count;
    for (size_t i = 0; i < options.set.count; i++)
        add_word(&set, options.set.items[i]);
    options.set = set;
    result = foreground_load(&own, operands[0], &options.set, &spec, err);
    if (result == 0)
        result = run_file(&own, operands[0], &options, &spec, err);
    spec_clear(&spec);
    free(options.set.items);
    return result;
}

const struct cmd cmd_run = {
    .name = "run",
    .operands = "FILE",
    .summary = "run an experiment or a workflow",
    .details = "An experiment evaluates settings of its parameters until "
               "its budget is used up. Progress goes to stderr, and the "
               "best trials are shown at the end. A workflow runs each "
               "step when the steps that it needs have ended. At the end "
               "it shows the outputs of each step, or why it failed.\n\n"
               "--from, --only and --failed run a part of a workflow "
               "again. The other steps keep the results of the last run, "
               "unless they or steps that they need have changed. --touch "
               "takes the files that exist for the results of their steps; a "
               "step that lacks a file fails, and --failed runs it later.\n\n"
               "Ctrl-C once starts no new trials and lets running ones "
               "finish, twice stops them, three times kills them. `smtune "
               "resume` continues the run afterwards, and after a crash. "
               "`smtune run` of the same file asks on a terminal whether "
               "to resume, and with --resume does so without asking.\n\n"
               "With -o json the result is one object on stdout, also if "
               "--resume finds that the run has ended.\n\n"
               "Exit status: 0 done; 1 the run failed; 3 the file has "
               "errors; 6 the target was not reached, or no trial "
               "succeeded; 130 or 143 stopped.",
    .examples = "smtune run experiment.yaml\n"
                "smtune run experiment.yaml --set budget.trials=100 --name "
                "long\n"
                "smtune run experiment.yaml --detach    # then smtune "
                "status\n"
                "smtune run experiment.yaml --resume    # start or resume "
                "it\n"
                "smtune run experiment.yaml --dry-run   # only show the "
                "plan\n"
                "smtune run pipeline.yaml --from train  # and steps that "
                "need it\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .has_loop = true,
    .exec = exec,
};
