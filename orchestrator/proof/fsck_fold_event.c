/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A detail's keys are the names of the cells that they set, so that what
 * remains to be told here are the events' own rules: which state follows, what
 * they null, what must have been before. Those of jobs are in fsck_fold_job.c,
 * those of what people add in fsck_fold_people.c.
 */
#include "orchestrator/proof/fsck_fold_impl.h"

#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "base/json.h"
#include "orchestrator/job/states.h"

/* ---- a run's events ---- */

static void add_steps(struct fsck_fold *fold, const json_t *names)
{
    if (fold->kinds[IMAGE_STEP].count > 0)
        return;
    for (size_t i = 0; i < json_array_size(names); i++) {
        struct fsck_fold_row *row =
            fsck_fold_add_row(fold, IMAGE_STEP, (int64_t)i);
        const char *text = json_string_value(json_array_get(names, i));

        fsck_fold_set(row, STEP_CELL_NAME,
                      fsck_fold_keep_text(fold, text != NULL ? text : ""));
        fsck_fold_set(row, STEP_CELL_STATE,
                      value_text(step_state_names[FLOW_WAITING]));
    }
}

static void run_created(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row = fsck_fold_run_row(fold);

    if (fold->is_created)
        fsck_fold_complain(fold, "the run was already created");
    fold->is_created = true;
    fsck_fold_set_from_detail(fold, IMAGE_RUN, row, detail);
    add_steps(fold, json_object_get(detail, "steps"));
    fsck_fold_set(
        row, RUN_CELL_STATE,
        fsck_fold_keep_text(fold, fsck_fold_text_of(detail, "state")));
    fsck_fold_set(row, RUN_CELL_CREATED_MS, value_int(fold->event->time_ms));
    fsck_fold_set(row, RUN_CELL_REASON, value_text(""));
    fsck_fold_set(row, RUN_CELL_ENGINE_PID, value_int(0));
    fsck_fold_set(row, RUN_CELL_BOOT_ID, value_text(""));
    if (json_object_get(detail, "rungs") == NULL)
        fsck_fold_set(row, RUN_CELL_RUNGS, value_text("[]"));
}

static void run_state(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row = fsck_fold_run_row(fold);
    const char *state = fsck_fold_text_of(detail, "state");
    bool is_running = strcmp(state, run_state_names[RUN_RUNNING]) == 0;

    fsck_fold_set(row, RUN_CELL_STATE, fsck_fold_keep_text(fold, state));
    fsck_fold_set(
        row, RUN_CELL_REASON,
        fsck_fold_keep_text(fold, fsck_fold_text_of(detail, "reason")));
    fsck_fold_set(row, RUN_CELL_ENDED_MS,
                  is_running ? value_null() : value_int(fold->event->time_ms));
}

static void run_engine(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row = fsck_fold_run_row(fold);

    fsck_fold_set(
        row, RUN_CELL_ENGINE_PID,
        value_int(json_integer_value(json_object_get(detail, "pid"))));
    if (json_object_get(detail, "boot_id") != NULL)
        fsck_fold_set(
            row, RUN_CELL_BOOT_ID,
            fsck_fold_keep_text(fold, fsck_fold_text_of(detail, "boot_id")));
    if (row->cells[RUN_CELL_ENGINE_PID].integer != 0 &&
        row->cells[RUN_CELL_STARTED_MS].type == VALUE_NULL)
        fsck_fold_set(row, RUN_CELL_STARTED_MS,
                      value_int(fold->event->time_ms));
}

static void run_paused(struct fsck_fold *fold, json_t *detail)
{
    (void)detail;
    fsck_fold_set(fsck_fold_run_row(fold), RUN_CELL_PAUSED_MS,
                  value_int(fold->event->time_ms));
}

static void run_resumed(struct fsck_fold *fold, json_t *detail)
{
    (void)detail;
    fsck_fold_set(fsck_fold_run_row(fold), RUN_CELL_PAUSED_MS, value_null());
}

static void run_note(struct fsck_fold *fold, json_t *detail)
{
    fsck_fold_set(fsck_fold_run_row(fold), RUN_CELL_NOTE,
                  fsck_fold_keep_text(fold, fsck_fold_text_of(detail, "note")));
}

static void run_revision(struct fsck_fold *fold, json_t *detail)
{
    fsck_fold_set(
        fsck_fold_run_row(fold), RUN_CELL_REVISION,
        fsck_fold_keep_text(fold, fsck_fold_text_of(detail, "revision")));
}

/* Bases go up, so that an attempt's rule is always one of its time. */
static void run_edited(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row = fsck_fold_run_row(fold);
    const json_t *base = json_object_get(detail, "retry_base");
    const struct value *before = &row->cells[RUN_CELL_RETRY_BASE];

    if (fsck_fold_text_of(detail, "edited_spec")[0] == '\0')
        fsck_fold_complain(fold, "the event has no file");
    if (base != NULL && json_integer_value(base) <=
                            (before->type == VALUE_INT ? before->integer : 0))
        fsck_fold_complain(fold, "out of range: retry_base is %" PRId64,
                           (int64_t)json_integer_value(base));
    fsck_fold_set_from_detail(fold, IMAGE_RUN, row, detail);
}

