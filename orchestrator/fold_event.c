/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A detail's keys are the names of the cells that they set, so that what
 * remains to be told here are the events' own rules: which state follows, what
 * they null, what must have been before.
 */
#include "orchestrator/fold_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "orchestrator/states.h"

/* ---- details ---- */

static void complain(struct fold *fold, const char *format, ...)
    PRINTF_LIKE(2, 3);

static void complain(struct fold *fold, const char *format, ...)
{
    const struct event_row *event = fold->event;
    struct fold_row *attempt = fold_find(fold, IMAGE_ATTEMPT, event->attempt);
    struct fold_row *job = fold_find(fold, IMAGE_JOB, event->job);
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fold->wrong(
        fold->user, event->seq,
        job != NULL ? fold_trial(fold, IMAGE_JOB, job) : event->job_number,
        attempt != NULL ? attempt->cells[ATTEMPT_CELL_NUMBER].integer : 0,
        text);
}

static struct value take_text(struct fold *fold, char *text)
{
    struct value kept = fold_keep_text(fold, text);

    free(text);
    return kept;
}

/* A real stands as a list of one, so that it may be a word. */
static bool is_real(enum image image, size_t cell)
{
    return (image == IMAGE_JOB && cell == JOB_CELL_VIOLATION) ||
           (image == IMAGE_OBSERVATION &&
            (cell == OBSERVATION_CELL_LAST || cell == OBSERVATION_CELL_BEST));
}

static bool is_reals(enum image image, size_t cell)
{
    return (image == IMAGE_JOB &&
            (cell == JOB_CELL_VALUES || cell == JOB_CELL_OUTCOMES)) ||
           (image == IMAGE_OBSERVATION && (cell == OBSERVATION_CELL_VALUES ||
                                           cell == OBSERVATION_CELL_OUTCOMES));
}

static struct value cell_of(struct fold *fold, enum image image, size_t cell,
                            const json_t *item)
{
    struct buf text = BUF_INIT;

    if (json_is_integer(item))
        return value_int(json_integer_value(item));
    if (json_is_string(item))
        return fold_keep_text(fold, json_string_value(item));
    if (!json_is_array(item))
        return value_null();
    if (is_real(image, cell))
        return value_real(json_to_real(json_array_get(item, 0)));
    if (is_reals(image, cell))
        return take_text(fold, image_reals(item));
    json_print(item, &text);
    return take_text(fold, buf_take(&text));
}

/* Each key that is a cell's name sets it; the state has rules of its own. */
static void set_from_detail(struct fold *fold, enum image image,
                            struct fold_row *row, json_t *detail)
{
    const struct image_table *table = &image_tables[image];
    const char *key;
    json_t *item;

    json_object_foreach(detail, key, item)
    {
        if (strcmp(key, "state") == 0)
            continue;
        for (size_t i = 1; i < table->cell_count; i++) {
            if (strcmp(key, table->cells[i]) == 0)
                fold_set(row, i, cell_of(fold, image, i, item));
        }
    }
}

static const char *text_of(const json_t *detail, const char *key)
{
    const char *text = json_string_value(json_object_get(detail, key));

    return text != NULL ? text : "";
}

/* ---- a run's events ---- */

static struct fold_row *run_row(struct fold *fold)
{
    struct fold_row *row = fold_find(fold, IMAGE_RUN, fold->run);

    return row != NULL ? row : fold_add_row(fold, IMAGE_RUN, fold->run);
}

static void run_created(struct fold *fold, json_t *detail)
{
    struct fold_row *row = run_row(fold);

    if (row->said != 1)
        complain(fold, "the run was created before");
    fold->is_complete = json_object_get(detail, "name") != NULL;
    set_from_detail(fold, IMAGE_RUN, row, detail);
    fold_set(row, RUN_CELL_STATE,
             fold_keep_text(fold, text_of(detail, "state")));
    fold_set(row, RUN_CELL_CREATED_MS, value_int(fold->event->time_ms));
    if (!fold->is_complete)
        return;
    fold_set(row, RUN_CELL_REASON, value_text(""));
    fold_set(row, RUN_CELL_ENGINE_PID, value_int(0));
    fold_set(row, RUN_CELL_BOOT_ID, value_text(""));
    if (json_object_get(detail, "rungs") == NULL)
        fold_set(row, RUN_CELL_RUNGS, value_text("[]"));
}

