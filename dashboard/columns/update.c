/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/columns/columns_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/value.h"
#include "dashboard/columns/word_list.h"
#include "store/changes.h"
#include "store/store.h"

/* Those behind are "(others)", the last of the words. */
enum { STEPS_MAX = UINT16_MAX };

/* One look at what has changed. */
struct update {
    struct columns *columns;
    struct store *store;
    int64_t seq;
    int64_t *jobs;  /* [count] ids of jobs that have changed, by number */
    uint32_t *rows; /* [count] theirs */
    size_t count, jobs_capacity, rows_capacity;
    size_t old_rows;  /* of the columns */
    size_t old_count; /* of the jobs: those that have a row already */
    bool is_out_of_order;
    struct err *err;
};

/* ---- jobs ---- */

static void put(struct update *update, enum fixed_column column, size_t row,
                double number)
{
    column_put(&update->columns->columns[column], row, number);
}

static double unless(int64_t integer, int64_t none)
{
    return integer == none ? (double)NAN : (double)integer;
}

/* The first row with at least this number. */
static size_t find_row(const struct columns *columns, int64_t number)
{
    const uint32_t *numbers = columns->columns[NUMBER].cells;
    size_t low = 0, high = columns->rows;

    if (high > 0 && numbers[high - 1] < number)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int add_row(struct columns *columns, struct err *err)
{
    enum { MORE = 1024 };

    if (columns->rows == columns->capacity &&
        columns_reserve(columns, columns->rows + columns->rows / 8 + MORE,
                        err) < 0)
        return -1;
    for (size_t i = columns->params; i < columns->count; i++)
        column_put(&columns->columns[i], columns->rows, (double)NAN);
    columns->rows++;
    return 0;
}

/* What is found again in cells. */
static void forget_cells(struct update *update, size_t row)
{
    static const enum fixed_column found[] = {
        STARTED, DURATION, LAST_STARTED, LAST_DURATION,
        REACHED, USED,     LAST_USED,    NANS};
    struct columns *columns = update->columns;

    put(update, ATTEMPTS, row, 0);
    for (size_t i = 0; i < ARRAY_LEN(found); i++)
        put(update, found[i], row, (double)NAN);
    for (size_t i = columns->values; i < columns->params; i++)
        column_put(&columns->columns[i], row, (double)NAN);
}

/* All of a row's tags are one word, "good, slow". */
static void put_tags(struct update *update, size_t row, const char *tags)
{
    json_t *list = tags == NULL ? NULL : json_parse(tags, strlen(tags), NULL);
    struct buf text = BUF_INIT;
    const json_t *tag;
    size_t i;

    json_array_foreach(list, i, tag)
    {
        buf_add_string(&text, i > 0 ? ", " : "");
        buf_add_string(&text, json_string_value(tag));
    }
    column_put_word(&update->columns->columns[TAGS], row,
                    text.length > 0 ? text.data : NULL);
    buf_clear(&text);
    json_decref(list);
}

static void put_job(struct update *update, size_t row,
                    const struct job_row *job)
{
    struct columns *columns = update->columns;

    put(update, NUMBER, row, (double)job->number);
    put(update, JOB, row, (double)job->job);
    column_put_word(&columns->columns[STATE], row, job->state);
    column_put_word(&columns->columns[CAUSE], row, job->cause);
    put(update, CREATED, row, unless(job->created_ms, 0));
    put(update, ENDED, row, unless(job->ended_ms, 0));
    put(update, VIOLATION, row,
        columns->outcome_count > 0 ? job->violation : (double)NAN);
    put(update, BRACKET, row, unless(job->bracket, -1));
    put(update, RUNG, row, unless(job->rung, -1));
    put(update, RESOURCE, row, unless(job->resource, 0));
    put(update, PARENT, row, unless(job->parent, 0));
    put(update, SAME_AS, row, unless(job->same_as, 0));
    put(update, STEP, row,
        job->step < STEPS_MAX ? unless(job->step, -1) : STEPS_MAX - 1);
    put(update, COPY, row, unless(job->copy, 0));
    put(update, ROUND, row, unless(job->round, 0));
    put(update, CACHED, row,
        unless(store_is_cache_hit(job->cached_from, job->cache_key), 0));
    put_tags(update, row, job->tags);
    columns_touch(columns, row, update->seq);
    forget_cells(update, row);
}

static int take_job(void *user, const struct job_row *job)
{
    struct update *update = user;
    struct columns *columns = update->columns;
    size_t row = find_row(columns, job->number);

    if (row < columns->rows &&
        column_get(&columns->columns[NUMBER], row) != (double)job->number) {
        update->is_out_of_order = true;
        return 1;
    }
    if (row == columns->rows && add_row(columns, update->err) < 0)
        return -1;
    put_job(update, row, job);
    if (row < update->old_rows)
        update->old_count++;
    update->jobs = mem_grow(update->jobs, update->count, &update->jobs_capacity,
                            sizeof(*update->jobs));
    update->rows = mem_grow(update->rows, update->count, &update->rows_capacity,
                            sizeof(*update->rows));
    update->jobs[update->count] = job->job;
    update->rows[update->count++] = (uint32_t)row;
    return 0;
}

/* ---- cells ---- */

static int take_param(void *user, const struct cell_row *cell)
{
    struct update *update = user;
    struct columns *columns = update->columns;

    if ((size_t)cell->index < columns->param_count)
        column_put_value(
            &columns->columns[columns->params + (size_t)cell->index],
            update->rows[update->old_count + cell->place], &cell->value);
    return 0;
}

/* A value that is not a number is one, other than none. */
static void note_nan(struct update *update, size_t row, size_t place)
{
    enum { BITS = 32 };
    double before = column_get(&update->columns->columns[NANS], row);
    uint32_t bits = isnan(before) ? 0 : (uint32_t)before;

    if (place < BITS)
        put(update, NANS, row, (double)(bits | (uint32_t)1 << place));
}

static bool has_state(const struct update *update, size_t row,
                      const char *state)
{
    const struct column *states = &update->columns->columns[STATE];

    return column_get(states, row) ==
           (double)word_list_place(states->words, state);
}

/* Also where its state is shown as nonfinite by now. */
static bool has_succeeded(const struct update *update, size_t row)
{
    return has_state(update, row, "succeeded") ||
           has_state(update, row, STATE_NONFINITE);
}

static int take_value(void *user, const struct cell_row *cell)
{
    struct update *update = user;
    struct columns *columns = update->columns;

    size_t row = update->rows[cell->place], place = (size_t)cell->index;
    double value = value_number(&cell->value);

    if (place >= columns->value_count)
        return 0;
    column_put(&columns->columns[columns->values + place], row, value);
    if (isnan(value))
        note_nan(update, row, place);
    if (!isfinite(value) && has_succeeded(update, row) &&
        !(column_get(&columns->columns[VIOLATION], row) > 0))
        column_put_word(&columns->columns[STATE], row, STATE_NONFINITE);
    return 0;
}

static int take_outcome(void *user, const struct cell_row *cell)
{
    struct update *update = user;
    struct columns *columns = update->columns;

    size_t row = update->rows[cell->place], place = (size_t)cell->index;
    double value = value_number(&cell->value);

    if (place >= columns->outcome_count)
        return 0;
    column_put(&columns->columns[columns->outcomes + place], row, value);
    /* Of a trial that did not succeed, it may stand for none. */
    if (isnan(value) && has_succeeded(update, row))
        note_nan(update, row, columns->value_count + place);
    return 0;
}

static void reach(struct update *update, size_t row, double resource)
{
    put(update, REACHED, row,
        fmax(column_get(&update->columns->columns[REACHED], row), resource));
}

static int take_observation(void *user, const struct cell_row *cell)
{
    struct update *update = user;

    reach(update, update->rows[cell->place], value_number(&cell->value));
    return 0;
}

static int take_attempts(void *user, size_t place,
                         const struct attempt_totals *totals)
{
    struct update *update = user;
    size_t row = update->rows[place];
    bool is_scheduled = !update->columns->columns[BRACKET].is_hidden;

    put(update, ATTEMPTS, row, (double)totals->count);
    put(update, STARTED, row, unless(totals->first_started_ms, 0));
    put(update, LAST_STARTED, row, unless(totals->last_started_ms, 0));
    put(update, LAST_DURATION, row, unless(totals->last_ran_ms, -1));
    if (totals->ran_ms > 0 || totals->last_ran_ms >= 0)
        put(update, DURATION, row, (double)totals->ran_ms);
    if (!is_scheduled)
        return 0;
    reach(update, row, unless(totals->reached, 0));
    put(update, USED, row, unless(totals->used, 0));
    put(update, LAST_USED, row, unless(totals->last_used, 0));
    return 0;
}

static int take_cells(struct update *update)
{
    const struct columns *columns = update->columns;
    const bool is_scheduled = !columns->columns[BRACKET].is_hidden;
    const struct {
        enum cell_kind kind;
        bool is_there;
        size_t from; /* of the jobs: what those before have does not change */
        int (*take)(void *user, const struct cell_row *cell);
    } cells[] = {
        {CELL_PARAM, columns->param_count > 0, update->old_count, take_param},
        {CELL_VALUE, columns->value_count > 0, 0, take_value},
        {CELL_OUTCOME, columns->outcome_count > 0, 0, take_outcome},
        {CELL_OBSERVATION, is_scheduled, 0, take_observation},
    };

    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        struct job_ids jobs = {update->jobs + cells[i].from,
                               update->count - cells[i].from};

        if (cells[i].is_there && jobs.count > 0 &&
            store_each_cell(update->store, cells[i].kind, &jobs, cells[i].take,
                            update, update->err) != 0)
            return -1;
    }
    return store_each_attempt_totals(
        update->store, &(struct job_ids){update->jobs, update->count},
        take_attempts, update, update->err);
}