static void run_budget(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row = fsck_fold_run_row(fold);
    const struct value *trials = &row->cells[RUN_CELL_BUDGET_TRIALS];
    void *at = json_object_iter(detail);

    if (at == NULL)
        fsck_fold_complain(fold, "the event changes nothing");
    for (; at != NULL; at = json_object_iter_next(detail, at)) {
        int64_t given = json_integer_value(json_object_iter_value(at));

        if (given < 1)
            fsck_fold_complain(fold, "out of range: %s is %" PRId64,
                               json_object_iter_key(at), given);
    }
    fsck_fold_set_from_detail(fold, IMAGE_RUN, row, detail);
    if (trials->type == VALUE_INT &&
        trials->integer < (int64_t)fold->kinds[IMAGE_JOB].count)
        fsck_fold_complain(fold,
                           "out of range: budget_trials is %" PRId64
                           ", below the trials already started (%zu)",
                           trials->integer, fold->kinds[IMAGE_JOB].count);
}

/* Tells of times, of nodes, or of what was asked, and changes no row of the
 * run's. */
static void only_tells(struct fsck_fold *fold, json_t *detail)
{
    (void)fold, (void)detail;
}

/* ---- a step's events ---- */

static void step_event(struct fsck_fold *fold, enum step_event event,
                       json_t *detail)
{
    static const enum step_cell forgotten[] = {
        STEP_CELL_COPIES, STEP_CELL_MATRIX, STEP_CELL_FIRST_JOB,
        STEP_CELL_BEGAN_MS};
    const json_t *step = json_object_get(detail, "step");
    struct fsck_fold_row *row = fsck_fold_find(
        fold, IMAGE_STEP, step != NULL ? json_integer_value(step) : -1);
    int to = step_state_find(fsck_fold_text_of(detail, "state"));
    int from;

    if (row == NULL || to < 0) {
        fsck_fold_complain(fold, "unknown step or unknown state");
        return;
    }
    from = step_state_find(row->cells[STEP_CELL_STATE].text);
    if (!step_may((enum flow_state)from, event, (enum flow_state)to))
        fsck_fold_complain(fold, "'%s' cannot change step '%s' from %s to %s",
                           step_event_names[event], fsck_fold_step_name(row),
                           step_state_names[from], step_state_names[to]);
    fsck_fold_set(row, STEP_CELL_STATE, value_text(step_state_names[to]));
    fsck_fold_set(row, STEP_CELL_REASON, value_null());
    fsck_fold_set(row, STEP_CELL_ENDED_MS,
                  to == FLOW_WAITING || to == FLOW_ACTIVE
                      ? value_null()
                      : value_int(fold->event->time_ms));
    for (size_t i = 0; i < ARRAY_LEN(forgotten); i++) {
        if (to == FLOW_WAITING || event == STEP_BEGAN)
            fsck_fold_set(row, forgotten[i], value_null());
    }
    fsck_fold_set_from_detail(fold, IMAGE_STEP, row, detail);
    if (event == STEP_BEGAN)
        fsck_fold_set(row, STEP_CELL_BEGAN_MS, value_int(fold->event->time_ms));
}

/* ---- an attempt's events ---- */

static void attempt_starting(struct fsck_fold *fold, json_t *detail)
{
    const struct event_row *event = fold->event;
    struct fsck_fold_row *job = fsck_fold_find(fold, IMAGE_JOB, event->job);
    struct fsck_fold_row *row;

    if (fsck_fold_find(fold, IMAGE_ATTEMPT, event->attempt) != NULL) {
        fsck_fold_complain(fold, "the attempt was already created");
        return;
    }
    row = fsck_fold_add_row(fold, IMAGE_ATTEMPT, event->attempt);
    fsck_fold_set_from_detail(fold, IMAGE_ATTEMPT, row, detail);
    fsck_fold_set(row, ATTEMPT_CELL_JOB_ID, value_int(event->job));
    fsck_fold_set(row, ATTEMPT_CELL_STATE, value_text("starting"));
    fsck_fold_set(row, ATTEMPT_CELL_CREATED_MS, value_int(event->time_ms));
    if (job == NULL) {
        fsck_fold_complain(fold,
                           "an attempt of a trial that was never suggested");
        return;
    }
    job->attempts++;
    if (json_object_get(detail, "cache_key") != NULL)
        fsck_fold_set(
            job, JOB_CELL_CACHE_KEY,
            fsck_fold_keep_text(fold, fsck_fold_text_of(detail, "cache_key")));
    if (job->active != 0)
        fsck_fold_complain(fold,
                           "a second attempt while the first is still active");
    if (row->cells[ATTEMPT_CELL_NUMBER].integer != job->attempts)
        fsck_fold_complain(
            fold, "wrong number: it is attempt %" PRId64 " of the trial",
            job->attempts);
    job->active = event->attempt;
}

static struct fsck_fold_row *known_attempt(struct fsck_fold *fold)
{
    struct fsck_fold_row *row =
        fsck_fold_find(fold, IMAGE_ATTEMPT, fold->event->attempt);