static void run_state(struct fold *fold, json_t *detail)
{
    struct fold_row *row = run_row(fold);
    const char *state = text_of(detail, "state");
    bool is_running = strcmp(state, run_state_names[RUN_RUNNING]) == 0;

    fold_set(row, RUN_CELL_STATE, fold_keep_text(fold, state));
    fold_set(row, RUN_CELL_REASON,
             fold_keep_text(fold, text_of(detail, "reason")));
    fold_set(row, RUN_CELL_ENDED_MS,
             is_running ? value_null() : value_int(fold->event->time_ms));
}

static void run_engine(struct fold *fold, json_t *detail)
{
    struct fold_row *row = run_row(fold);

    fold_set(row, RUN_CELL_ENGINE_PID,
             value_int(json_integer_value(json_object_get(detail, "pid"))));
    if (json_object_get(detail, "boot_id") != NULL)
        fold_set(row, RUN_CELL_BOOT_ID,
                 fold_keep_text(fold, text_of(detail, "boot_id")));
    if (row->cells[RUN_CELL_ENGINE_PID].integer != 0 &&
        row->cells[RUN_CELL_STARTED_MS].type == VALUE_NULL)
        fold_set(row, RUN_CELL_STARTED_MS, value_int(fold->event->time_ms));
}

static void run_paused(struct fold *fold, json_t *detail)
{
    (void)detail;
    fold_set(run_row(fold), RUN_CELL_PAUSED_MS,
             value_int(fold->event->time_ms));
}

static void run_resumed(struct fold *fold, json_t *detail)
{
    (void)detail;
    fold_set(run_row(fold), RUN_CELL_PAUSED_MS, value_null());
}

/* Tells of times, and changes no row. */
static void clock_jumped(struct fold *fold, json_t *detail)
{
    (void)fold, (void)detail;
}

/* ---- a trial's events ---- */

static struct value state_text(struct fold *fold, const char *word)
{
    int state = job_state_find(word);

    return state >= 0 ? value_text(job_state_names[state])
                      : fold_keep_text(fold, word);
}

static void job_suggested(struct fold *fold, json_t *detail)
{
    const struct event_row *event = fold->event;
    int64_t number = event->job_number;
    struct fold_row *row;
    int64_t seen;

    if (fold_find(fold, IMAGE_JOB, event->job) != NULL) {
        complain(fold, "the trial was suggested before");
        return;
    }
    row = fold_add_row(fold, IMAGE_JOB, event->job);
    set_from_detail(fold, IMAGE_JOB, row, detail);
    fold_set(row, JOB_CELL_STATE, state_text(fold, text_of(detail, "state")));
    fold_set(row, JOB_CELL_CREATED_MS, value_int(event->time_ms));
    fold_set(row, JOB_CELL_FIRST_RESOURCE, row->cells[JOB_CELL_RESOURCE]);
    if (fold->is_complete) {
        fold_set(row, JOB_CELL_VIOLATION, value_real(0.0));
        number = row->cells[JOB_CELL_NUMBER].integer;
    }
    if (number != 0 && number != (int64_t)fold->kinds[IMAGE_JOB].count)
        complain(fold, "it is the %zuth trial that was suggested",
                 fold->kinds[IMAGE_JOB].count);
    seen = row->cells[JOB_CELL_SEEN].integer;
    if (fold->is_complete && seen != fold->told)
        complain(fold,
                 "it was suggested after %" PRId64
                 " results, and there were %" PRId64,
                 seen, fold->told);
}

/* The state that follows by the table; the one that the event tells of must be
 * the same. */
