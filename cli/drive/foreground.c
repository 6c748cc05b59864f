/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a file or a recorded run to an engine, with everything shown on the way:
 * messages about the file, progress, log, outcome. The engine prints nothing
 * itself; it calls the functions in `events`.
 *
 * Trouble with the log or with the commit of the code is reported, but never
 * stops a run.
 */
#include "cli/drive/foreground.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/diag.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/drive/child_runs.h"
#include "cli/drive/log_options.h"
#include "cli/drive/run_end.h"
#include "cli/drive/watcher.h"
#include "orchestrator/ask_tell/ask_tell.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/run/origin.h"
#include "orchestrator/run/revision.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/files_check.h"
#include "store/store.h"

struct audience {
    struct watcher *watcher;
    const struct foreground_listener *listener; /* NULL: nobody else */
};

static void on_trial_ended(void *user, const struct engine_trial *trial,
                           const struct engine_status *status)
{
    const struct audience *audience = user;

    watcher_trial_ended(audience->watcher, trial, status);
    if (audience->listener != NULL)
        audience->listener->trial_ended(audience->listener->user, trial);
}

static void on_tick(void *user, const struct engine_status *status)
{
    const struct audience *audience = user;

    watcher_tick(audience->watcher, status);
}

static void on_warning(void *user, const char *text)
{
    const struct audience *audience = user;

    watcher_message(audience->watcher, text);
}

/* The log goes on without what it cannot write, and so does the run. */
static void on_log_trouble(void *user, const char *text)
{
    watcher_message(user, text);
}

static int drive(const struct cli *cli, struct run *run, bool stop_at_once,
                 const struct foreground_listener *listener,
                 struct engine_result *result, struct err *err)
{
    const struct spec spec = {run->experiment, run->workflow};
    const struct cli shown = log_options_shown(cli);
    struct watcher *watcher =
        watcher_create(&shown, &spec, run->name, run->store, run->id, err);
    struct audience audience = {watcher, listener};
    struct engine_events events = {.trial_ended = on_trial_ended,
                                   .tick = on_tick,
                                   .warn = on_warning,
                                   .user = &audience};
    int status = -1;

    if (watcher != NULL) {
        events.log = log_create(
            &cli->log, &(struct log_owner){run->name, on_log_trouble, watcher});
        status = engine_run(run, &events, stop_at_once, result, err);
    }
    log_destroy(events.log);
    watcher_destroy(watcher);
    return status;
}

static int copy_revision(void *user, const struct run_row *row)
{
    *(char **)user = mem_copy_string(row->revision);
    return 0;
}

static int note_revision(const struct cli *cli, struct run *run,
                         const char *now, struct err *err)
{
    char *before = NULL;
    int status = store_get_run_uncounted(run->store, run->id, copy_revision,
                                         &before, err);

    if (status == 0 && strcmp(before, now) != 0) {
        if (before[0] != '\0' && !cli->quiet)
            fprintf(stderr,
                    "smtune: the code is now at %s; the run started with %s\n",
                    now, before);
        status = revision_record(run, now, err);
    }
    free(before);
    return status;
}

/* Before the engine starts: the record tells of all that it does with which
 * code it was. */
static int note_origin(const struct cli *cli, struct run *run, struct err *err)
{
    char *revision = revision_of(run->work_directory);
    int status = 0;

    if (revision != NULL)
        status = note_revision(cli, run, revision, err);
    if (status == 0)
        status = origin_record(run, revision, err);
    free(revision);
    return status;
}

int foreground_check_starts(const struct run *run, struct err *err)
{
    if (!run->experiment->is_asked)
        return 0;
    return err_set(
        err, ERR_USAGE,
        "run '%s' has no trials to start, because other programs run "
        "them (continue it: smtune suggest --stdio --record %s)",
        run->name, run->name);
}

int foreground_drive(const struct cli *cli, struct run *run,
                     const struct foreground_listener *listener,
                     struct engine_result *result, struct err *err)
{
    if (foreground_check_starts(run, err) != 0)
        return -1;
    if (run->workflow != NULL)
        child_runs_tell(run->store, run->id,
                        json_pack("{s:s}", "op", "resume"));
    /* A terminal that goes away is no reason to stop. */
    signal(SIGHUP, SIG_IGN);
    if (note_origin(cli, run, err) == 0 &&
        drive(cli, run, false, listener, result, err) == 0)
        return 0;
    return err_prefix(
        err, "run '%s' could not continue (try again: smtune resume %s)",
        run->name, run->name);
}

