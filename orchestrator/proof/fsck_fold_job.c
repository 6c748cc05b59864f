/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happens to a trial, or to a job of a step: its states, which have to
 * follow by the table, and the place of each result among all results. */
#include "orchestrator/proof/fsck_fold_impl.h"

#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "base/json.h"

static struct value state_text(struct fsck_fold *fold, const char *word)
{
    int state = job_state_find(word);

    return state >= 0 ? value_text(job_state_names[state])
                      : fsck_fold_keep_text(fold, word);
}

/* A step's job exists, or starts, while its step is on its way. */
static void check_step(struct fsck_fold *fold, const struct fsck_fold_row *job)
{
    const struct value *copy = &job->cells[JOB_CELL_COPY];
    const struct fsck_fold_row *step;

    if (job->cells[JOB_CELL_STEP].type != VALUE_INT)
        return;
    step = fsck_fold_find(fold, IMAGE_STEP, job->cells[JOB_CELL_STEP].integer);
    if (step == NULL)
        fsck_fold_complain(fold, "the job belongs to an unknown step");
    else if (step->cells[STEP_CELL_COPIES].type != VALUE_INT ||
             copy->type != VALUE_INT || copy->integer < 0 ||
             copy->integer >= step->cells[STEP_CELL_COPIES].integer)
        fsck_fold_complain(fold, "step '%s' has no such copy",
                           fsck_fold_step_name(step));
    else if (strcmp(step->cells[STEP_CELL_STATE].text,
                    step_state_names[FLOW_ACTIVE]) != 0)
        fsck_fold_complain(fold, "step '%s' of the job is %s",
                           fsck_fold_step_name(step),
                           step->cells[STEP_CELL_STATE].text);
}

void fsck_fold_job_began(struct fsck_fold *fold, enum job_event event,
                         json_t *detail)
{
    struct fsck_fold_row *row;
    int64_t number, seen;

    if (fsck_fold_find(fold, IMAGE_JOB, fold->event->job) != NULL) {
        fsck_fold_complain(fold, "it was already %s", job_event_names[event]);
        return;
    }
    row = fsck_fold_add_row(fold, IMAGE_JOB, fold->event->job);
    fsck_fold_set_from_detail(fold, IMAGE_JOB, row, detail);
    fsck_fold_set(row, JOB_CELL_STATE,
                  state_text(fold, fsck_fold_text_of(detail, "state")));
    fsck_fold_set(row, JOB_CELL_CREATED_MS, value_int(fold->event->time_ms));
    fsck_fold_set(row, JOB_CELL_FIRST_RESOURCE, row->cells[JOB_CELL_RESOURCE]);
    fsck_fold_set(row, JOB_CELL_VIOLATION, value_real(0.0));
    number = row->cells[JOB_CELL_NUMBER].integer;
    if (number != (int64_t)fold->kinds[IMAGE_JOB].count)
        fsck_fold_complain(fold, "wrong number: expected %zu for this '%s'",
                           fold->kinds[IMAGE_JOB].count,
                           job_event_names[event]);
    check_step(fold, row);
    fsck_fold_take_enqueued(fold, row, detail);
    seen = row->cells[JOB_CELL_SEEN].integer;
    if (seen != fold->told)
        fsck_fold_complain(fold,
                           "suggested after %" PRId64
                           " results, but the events before have %" PRId64,
                           seen, fold->told);
}

/* The state that follows by the table; the one that the event tells of must be
 * the same. */
static void next_state(struct fsck_fold *fold, struct fsck_fold_row *row,
                       enum job_event event, const char *told)
{
    const char *before = row->cells[JOB_CELL_STATE].text;
    int state = job_state_find(before);
    enum job_state next = JOB_READY;

    if (state < 0 || !job_next((enum job_state)state, event, &next))
        fsck_fold_complain(fold, "'%s' is not possible while the trial is %s",
                           job_event_names[event], before);
    else if (strcmp(job_state_names[next], told) != 0)
        fsck_fold_complain(
            fold, "'%s' changes a trial from %s to %s, not to %s",
            job_event_names[event], before, job_state_names[next], told);
    fsck_fold_set(row, JOB_CELL_STATE, state_text(fold, told));
}

