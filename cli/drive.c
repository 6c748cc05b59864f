/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drive.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/mem.h"
#include "cli/progress.h"
#include "cli/run_result.h"
#include "cli/summary.h"
#include "orchestrator/engine.h"
#include "orchestrator/front.h"
#include "orchestrator/run.h"
#include "orchestrator/states.h"
#include "store/store.h"

struct drive {
    const struct run *run;
    struct progress *progress;
    double best, previous_best;
    struct buf best_params;
    struct front *front; /* NULL: one objective */
    char note[128];      /* the last one shown */
};

static void print_short(const struct value *value, struct buf *out)
{
    if (value->type == VALUE_REAL)
        buf_printf(out, "%.4g", value->real);
    else
        value_print(value, out);
}

static void print_point(const struct space *space, const struct value *point,
                        struct buf *out)
{
    buf_truncate(out, 0);
    for (size_t i = 0; i < space_count(space); i++) {
        if (point[i].type == VALUE_NULL)
            continue;
        buf_printf(out, "%s%s=", out->length > 0 ? " " : "",
                   space_param(space, i)->name);
        print_short(&point[i], out);
    }
}

static struct progress_snapshot snapshot(const struct drive *drive,
                                         const struct engine_status *status)
{
    const struct experiment *experiment = drive->run->experiment;
    const struct tally *tally = status->tally;
    int64_t done = tally_ended(tally);
    int64_t total = experiment->budget.trials;

    return (struct progress_snapshot){
        .run = drive->run->name,
        .method = status->method,
        .metric = experiment->objectives[0].metric,
        .done = done,
        .total = total,
        .running = status->running,
        .slots = status->parallel,
        .succeeded = tally->succeeded,
        .failed = tally->failed,
        .stopped = tally->stopped,
        .infeasible = tally->infeasible,
        .front = drive->front != NULL ? (int64_t)front_count(drive->front) : 0,
        .elapsed_ms = status->elapsed_ms,
        .eta_ms = done > 0 && total > 0
                      ? status->elapsed_ms / done * (total - done)
                      : -1,
        .best_trial = tally->best_trial,
        .best = tally->best,
        .previous_best = drive->previous_best,
        .best_params = drive->best_params.length > 0
                           ? buf_text(&drive->best_params)
                           : NULL,
        .note = status->note[0] != '\0' ? status->note : NULL,
    };
}

static void add_figure(const char *metric, double value, struct buf *out)
{
    if (!isnan(value))
        buf_printf(out, "%s%s=%.6g", out->length > 0 ? " " : "", metric, value);
}

/* What it said besides the first objective. */
static void print_others(const struct experiment *experiment,
                         const struct engine_trial *trial, struct buf *out)
{
    for (size_t i = 1; i < experiment->objective_count; i++)
        add_figure(experiment->objectives[i].metric, trial->values[i], out);
    for (size_t i = 0; i < experiment->outcome_count; i++)
        add_figure(experiment->outcomes[i].metric, trial->outcomes[i], out);
}

/* Whether the trial is new on the front. */
static bool joins_front(struct drive *drive, const struct engine_trial *trial)
{
    return drive->front != NULL && trial->is_feasible &&
           strcmp(trial->state, job_state_names[JOB_SUCCEEDED]) == 0 &&
           front_add(drive->front, trial->number, trial->values);
}

static void on_trial_ended(void *user, const struct engine_trial *trial,
                           const struct engine_status *status)
{
    struct drive *drive = user;
    const struct experiment *experiment = drive->run->experiment;
    struct buf params = BUF_INIT, others = BUF_INIT;
    struct progress_snapshot now;
    struct progress_trial ended = {
        .number = trial->number,
        .state = trial->state,
        .cause = trial->cause,
        .text = trial->text[0] != '\0' ? trial->text : NULL,
        .value = trial->values[0],
        .duration_ms = trial->duration_ms,
        .is_best =
            drive->front != NULL ? joins_front(drive, trial) : trial->is_best,
        .is_infeasible = !trial->is_feasible,
        .will_retry = trial->will_retry,
    };

    print_point(experiment->space, trial->point, &params);
    print_others(experiment, trial, &others);
    ended.params = buf_text(&params);
    ended.others = buf_text(&others);
    if (trial->is_best) {
        drive->previous_best = drive->best;
        drive->best = trial->values[0];
        buf_truncate(&drive->best_params, 0);
        buf_add_string(&drive->best_params, ended.params);
    }
    now = snapshot(drive, status);
    progress_trial_ended(drive->progress, &ended, &now, clock_monotonic_ms());
    buf_clear(&params);
    buf_clear(&others);
}

static void on_tick(void *user, const struct engine_status *status)
{
    struct drive *drive = user;
    struct progress_snapshot now = snapshot(drive, status);

    if (strcmp(drive->note, status->note) != 0) {
        snprintf(drive->note, sizeof(drive->note), "%s", status->note);
        if (status->note[0] != '\0')
            progress_message(drive->progress, status->note);
    }
    progress_update(drive->progress, &now, clock_monotonic_ms());
}

