/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows are kept by id in one array a kind; their cells and texts live in
 * chunks that are freed together. A detail's keys are the names of the cells
 * that they set, so that what remains to be told here are the events' own
 * rules: which state follows, what they null, what must have been before.
 */
#include "orchestrator/fold.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/states.h"

enum { CHUNK_BYTES = 256 << 10 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    alignas(struct value) char bytes[];
};

struct rows {
    struct fold_row *rows; /* [count] by id */
    size_t count, capacity;
};

struct fold {
    int64_t run;
    fold_wrong *wrong;
    void *user;
    struct rows kinds[IMAGE_COUNT];
    struct chunk *chunks;
    int64_t told; /* results so far */
    bool tells_places;
    bool is_complete;
    const struct event_row *event; /* the one that goes in */
};

/* ---- memory ---- */

static void *take(struct fold *fold, size_t size)
{
    struct chunk *chunk = fold->chunks;
    void *bytes;

    size = (size + sizeof(struct value) - 1) & ~(sizeof(struct value) - 1);
    if (chunk == NULL || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

        chunk = mem_zero(sizeof(*chunk) + room);
        chunk->size = room;
        chunk->next = fold->chunks;
        fold->chunks = chunk;
    }
    bytes = chunk->bytes + chunk->used;
    chunk->used += size;
    return bytes;
}

static struct value keep_text(struct fold *fold, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = take(fold, size);

    memcpy(copy, text, size);
    return value_text(copy);
}

static struct value take_text(struct fold *fold, char *text)
{
    struct value kept = keep_text(fold, text);

    free(text);
    return kept;
}

struct fold *fold_create(int64_t run, fold_wrong *wrong, void *user)
{
    struct fold *fold = mem_zero(sizeof(*fold));

    fold->run = run;
    fold->wrong = wrong;
    fold->user = user;
    return fold;
}

void fold_destroy(struct fold *fold)
{
    if (fold == NULL)
        return;
    while (fold->chunks != NULL) {
        struct chunk *chunk = fold->chunks;

        fold->chunks = chunk->next;
        free(chunk);
    }
    for (size_t i = 0; i < IMAGE_COUNT; i++)
        free(fold->kinds[i].rows);
    free(fold);
}

/* ---- rows ---- */