static void check_attempts(struct fsck_fold *fold,
                           const struct fsck_fold_row *row,
                           enum job_event event)
{
    const struct fsck_fold_row *active =
        fsck_fold_find(fold, IMAGE_ATTEMPT, row->active);
    const char *state =
        active != NULL ? active->cells[ATTEMPT_CELL_STATE].text : "";

    if (event == EVENT_STARTED && strcmp(state, "running") != 0)
        fsck_fold_complain(fold, "started without a running attempt");
    if (event != EVENT_STARTED && active != NULL)
        fsck_fold_complain(fold, "'%s' while an attempt is still active",
                           job_event_names[event]);
}

static void check_told(struct fsck_fold *fold, const json_t *detail)
{
    int64_t told = json_integer_value(json_object_get(detail, "told"));

    if (told == 0)
        return;
    if (told != fold->told + 1)
        fsck_fold_complain(fold,
                           "the result has place %" PRId64
                           ", but the one before has place %" PRId64,
                           told, fold->told);
    fold->told = told;
}

/* What the search was told of it is kept elsewhere. */
static void supersede(struct fsck_fold *fold, const struct fsck_fold_row *row,
                      int64_t told)
{
    static const struct {
        enum superseded_cell to;
        enum job_cell from;
    } kept[] = {
        {SUPERSEDED_CELL_NUMBER, JOB_CELL_NUMBER},
        {SUPERSEDED_CELL_STATE, JOB_CELL_STATE},
        {SUPERSEDED_CELL_VALUES, JOB_CELL_VALUES},
        {SUPERSEDED_CELL_OUTCOMES, JOB_CELL_OUTCOMES},
    };
    struct fsck_fold_row *superseded =
        fsck_fold_add_row(fold, IMAGE_SUPERSEDED, told);

    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        struct value cell = row->cells[kept[i].from];

        fsck_fold_set(superseded, kept[i].to,
                      cell.type == VALUE_NULL ? value_text("[]") : cell);
    }
    fsck_fold_set(superseded, SUPERSEDED_CELL_ATTEMPTS,
                  value_int(row->attempts));
}

/* Its user puts it back. */
static void job_reopened(struct fsck_fold *fold, struct fsck_fold_row *row,
                         const json_t *detail)
{
    static const enum job_cell nulled[] = {
        JOB_CELL_STARTED_MS,      JOB_CELL_TOLD,        JOB_CELL_VALUES,
        JOB_CELL_OUTCOMES,        JOB_CELL_RESOURCE,    JOB_CELL_OUTPUTS,
        JOB_CELL_CACHE_KEY,       JOB_CELL_CACHED_FROM, JOB_CELL_CANCEL_ASKED,
        JOB_CELL_TEMPS_REMOVED_MS};
    const struct value *place = &row->cells[JOB_CELL_TOLD];
    int64_t told = json_integer_value(json_object_get(detail, "superseded"));

    if ((place->type == VALUE_INT ? place->integer : 0) != told)
        fsck_fold_complain(
            fold, "the superseded result had another place than %" PRId64,
            told);
    if (told != 0)
        supersede(fold, row, told);
    for (size_t i = 0; i < ARRAY_LEN(nulled); i++)
        fsck_fold_set(row, nulled[i], value_null());
}

/* Where it waits for more: its last observation, if that had it paused and
 * nothing came of it yet. */
static struct fsck_fold_row *find_pause(struct fsck_fold *fold,
                                        const struct fsck_fold_row *row)
{
    struct fsck_fold_row *last =
        fsck_fold_find(fold, IMAGE_OBSERVATION, row->observed);

    return last != NULL &&
                   last->cells[OBSERVATION_CELL_PROMOTED].type == VALUE_NULL &&
                   last->cells[OBSERVATION_CELL_DECISION].type == VALUE_TEXT &&
                   strcmp(last->cells[OBSERVATION_CELL_DECISION].text,
                          "pause") == 0
               ? last
               : NULL;
}

/* Its keys are named for the promotion; its job keeps what it had, but for the
 * resource. */