static int exit_status(const struct experiment *experiment,
                       const struct engine_result *result)
{
    if (result->state == RUN_STOPPED)
        return 128 + result->signal;
    if (result->state == RUN_FAILED)
        return err_exit_status(ERR_FAILED);
    if (result->tally.best_trial == 0 ||
        (experiment->budget.has_target && result->verdict != BUDGET_TARGET))
        return err_exit_status(ERR_UNMET);
    return 0;
}

static int conclude(const struct cli *cli, struct run *run,
                    const struct engine_result *result, struct err *err)
{
    int status = exit_status(run->experiment, result);

    if (status != 0)
        fprintf(stderr, "smtune: run '%s': %s\n", run->name, result->reason);
    if (result->tally.best_trial == 0 && result->tally.infeasible > 0)
        fprintf(stderr,
                "smtune: run '%s': no trial satisfies the constraints "
                "on outcomes\n",
                run->name);
    if (result->undelivered > 0)
        fprintf(stderr,
                "smtune: %" PRId64 " messages to receivers wait to be "
                "delivered: smtune notify %s\n",
                result->undelivered, run->name);
    if (result->state == RUN_STOPPED)
        fprintf(stderr, "smtune: go on with it: smtune resume %s\n", run->name);
    if (cli->output != OUTPUT_TABLE) {
        if (run_result_print(run, result, err) != 0)
            return -1;
    } else if (!cli->quiet &&
               summary_print(cli, run->store, run->id, err) != 0) {
        return -1;
    }
    return status;
}

/* With several objectives: the front as an earlier engine left it. */
static int open_front(struct drive *drive, struct err *err)
{
    const struct experiment *experiment = drive->run->experiment;

    if (experiment->objective_count == 1)
        return 0;
    drive->front = front_of_experiment(experiment);
    return front_load(drive->front, drive->run->store, drive->run->id, err);
}

static void drive_clear(struct drive *drive)
{
    progress_finish(drive->progress, NULL);
    front_destroy(drive->front);
    buf_clear(&drive->best_params);
}

static int drive(const struct cli *cli, struct run *run, bool stop_at_once,
                 struct engine_result *result, struct err *err)
{
    struct drive drive = {.run = run,
                          .progress = progress_create(cli),
                          .best = (double)NAN,
                          .previous_best = (double)NAN};
    struct engine_events events = {
        .trial_ended = on_trial_ended, .tick = on_tick, .user = &drive};
    int status = open_front(&drive, err);

    if (status == 0)
        status = engine_run(run, &events, stop_at_once, result, err);
    drive_clear(&drive);
    return status;
}

int drive_run(const struct cli *cli, struct run *run, struct err *err)
{
    struct engine_result result;

    /* A terminal that goes away is no reason to stop. */
    signal(SIGHUP, SIG_IGN);
    if (drive(cli, run, false, &result, err) != 0)
        return err_prefix(err,
                          "run '%s' could not go on (smtune resume %s "
                          "tries again)",
                          run->name, run->name);
    return conclude(cli, run, &result, err);
}

int drive_print_diags(const struct cli *cli, struct diags *diags)
{
    struct buf text = BUF_INIT;

    if (diags_count(diags) == 0)
        return -1;
    diags_render(diags, cli->colour_err, &text);
    fputs(buf_text(&text), stderr);
    buf_clear(&text);
    return err_exit_status(ERR_FILE);
}

int drive_load(const struct cli *cli, const char *path,
               const struct opt_texts *set, struct experiment **experiment,
               struct err *err)
{
    struct diags *diags = diags_create(path);
    int status = 0;

    *experiment = experiment_load(path, set->items, set->count, diags, err);
    if (*experiment == NULL)
        status = drive_print_diags(cli, diags);
    diags_destroy(diags);
    return status;
}

static int copy_spec_path(void *user, const struct run_row *row)
{
    *(char **)user = mem_copy_string(row->spec_path);
    return 0;
}

struct run *drive_open(const struct cli *cli, struct store *store, int64_t id,
                       struct err *err)
{
    char *path = NULL;
    struct diags *diags;
    struct run *run;

    if (store_get_run(store, id, copy_spec_path, &path, err) != 0)
        return NULL;
    diags = diags_create(path);
    run = run_open(store, id, diags, err);
    if (run == NULL && drive_print_diags(cli, diags) > 0)
        diags_to_err(diags, err);
    diags_destroy(diags);
    free(path);
    return run;
}

int drive_stop_orphans(const struct cli *cli, int64_t id, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_WRITE, err);
    struct engine_result result;
    struct run *run;
    int status = -1;

    if (store == NULL)
        return -1;
    run = drive_open(cli, store, id, err);
    if (run != NULL) {
        status = drive(cli, run, true, &result, err);
        if (status == 0)
            fprintf(stderr,
                    "smtune: run '%s' had no engine any more; it is "
                    "stopped (go on with it: smtune resume %s)\n",
                    run->name, run->name);
        run_close(run);
    }
    store_close(store);
    return status;
}
