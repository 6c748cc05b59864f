/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/repair/image.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

/* clang-format off */
#define CELL_KIND(cell, column, kind, member) [cell] = STORED_##kind,
#define LIST_NAME(cell, name, kind) [cell] = #name,
#define LIST_KIND(cell, name, kind) [cell] = STORED_##kind,
#define NO_LISTS(X)
#define TABLE(name, COLUMNS, LISTS)                                            \
    name,                                                                      \
    (const char *const[]){COLUMN_ENTRIES(COLUMNS) LISTS(LIST_NAME)},           \
    (const enum stored_as[]){COLUMNS(CELL_KIND, CELL_KIND) LISTS(LIST_KIND)}

const struct image_table image_tables[IMAGE_COUNT] = {
    [IMAGE_RUN] = {
        TABLE("run", RUN_COLUMNS, RUN_LISTS),
        RUN_CELL_COUNT, RUN_COLUMN_COUNT},
    [IMAGE_JOB] = {
        TABLE("job", JOB_COLUMNS, JOB_LISTS),
        JOB_CELL_COUNT, JOB_COLUMN_COUNT},
    [IMAGE_ATTEMPT] = {
        TABLE("attempt", ATTEMPT_COLUMNS, NO_LISTS),
        ATTEMPT_COLUMN_COUNT, ATTEMPT_COLUMN_COUNT},
    [IMAGE_SUPERSEDED] = {
        TABLE("superseded_result", SUPERSEDED_COLUMNS, NO_LISTS),
        SUPERSEDED_COLUMN_COUNT, SUPERSEDED_COLUMN_COUNT},
    [IMAGE_OBSERVATION] = {
        TABLE("observation", OBSERVATION_COLUMNS, NO_LISTS),
        OBSERVATION_COLUMN_COUNT, OBSERVATION_COLUMN_COUNT},
    [IMAGE_STEP] = {
        TABLE("run_step", STEP_COLUMNS, NO_LISTS),
        STEP_COLUMN_COUNT, STEP_COLUMN_COUNT},
    [IMAGE_ENQUEUED] = {
        TABLE("enqueued", ENQUEUED_COLUMNS, NO_LISTS),
        ENQUEUED_COLUMN_COUNT, ENQUEUED_COLUMN_COUNT},
};
/* clang-format on */

_Static_assert((int)JOB_CELL_COUNT <= (int)IMAGE_MAX_CELLS,
               "a row of any table has room");

/* ---- lists ---- */

static char *plain_text(const json_t *list)
{
    struct buf text = BUF_INIT;

    json_print(list, &text);
    return buf_take(&text);
}

char *image_reals(const json_t *list)
{
    size_t count = json_array_size(list);
    double *reals = mem_array(count, sizeof(*reals));
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < count; i++)
        reals[i] = json_to_real(json_array_get(list, i));
    detail_list(&text, reals, count);
    free(reals);
    return buf_take(&text);
}

/* A list's items, by their place, from rows (place, columns of the item). */
struct list {
    const char *sql; /* ?1: the id of its owner */
    json_t *(*item)(sqlite3_stmt *statement, int column);
    int columns;   /* items a row */
    bool has_gaps; /* there are as many items as parameters */
    bool is_real;  /* and null when empty */
};

static json_t *any_item(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return json_from_real(sqlite3_column_double(statement, column));
    case SQLITE_NULL:
        return json_null();
    default:
        return json_from_text(store_column_text(statement, column));
    }
}

/* value, is_bool */
static json_t *param_item(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_int(statement, column + 1))
        return json_boolean(sqlite3_column_int(statement, column));
    return any_item(statement, column);
}

static json_t *real_item(sqlite3_stmt *statement, int column)
{
    return json_from_any_real(store_column_real(statement, column));
}

static const struct list run_lists[] = {
    {"SELECT idx, metric FROM run_objective WHERE run_id = ?1 ORDER BY idx",
     any_item, 1, false, false},
    {"SELECT idx, goal FROM run_objective WHERE run_id = ?1 ORDER BY idx",
     any_item, 1, false, false},
    {"SELECT idx, name FROM run_param WHERE run_id = ?1 ORDER BY idx", any_item,
     1, false, false},
    {"SELECT idx, metric, min, max FROM run_outcome WHERE run_id = ?1"
     " ORDER BY idx",
     any_item, 3, false, false},
    {"SELECT 0, bracket, rung, resource, trials FROM run_rung"
     " WHERE run_id = ?1 ORDER BY bracket, rung",
     any_item, 4, false, false},
};

static const struct list job_lists[] = {
    {"SELECT idx, value, is_bool FROM param_value WHERE job_id = ?1"
     " ORDER BY idx",
     param_item, 1, true, false},
    {"SELECT idx, value FROM job_value WHERE job_id = ?1 ORDER BY idx",
     real_item, 1, false, true},
    {"SELECT idx, value FROM job_outcome WHERE job_id = ?1 ORDER BY idx",
     real_item, 1, false, true},
};

static const struct list *const lists[IMAGE_COUNT] = {
    [IMAGE_RUN] = run_lists,
    [IMAGE_JOB] = job_lists,
};