static void job_promoted(struct fsck_fold *fold, struct fsck_fold_row *row,
                         const json_t *detail)
{
    struct fsck_fold_row *pause = find_pause(fold, row);
    int64_t told = json_integer_value(json_object_get(detail, "told"));
    int64_t resource = json_integer_value(json_object_get(detail, "resource"));

    fsck_fold_set(row, JOB_CELL_RESOURCE, value_int(resource));
    if (pause == NULL)
        return;
    if (resource <= pause->cells[OBSERVATION_CELL_RESOURCE].integer)
        fsck_fold_complain(
            fold, "promoted to %" PRId64 ", but it had already used as much",
            resource);
    fsck_fold_set(pause, OBSERVATION_CELL_PROMOTED, value_int(told));
    fsck_fold_set(pause, OBSERVATION_CELL_PROMOTED_TO, value_int(resource));
}

void fsck_fold_job_event(struct fsck_fold *fold, enum job_event event,
                         json_t *detail)
{
    static const enum job_cell nulled[] = {JOB_CELL_CAUSE, JOB_CELL_DUE_MS};
    struct fsck_fold_row *row =
        fsck_fold_find(fold, IMAGE_JOB, fold->event->job);

    if (row == NULL) {
        fsck_fold_complain(fold, "the trial was never suggested");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(nulled); i++)
        fsck_fold_set(row, nulled[i], value_null());
    fsck_fold_set(row, JOB_CELL_ENDED_MS, value_null());
    fsck_fold_set(row, JOB_CELL_VIOLATION, value_real(0.0));
    if ((event == EVENT_PAUSED || event == EVENT_PROMOTED) &&
        find_pause(fold, row) == NULL)
        fsck_fold_complain(fold,
                           "'%s' without an observation that paused the trial",
                           job_event_names[event]);
    if (event == EVENT_PROMOTED)
        job_promoted(fold, row, detail);
    else
        fsck_fold_set_from_detail(fold, IMAGE_JOB, row, detail);
    if (event == EVENT_REOPENED)
        job_reopened(fold, row, detail);
    check_attempts(fold, row, event);
    if (event == EVENT_STARTED)
        check_step(fold, row);
    next_state(fold, row, event, fsck_fold_text_of(detail, "state"));
    check_told(fold, detail);
}

void fsck_fold_temps_removed(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row =
        fsck_fold_find(fold, IMAGE_JOB, fold->event->job);

    (void)detail;
    if (row == NULL) {
        fsck_fold_complain(fold, "the job was never created");
        return;
    }
    if (strcmp(row->cells[JOB_CELL_STATE].text,
               job_state_names[JOB_SUCCEEDED]) != 0)
        fsck_fold_complain(fold,
                           "its temporary outputs were removed while it was %s",
                           row->cells[JOB_CELL_STATE].text);
    fsck_fold_set(row, JOB_CELL_TEMPS_REMOVED_MS,
                  value_int(fold->event->time_ms));
}

void fsck_fold_job_observed(struct fsck_fold *fold, json_t *detail)
{
    int64_t told = json_integer_value(json_object_get(detail, "told"));
    struct fsck_fold_row *job =
        fsck_fold_find(fold, IMAGE_JOB, fold->event->job);
    struct fsck_fold_row *row, *before;

    check_told(fold, detail);
    if (job == NULL) {
        fsck_fold_complain(fold, "the trial was never suggested");
        return;
    }
    if (job->cells[JOB_CELL_RESOURCE].type == VALUE_NULL)
        fsck_fold_complain(fold, "the trial has no schedule");
    if (fsck_fold_find(fold, IMAGE_OBSERVATION, told) != NULL)
        return;
    row = fsck_fold_add_row(fold, IMAGE_OBSERVATION, told);
    fsck_fold_set_from_detail(fold, IMAGE_OBSERVATION, row, detail);
    fsck_fold_set(row, OBSERVATION_CELL_JOB_ID, value_int(fold->event->job));
    fsck_fold_set(row, OBSERVATION_CELL_ATTEMPT_ID,
                  value_int(fold->event->attempt));
    fsck_fold_set(row, OBSERVATION_CELL_TIME_MS,
                  value_int(fold->event->time_ms));
    before = fsck_fold_find(fold, IMAGE_OBSERVATION, job->observed);
    if (before != NULL && before->cells[OBSERVATION_CELL_RESOURCE].integer >
                              row->cells[OBSERVATION_CELL_RESOURCE].integer)
        fsck_fold_complain(fold, "the observation before has more resource");
    job->observed = told;
}