/* Where the row of that id is, or would be. */
static size_t find_place(const struct rows *rows, int64_t id)
{
    size_t low = 0, high = rows->count;

    if (high > 0 && rows->rows[high - 1].cells[0].integer < id)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows->rows[middle].cells[0].integer < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct fold_row *fold_find(struct fold *fold, enum image image, int64_t id)
{
    struct rows *rows = &fold->kinds[image];
    size_t place = find_place(rows, id);

    return place < rows->count && rows->rows[place].cells[0].integer == id
               ? &rows->rows[place]
               : NULL;
}

struct fold_row *fold_rows(struct fold *fold, enum image image, size_t *count)
{
    *count = fold->kinds[image].count;
    return fold->kinds[image].rows;
}

bool fold_is_complete(const struct fold *fold)
{
    return fold->is_complete;
}

int64_t fold_trial(struct fold *fold, enum image image,
                   const struct fold_row *row)
{
    if (image == IMAGE_ATTEMPT)
        row =
            fold_find(fold, IMAGE_JOB, row->cells[ATTEMPT_CELL_JOB_ID].integer);
    if (image == IMAGE_RUN || row == NULL ||
        row->cells[JOB_CELL_NUMBER].type != VALUE_INT)
        return 0;
    return row->cells[JOB_CELL_NUMBER].integer;
}

static void set(struct fold_row *row, size_t cell, struct value value)
{
    row->cells[cell] = value;
    row->said |= UINT64_C(1) << cell;
}

void fold_take_unsaid(struct fold *fold, enum image image, struct fold_row *row,
                      const struct value *recorded)
{
    for (size_t i = 0; i < image_tables[image].cell_count; i++) {
        if (fold->is_complete || (row->said >> i & 1) != 0)
            continue;
        row->cells[i] = recorded[i].type == VALUE_TEXT
                            ? keep_text(fold, recorded[i].text)
                            : recorded[i];
    }
}

static struct fold_row *add_row(struct fold *fold, enum image image, int64_t id)
{
    struct rows *rows = &fold->kinds[image];
    size_t cells = image_tables[image].cell_count;
    size_t place = find_place(rows, id);
    struct fold_row row = {.cells = take(fold, cells * sizeof(struct value))};

    rows->rows =
        mem_grow(rows->rows, rows->count, &rows->capacity, sizeof(row));
    memmove(&rows->rows[place + 1], &rows->rows[place],
            (rows->count - place) * sizeof(row));
    rows->count++;
    for (size_t i = 0; i < cells; i++)
        row.cells[i] = value_null();
    set(&row, 0, value_int(id));
    rows->rows[place] = row;
    return &rows->rows[place];
}

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

static struct value real_of(const json_t *item)
{
    const char *word = json_string_value(item);

    return value_real(word != NULL ? strtod(word, NULL)
                                   : json_number_value(item));
}

static struct value cell_of(struct fold *fold, enum image image, size_t cell,
                            const json_t *item)
{
    bool is_job = image == IMAGE_JOB;
    struct buf text = BUF_INIT;

    if (json_is_integer(item))
        return value_int(json_integer_value(item));
    if (json_is_string(item))
        return keep_text(fold, json_string_value(item));
    if (!json_is_array(item))
        return value_null();
    if (is_job && cell == JOB_CELL_VIOLATION)
        return real_of(json_array_get(item, 0));
    if (is_job && (cell == JOB_CELL_VALUES || cell == JOB_CELL_OUTCOMES))
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
                set(row, i, cell_of(fold, image, i, item));
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

    return row != NULL ? row : add_row(fold, IMAGE_RUN, fold->run);
}

static void run_created(struct fold *fold, json_t *detail)
{
    struct fold_row *row = run_row(fold);

    if (row->said != 1)
        complain(fold, "the run was created before");
    fold->is_complete = json_object_get(detail, "name") != NULL;
    set_from_detail(fold, IMAGE_RUN, row, detail);
    set(row, RUN_CELL_STATE, keep_text(fold, text_of(detail, "state")));
    set(row, RUN_CELL_CREATED_MS, value_int(fold->event->time_ms));
    if (!fold->is_complete)
        return;
    set(row, RUN_CELL_REASON, value_text(""));
    set(row, RUN_CELL_ENGINE_PID, value_int(0));
    set(row, RUN_CELL_BOOT_ID, value_text(""));
}

static void run_state(struct fold *fold, json_t *detail)
{
    struct fold_row *row = run_row(fold);
    const char *state = text_of(detail, "state");
    bool is_running = strcmp(state, run_state_names[RUN_RUNNING]) == 0;

    set(row, RUN_CELL_STATE, keep_text(fold, state));
    set(row, RUN_CELL_REASON, keep_text(fold, text_of(detail, "reason")));
    set(row, RUN_CELL_ENDED_MS,
        is_running ? value_null() : value_int(fold->event->time_ms));
}

static void run_engine(struct fold *fold, json_t *detail)
{
    struct fold_row *row = run_row(fold);

    set(row, RUN_CELL_ENGINE_PID,
        value_int(json_integer_value(json_object_get(detail, "pid"))));
    if (json_object_get(detail, "boot_id") != NULL)
        set(row, RUN_CELL_BOOT_ID, keep_text(fold, text_of(detail, "boot_id")));
    if (row->cells[RUN_CELL_ENGINE_PID].integer != 0 &&
        row->cells[RUN_CELL_STARTED_MS].type == VALUE_NULL)
        set(row, RUN_CELL_STARTED_MS, value_int(fold->event->time_ms));
}

/* ---- a trial's events ---- */

static struct value state_text(struct fold *fold, const char *word)
{
    int state = job_state_find(word);

    return state >= 0 ? value_text(job_state_names[state])
                      : keep_text(fold, word);
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
    row = add_row(fold, IMAGE_JOB, event->job);
    set_from_detail(fold, IMAGE_JOB, row, detail);
    set(row, JOB_CELL_STATE, state_text(fold, text_of(detail, "state")));
    set(row, JOB_CELL_CREATED_MS, value_int(event->time_ms));
    if (fold->is_complete) {
        set(row, JOB_CELL_VIOLATION, value_real(0.0));
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
    set(row, JOB_CELL_STATE, state_text(fold, told));
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

static void job_event(struct fold *fold, enum job_event event, json_t *detail)
{
    static const enum job_cell nulled[] = {JOB_CELL_CAUSE, JOB_CELL_DUE_MS};
    struct fold_row *row = fold_find(fold, IMAGE_JOB, fold->event->job);

    if (row == NULL) {
        complain(fold, "the trial was never suggested");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(nulled); i++)
        set(row, nulled[i], value_null());
    if (fold->is_complete) {
        set(row, JOB_CELL_ENDED_MS, value_null());
        set(row, JOB_CELL_VIOLATION, value_real(0.0));
    }
    set_from_detail(fold, IMAGE_JOB, row, detail);
    check_attempts(fold, row, event);
    next_state(fold, row, event, text_of(detail, "state"));
    check_told(fold, detail);
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
    row = add_row(fold, IMAGE_ATTEMPT, event->attempt);
    set_from_detail(fold, IMAGE_ATTEMPT, row, detail);
    set(row, ATTEMPT_CELL_JOB_ID, value_int(event->job));
    set(row, ATTEMPT_CELL_STATE, value_text("starting"));
    set(row, ATTEMPT_CELL_CREATED_MS, value_int(event->time_ms));
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
    set(row, ATTEMPT_CELL_STATE, value_text("running"));
    set(row, ATTEMPT_CELL_STARTED_MS, value_int(fold->event->time_ms));
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
    set(row, ATTEMPT_CELL_STATE, value_text("ended"));
    set(row, ATTEMPT_CELL_ENDED_MS, value_int(fold->event->time_ms));
    if (job != NULL && job->active == fold->event->attempt)
        job->active = 0;
}

/* ---- all of them ---- */

static const struct handler {
    const char *event;
    void (*apply)(struct fold *fold, json_t *detail);
} handlers[] = {
    {"attempt_starting", attempt_starting},
    {"attempt_running", attempt_running},
    {"attempt_ended", attempt_ended},
    {"run_created", run_created},
    {"run_state", run_state},
    {"engine_started", run_engine},
    {"engine_ended", run_engine},
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