    if (row == NULL)
        fsck_fold_complain(fold, "the attempt was never created");
    else if (row->cells[ATTEMPT_CELL_JOB_ID].integer != fold->event->job)
        fsck_fold_complain(fold, "the attempt belongs to another trial");
    return row;
}

static void attempt_queued(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row = known_attempt(fold);

    if (row == NULL)
        return;
    if (strcmp(row->cells[ATTEMPT_CELL_STATE].text, "starting") != 0)
        fsck_fold_complain(fold, "the attempt was queued while it was %s",
                           row->cells[ATTEMPT_CELL_STATE].text);
    fsck_fold_set_from_detail(fold, IMAGE_ATTEMPT, row, detail);
    if (row->cells[ATTEMPT_CELL_QUEUED_MS].type == VALUE_NULL)
        fsck_fold_set(row, ATTEMPT_CELL_QUEUED_MS,
                      value_int(fold->event->time_ms));
}

static void attempt_running(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row = known_attempt(fold);

    if (row == NULL)
        return;
    if (strcmp(row->cells[ATTEMPT_CELL_STATE].text, "starting") != 0)
        fsck_fold_complain(fold, "the attempt started to run while it was %s",
                           row->cells[ATTEMPT_CELL_STATE].text);
    fsck_fold_set_from_detail(fold, IMAGE_ATTEMPT, row, detail);
    fsck_fold_set(row, ATTEMPT_CELL_STATE, value_text("running"));
    fsck_fold_set(row, ATTEMPT_CELL_STARTED_MS,
                  value_int(fold->event->time_ms));
}

static void attempt_ended(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row = known_attempt(fold);
    struct fsck_fold_row *job =
        fsck_fold_find(fold, IMAGE_JOB, fold->event->job);

    if (row == NULL)
        return;
    if (strcmp(row->cells[ATTEMPT_CELL_STATE].text, "ended") == 0)
        fsck_fold_complain(fold, "the attempt ended a second time");
    fsck_fold_set(row, ATTEMPT_CELL_STARTED_MS, value_null());
    fsck_fold_set_from_detail(fold, IMAGE_ATTEMPT, row, detail);
    fsck_fold_set(row, ATTEMPT_CELL_STATE, value_text("ended"));
    fsck_fold_set(row, ATTEMPT_CELL_ENDED_MS, value_int(fold->event->time_ms));
    if (job != NULL && job->active == fold->event->attempt)
        job->active = 0;
}

/* ---- all of them ---- */

static const struct handler {
    const char *event;
    void (*apply)(struct fsck_fold *fold, json_t *detail);
} handlers[] = {
    {"observed", fsck_fold_job_observed},
    {"attempt_starting", attempt_starting},
    {"attempt_queued", attempt_queued},
    {"attempt_running", attempt_running},
    {"attempt_ended", attempt_ended},
    {"run_created", run_created},
    {"run_state", run_state},
    {"run_paused", run_paused},
    {"run_resumed", run_resumed},
    {"engine_started", run_engine},
    {"engine_ended", run_engine},
    {"clock_jumped", only_tells},
    {"node_avoided", only_tells},
    {"note", run_note},
    {"commented", fsck_fold_commented},
    {"tagged", fsck_fold_tagged},
    {"enqueued", fsck_fold_enqueued},
    {"answered", only_tells},
    {"budget_changed", run_budget},
    {"revision_changed", run_revision},
    {"origin", only_tells},
    {"time_used_up", only_tells},
    {"cancel_asked", fsck_fold_cancel_asked},
    {"temps_removed", fsck_fold_temps_removed},
    {"edited", run_edited},
};

static bool apply(struct fsck_fold *fold, json_t *detail)
{
    const char *word = fold->event->event;

    for (int i = 0; i < JOB_EVENT_COUNT; i++) {
        if (strcmp(word, job_event_names[i]) == 0) {
            (i == EVENT_SUGGESTED || i == EVENT_CREATED
                 ? fsck_fold_job_began
                 : fsck_fold_job_event)(fold, (enum job_event)i, detail);
            return true;
        }
    }
    for (int i = 0; i < STEP_EVENT_COUNT; i++) {
        if (strcmp(word, step_event_names[i]) == 0) {
            step_event(fold, (enum step_event)i, detail);
            return true;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
        if (strcmp(word, handlers[i].event) == 0) {
            handlers[i].apply(fold, detail);
            return true;
        }
    }
    return false;
}

void fsck_fold_add(struct fsck_fold *fold, const struct event_row *event)
{
    json_t *detail = event->detail[0] == '\0'
                         ? json_object()
                         : json_loads(event->detail, 0, NULL);

    fold->event = event;
    if (fold->kinds[IMAGE_RUN].count == 0 &&
        strcmp(event->event, "run_created") != 0)
        fsck_fold_complain(
            fold, "the first event of the run is '%s', not 'run_created'",
            event->event);
    if (!json_is_object(detail))
        fsck_fold_complain(fold, "the detail is not a JSON object");
    else if (!apply(fold, detail))
        fsck_fold_complain(fold, "unknown event '%s'", event->event);
    json_decref(detail);
    fold->event = NULL;
}