static void next_state(struct fold *fold, struct fold_row *row,
                       enum job_event event, const char *told)
{
    const char *before = row->cells[JOB_CELL_STATE].text;
    int state = job_state_find(before);
    enum job_state next = JOB_READY;

    if (state < 0 || !job_next((enum job_state)state, event, &next))
        complain(fold, "'%s' cannot happen while it is %s",
                 job_event_names[event], before);
    else if (strcmp(job_state_names[next], told) != 0)
        complain(fold, "'%s' makes a trial that is %s %s, not %s",
                 job_event_names[event], before, job_state_names[next], told);
    fold_set(row, JOB_CELL_STATE, state_text(fold, told));
}

static void check_attempts(struct fold *fold, const struct fold_row *row,
                           enum job_event event)
{
    const struct fold_row *active = fold_find(fold, IMAGE_ATTEMPT, row->active);
    const char *state =
        active != NULL ? active->cells[ATTEMPT_CELL_STATE].text : "";

    if (event == EVENT_STARTED && strcmp(state, "running") != 0)
        complain(fold, "it started without an attempt that runs");
    if (event != EVENT_STARTED && active != NULL)
        complain(fold, "'%s' while an attempt has not ended",
                 job_event_names[event]);
}

static void check_told(struct fold *fold, const json_t *detail)
{
    int64_t told = json_integer_value(json_object_get(detail, "told"));

    if (told == 0)
        return;
    if (told != fold->told + 1 && (fold->is_complete || fold->tells_places))
        complain(fold, "its result has place %" PRId64 " after place %" PRId64,
                 told, fold->told);
    fold->told = told;
    fold->tells_places = true;
}

/* Its user puts it back: what the search was told of it is kept elsewhere. */
static void job_reopened(struct fold *fold, struct fold_row *row,
                         const json_t *detail)
{
    static const enum job_cell nulled[] = {JOB_CELL_STARTED_MS, JOB_CELL_TOLD,
                                           JOB_CELL_VALUES, JOB_CELL_OUTCOMES,
                                           JOB_CELL_RESOURCE};
    static const struct {
        enum superseded_cell to;
        enum job_cell from;
    } kept[] = {
        {SUPERSEDED_CELL_NUMBER, JOB_CELL_NUMBER},
        {SUPERSEDED_CELL_STATE, JOB_CELL_STATE},
        {SUPERSEDED_CELL_VALUES, JOB_CELL_VALUES},
        {SUPERSEDED_CELL_OUTCOMES, JOB_CELL_OUTCOMES},
    };
    int64_t told = json_integer_value(json_object_get(detail, "superseded"));
    struct fold_row *superseded = fold_add_row(fold, IMAGE_SUPERSEDED, told);

    if (row->cells[JOB_CELL_TOLD].type != VALUE_INT ||
        row->cells[JOB_CELL_TOLD].integer != told)
        complain(fold, "it had another place than %" PRId64, told);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        struct value cell = row->cells[kept[i].from];

        fold_set(superseded, kept[i].to,
                 cell.type == VALUE_NULL ? value_text("[]") : cell);
    }
    fold_set(superseded, SUPERSEDED_CELL_ATTEMPTS, value_int(row->attempts));
    for (size_t i = 0; i < ARRAY_LEN(nulled); i++)
        fold_set(row, nulled[i], value_null());
}

/* Where it waits for more: its last observation, if that had it paused and
 * nothing came of it yet. */