/* ---- both ---- */

static size_t count_forms(const struct columns *columns)
{
    size_t forms = 0;

    for (size_t i = 0; i < columns->count; i++)
        forms += (columns->columns[i].is_hidden ? 0 : 1) +
                 (columns->columns[i].words != NULL ? 1 : 0);
    return forms;
}

static int take_changes(struct update *update)
{
    struct columns *columns = update->columns;
    int64_t jobs;

    if (columns->seq == 0 &&
        (store_count_jobs(update->store, columns->run, &jobs, update->err) <
             0 ||
         columns_reserve(columns, (size_t)jobs, update->err) < 0))
        return -1;
    if (store_each_job(update->store, columns->run, columns->seq, take_job,
                       update, update->err) != 0)
        return -1;
    return take_cells(update);
}

/* What was added is taken away again after an error. */
static int update_to(struct update *update)
{
    struct columns *columns = update->columns;
    int result = take_changes(update);

    if (result < 0)
        columns->rows = update->old_rows;
    else
        columns->seq = update->seq;
    if (result == 0 && count_forms(columns) != columns->forms) {
        columns->forms = count_forms(columns);
        columns->whole_since = columns->seq;
    }
    free(update->jobs);
    free(update->rows);
    return result;
}

static struct columns *load(struct store *store, int64_t run, int64_t seq,
                            struct err *err)
{
    struct columns *columns = columns_create(store, run, err);
    struct update update = {
        .columns = columns, .store = store, .seq = seq, .err = err};