enum { MAX_LISTS = ARRAY_LEN(run_lists) };

/* ---- reading ---- */

struct reading {
    struct store *store;
    const struct image_table *table;
    const struct list *lists; /* [cell_count - column_count] */
    sqlite3_stmt *rows, *items[MAX_LISTS];
    int64_t param_count;
    struct err *err;
};

static char *select_rows(enum image image)
{
    static const char *const wheres[IMAGE_COUNT] = {
        [IMAGE_RUN] = "WHERE id = ?1",
        [IMAGE_JOB] = "WHERE run_id = ?1",
        [IMAGE_ATTEMPT] = "WHERE job_id IN"
                          " (SELECT id FROM job WHERE run_id = ?1)",
        [IMAGE_SUPERSEDED] = "WHERE run_id = ?1",
        [IMAGE_OBSERVATION] = "WHERE run_id = ?1",
        [IMAGE_STEP] = "WHERE run_id = ?1",
        [IMAGE_ENQUEUED] = "WHERE run_id = ?1",
    };
    const struct image_table *table = &image_tables[image];
    struct buf sql = BUF_INIT;

    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(&sql, "%s\"%s\"", i == 0 ? "SELECT " : ", ",
                   table->cells[i]);
    buf_printf(&sql, " FROM %s %s ORDER BY 1", table->name, wheres[image]);
    return buf_take(&sql);
}

static struct value read_cell(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return value_int(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return value_real(sqlite3_column_double(statement, column));
    case SQLITE_NULL:
        return value_null();
    default:
        return value_text(store_column_text(statement, column));
    }
}

/* NULL on error, and *is_null where there is nothing to tell. */
static char *read_list(struct reading *reading, size_t index, int64_t owner,
                       bool *is_null)
{
    const struct list *list = &reading->lists[index];
    sqlite3_stmt *statement = reading->items[index];
    json_t *items = json_array();
    char *text = NULL;
    int row;

    sqlite3_bind_int64(statement, 1, owner);
    while ((row = store_step(reading->store, statement, reading->err)) > 0) {
        size_t place = (size_t)sqlite3_column_int64(statement, 0);

        while (list->has_gaps && json_array_size(items) < place &&
               json_array_size(items) < (size_t)reading->param_count)
            json_array_append_new(items, json_null());
        for (int i = 0; i < list->columns; i++)
            json_array_append_new(items, list->item(statement, 1 + i));
    }
    sqlite3_reset(statement);
    while (list->has_gaps &&
           json_array_size(items) < (size_t)reading->param_count)
        json_array_append_new(items, json_null());
    *is_null = row == 0 && list->is_real && json_array_size(items) == 0;
    if (row == 0 && !*is_null)
        text = list->is_real ? image_reals(items) : plain_text(items);
    json_decref(items);
    return text;
}

static int hand_out(struct reading *reading,
                    int (*row)(void *user, const struct value *cells),
                    void *user)
{
    const struct image_table *table = reading->table;
    size_t list_count = table->cell_count - table->column_count;
    struct value cells[IMAGE_MAX_CELLS] = {{.type = VALUE_NULL}};
    char *texts[MAX_LISTS] = {NULL};
    int result = 0;

    for (size_t i = 0; i < table->column_count; i++)
        cells[i] = read_cell(reading->rows, (int)i);
    for (size_t i = 0; i < list_count && result == 0; i++) {
        bool is_null = false;

        texts[i] = read_list(reading, i, cells[0].integer, &is_null);
        cells[table->column_count + i] = value_text(texts[i]);
        if (is_null)
            cells[table->column_count + i] = value_null();
        else if (texts[i] == NULL)
            result = -1;
    }
    if (result == 0)
        result = row(user, cells);
    for (size_t i = 0; i < list_count; i++)
        free(texts[i]);
    return result;
}

static int prepare(struct reading *reading, enum image image,
                   const struct value *run)
{
    const struct image_table *table = &image_tables[image];
    char *sql = select_rows(image);

    reading->table = table;
    reading->lists = lists[image];
    reading->rows = store_query(reading->store, sql, run, 1, reading->err);
    free(sql);
    if (reading->rows == NULL ||
        store_query_integer(reading->store,
                            "SELECT count(*) FROM run_param WHERE run_id = ?1",
                            run, 1, &reading->param_count, reading->err) < 0)
        return -1;
    for (size_t i = 0; i < table->cell_count - table->column_count; i++) {
        reading->items[i] = store_query(reading->store, reading->lists[i].sql,
                                        NULL, 0, reading->err);
        if (reading->items[i] == NULL)
            return -1;
    }
    return 0;
}

int store_each_image(struct store *store, enum image image, int64_t run,
                     int (*row)(void *user, const struct value *cells),
                     void *user, struct err *err)
{
    struct reading reading = {.store = store, .err = err};
    struct value id = value_int(run);
    int result = prepare(&reading, image, &id);

    while (result == 0 && (result = store_step(store, reading.rows, err)) > 0)
        result = hand_out(&reading, row, user);
    sqlite3_finalize(reading.rows);
    for (size_t i = 0; i < MAX_LISTS; i++)
        sqlite3_finalize(reading.items[i]);
    return result;
}