int foreground_run(const struct cli *cli, struct run *run, struct err *err)
{
    const struct spec spec = {run->experiment, run->workflow};
    struct engine_result result;

    if (foreground_drive(cli, run, NULL, &result, err) != 0)
        return -1;
    return run_end_print(cli,
                         &(struct run_end){.store = run->store,
                                           .run = run->id,
                                           .name = run->name,
                                           .spec = &spec,
                                           .result = &result},
                         err);
}

int foreground_print_diags(const struct cli *cli, struct diags *diags)
{
    struct buf text = BUF_INIT;

    if (diags_count(diags) == 0)
        return -1;
    diags_render(diags, cli->colour_err, &text);
    fputs(buf_text(&text), stderr);
    buf_clear(&text);
    return err_exit_status(ERR_FILE);
}

/* Of a file that is right, what it says and can hardly mean. */
static void print_warnings(const struct cli *cli, const char *path,
                           const struct spec *spec)
{
    struct diags *warnings;

    if (cli->quiet)
        return;
    warnings = diags_create(path);
    diags_make_warnings(warnings);
    spec_warn(spec, warnings);
    foreground_print_diags(cli, warnings);
    diags_destroy(warnings);
}

int foreground_read(const struct experiment_source *file, struct spec *spec,
                    struct diags *diags, struct err *err)
{
    if (spec_load(spec, file, diags, err) != 0)
        return -1;
    if (spec->workflow == NULL)
        files_check(spec->experiment, diags);
    if (diags_count(diags) == 0)
        return 0;
    spec_clear(spec);
    return -1;
}

int foreground_load(const struct cli *cli, const char *path,
                    const struct opt_texts *set, struct spec *spec,
                    struct err *err)
{
    const struct experiment_source file = {
        .path = path,
        .assignments = set->items,
        .assignment_count = set->count,
        .config = cli->config,
    };
    struct diags *diags = diags_create(path);
    int status = 0;

    if (foreground_read(&file, spec, diags, err) != 0)
        status = foreground_print_diags(cli, diags);
    else
        print_warnings(cli, path, spec);
    diags_destroy(diags);
    return status;
}

static int copy_spec_path(void *user, const struct run_row *row)
{
    *(char **)user = mem_copy_string(row->spec_path);
    return 0;
}

struct run *foreground_open(const struct cli *cli, struct store *store,
                            int64_t id, struct err *err)
{
    char *path = NULL;
    struct diags *diags;
    struct run *run;

    if (store_get_run_uncounted(store, id, copy_spec_path, &path, err) != 0)
        return NULL;
    diags = diags_create(path);
    run = run_open(store, id, diags, err);
    if (run == NULL && foreground_print_diags(cli, diags) > 0)
        diags_to_err(diags, err);
    diags_destroy(diags);
    free(path);
    return run;
}

/* A session that begins and ends at once gives back what clients ran. */
static int stop_session(struct run *run, struct err *err)
{
    struct ask_tell *ask_tell = ask_tell_open(run, err);
    int status = ask_tell != NULL ? ask_tell_close(ask_tell, err) : -1;

    ask_tell_destroy(ask_tell);
    return status;
}

int foreground_stop_orphans(const struct cli *cli, int64_t id, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_WRITE, err);
    struct engine_result result;
    struct run *run;
    int status = -1;

    if (store == NULL)
        return -1;
    run = foreground_open(cli, store, id, err);
    if (run != NULL) {
        bool is_asked = run->experiment->is_asked;

        status = is_asked ? stop_session(run, err)
                          : drive(cli, run, true, NULL, &result, err);
        if (status == 0)
            fprintf(stderr,
                    "smtune: run '%s' had lost its engine; it is stopped "
                    "(resume it: smtune %s %s)\n",
                    run->name, is_asked ? "suggest --stdio --record" : "resume",
                    run->name);
        run_close(run);
    }
    store_close(store);
    return status;
}