static struct fold_row *find_pause(struct fold *fold,
                                   const struct fold_row *row)
{
    struct fold_row *last = fold_find(fold, IMAGE_OBSERVATION, row->observed);

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
static void job_promoted(struct fold *fold, struct fold_row *row,
                         const json_t *detail)
{
    struct fold_row *pause = find_pause(fold, row);
    int64_t told = json_integer_value(json_object_get(detail, "told"));
    int64_t resource = json_integer_value(json_object_get(detail, "resource"));

    fold_set(row, JOB_CELL_RESOURCE, value_int(resource));
    if (pause == NULL)
        return;
    if (resource <= pause->cells[OBSERVATION_CELL_RESOURCE].integer)
        complain(fold, "it is given %" PRId64 ", and had used as much",
                 resource);
    fold_set(pause, OBSERVATION_CELL_PROMOTED, value_int(told));
    fold_set(pause, OBSERVATION_CELL_PROMOTED_TO, value_int(resource));
}

static void job_event(struct fold *fold, enum job_event event, json_t *detail)
{
    static const enum job_cell nulled[] = {JOB_CELL_CAUSE, JOB_CELL_DUE_MS};
    struct fold_row *row = fold_find(fold, IMAGE_JOB, fold->event->job);

    if (row == NULL) {
        complain(fold, "the trial was never suggested");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(nulled); i++)
        fold_set(row, nulled[i], value_null());
    if (fold->is_complete) {
        fold_set(row, JOB_CELL_ENDED_MS, value_null());
        fold_set(row, JOB_CELL_VIOLATION, value_real(0.0));
    }
    if ((event == EVENT_PAUSED || event == EVENT_PROMOTED) &&
        find_pause(fold, row) == NULL)
        complain(fold, "'%s' without an observation that had it paused",
                 job_event_names[event]);
    if (event == EVENT_PROMOTED)
        job_promoted(fold, row, detail);
    else
        set_from_detail(fold, IMAGE_JOB, row, detail);
    if (event == EVENT_REOPENED)
        job_reopened(fold, row, detail);
    check_attempts(fold, row, event);
    next_state(fold, row, event, text_of(detail, "state"));
    check_told(fold, detail);
}

static void job_observed(struct fold *fold, json_t *detail)
{
    int64_t told = json_integer_value(json_object_get(detail, "told"));
    struct fold_row *job = fold_find(fold, IMAGE_JOB, fold->event->job);
    struct fold_row *row, *before;

    check_told(fold, detail);
    if (job == NULL) {
        complain(fold, "the trial was never suggested");
        return;
    }
    if (job->cells[JOB_CELL_RESOURCE].type == VALUE_NULL)
        complain(fold, "it is in no schedule");
    if (fold_find(fold, IMAGE_OBSERVATION, told) != NULL)
        return;
    row = fold_add_row(fold, IMAGE_OBSERVATION, told);
    set_from_detail(fold, IMAGE_OBSERVATION, row, detail);
    fold_set(row, OBSERVATION_CELL_JOB_ID, value_int(fold->event->job));
    fold_set(row, OBSERVATION_CELL_ATTEMPT_ID, value_int(fold->event->attempt));
    fold_set(row, OBSERVATION_CELL_TIME_MS, value_int(fold->event->time_ms));
    before = fold_find(fold, IMAGE_OBSERVATION, job->observed);
    if (before != NULL && before->cells[OBSERVATION_CELL_RESOURCE].integer >
                              row->cells[OBSERVATION_CELL_RESOURCE].integer)
        complain(fold, "it had used more before");
    job->observed = told;
}

/* ---- an attempt's events ---- */

static void attempt_starting(struct fold *fold, json_t *detail)
{
    const struct event_row *event = fold->event;
    struct fold_row *job = fold_find(fold, IMAGE_JOB, event->job);
    struct fold_row *row;

    if (fold_find(fold, IMAGE_ATTEMPT, event->attempt) != NULL) {
        complain(fold, "the attempt was made before");
        return;
    }
    row = fold_add_row(fold, IMAGE_ATTEMPT, event->attempt);
    set_from_detail(fold, IMAGE_ATTEMPT, row, detail);
    fold_set(row, ATTEMPT_CELL_JOB_ID, value_int(event->job));
    fold_set(row, ATTEMPT_CELL_STATE, value_text("starting"));
    fold_set(row, ATTEMPT_CELL_CREATED_MS, value_int(event->time_ms));
    if (job == NULL) {
        complain(fold, "an attempt of a trial that was never suggested");
        return;
    }
    job->attempts++;
    if (job->active != 0)
        complain(fold, "a second attempt while one has not ended");
    if (fold->is_complete &&
        row->cells[ATTEMPT_CELL_NUMBER].integer != job->attempts)
        complain(fold, "it is attempt %" PRId64 " of the trial", job->attempts);
    job->active = event->attempt;
}

static struct fold_row *known_attempt(struct fold *fold)
{
    struct fold_row *row = fold_find(fold, IMAGE_ATTEMPT, fold->event->attempt);

    if (row == NULL)
        complain(fold, "the attempt was never made");
    else if (row->cells[ATTEMPT_CELL_JOB_ID].integer != fold->event->job)
        complain(fold, "the attempt is another trial's");
    return row;
}

static void attempt_running(struct fold *fold, json_t *detail)
{
    struct fold_row *row = known_attempt(fold);

    if (row == NULL)
        return;
    if (strcmp(row->cells[ATTEMPT_CELL_STATE].text, "starting") != 0)
        complain(fold, "the attempt runs, and was %s",
                 row->cells[ATTEMPT_CELL_STATE].text);
    set_from_detail(fold, IMAGE_ATTEMPT, row, detail);
    fold_set(row, ATTEMPT_CELL_STATE, value_text("running"));
    fold_set(row, ATTEMPT_CELL_STARTED_MS, value_int(fold->event->time_ms));
}

static void attempt_ended(struct fold *fold, json_t *detail)
{
    struct fold_row *row = known_attempt(fold);
    struct fold_row *job = fold_find(fold, IMAGE_JOB, fold->event->job);

    if (row == NULL)
        return;
    if (strcmp(row->cells[ATTEMPT_CELL_STATE].text, "ended") == 0)
        complain(fold, "the attempt ended a second time");
    if (!fold->is_complete)
        row->said &= ~(UINT64_C(1) << ATTEMPT_CELL_STARTED_MS);
    set_from_detail(fold, IMAGE_ATTEMPT, row, detail);
    fold_set(row, ATTEMPT_CELL_STATE, value_text("ended"));
    fold_set(row, ATTEMPT_CELL_ENDED_MS, value_int(fold->event->time_ms));
    if (job != NULL && job->active == fold->event->attempt)
        job->active = 0;
}

/* ---- all of them ---- */

static const struct handler {
    const char *event;
    void (*apply)(struct fold *fold, json_t *detail);
} handlers[] = {
    {"observed", job_observed},
    {"attempt_starting", attempt_starting},
    {"attempt_running", attempt_running},
    {"attempt_ended", attempt_ended},
    {"run_created", run_created},
    {"run_state", run_state},
    {"run_paused", run_paused},
    {"run_resumed", run_resumed},
    {"engine_started", run_engine},
    {"engine_ended", run_engine},
    {"clock_jumped", clock_jumped},
};

static bool apply(struct fold *fold, json_t *detail)
{
    const char *word = fold->event->event;

    if (strcmp(word, job_event_names[EVENT_SUGGESTED]) == 0) {
        job_suggested(fold, detail);
        return true;
    }
    for (int i = 0; i < JOB_EVENT_COUNT; i++) {
        if (strcmp(word, job_event_names[i]) == 0) {
            job_event(fold, (enum job_event)i, detail);
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

void fold_add(struct fold *fold, const struct event_row *event)
{
    json_t *detail = event->detail[0] == '\0'
                         ? json_object()
                         : json_loads(event->detail, 0, NULL);

    fold->event = event;
    if (fold->kinds[IMAGE_RUN].count == 0 &&
        strcmp(event->event, "run_created") != 0)
        complain(fold, "the run's first event is '%s'", event->event);
    if (!json_is_object(detail))
        complain(fold, "its detail cannot be read");
    else if (!apply(fold, detail))
        complain(fold, "nothing is known of an event '%s'", event->event);
    json_decref(detail);
    fold->event = NULL;
}