    if (columns != NULL && update_to(&update) == 0) {
        columns->whole_since = seq;
        return columns;
    }
    columns_destroy(columns);
    return NULL;
}

struct columns *columns_load(struct store *store, int64_t run, struct err *err)
{
    struct columns *columns = NULL;
    int64_t seq;
    bool began;

    if (store_read_begin(store, &began, err) < 0)
        return NULL;
    if (store_last_event(store, run, &seq, err) == 0)
        columns = load(store, run, seq, err);
    store_read_end(store, began);
    return columns;
}

/* In the place of what is there. */
static int load_again(struct columns *columns, struct store *store, int64_t seq,
                      struct err *err)
{
    struct columns *fresh = load(store, columns->run, seq, err);
    struct columns old = *columns;

    if (fresh == NULL)
        return -1;
    *columns = *fresh;
    *fresh = old;
    columns_destroy(fresh);
    return 0;
}

static int update_in_reading(struct columns *columns, struct store *store,
                             struct err *err)
{
    struct update update = {.columns = columns,
                            .store = store,
                            .old_rows = columns->rows,
                            .err = err};

    if (store_last_event(store, columns->run, &update.seq, err) < 0)
        return -1;
    if (update.seq == columns->seq)
        return 0;
    if (update.seq > columns->seq) {
        int result = update_to(&update);

        if (!update.is_out_of_order)
            return result;
    }
    return load_again(columns, store, update.seq, err);
}

int columns_update(struct columns *columns, struct store *store,
                   struct err *err)
{
    bool began;
    int result;

    if (store_read_begin(store, &began, err) < 0)
        return -1;
    result = update_in_reading(columns, store, err);
    store_read_end(store, began);
    return result;
}
