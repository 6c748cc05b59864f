/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing a whole row of a state table, for repair. store/repair/image.h has
 * the form of rows, and store/repair/image.c reads them.
 *
 * The SQL is made from the table of columns, so that a new column needs no
 * change here. A row is written by an upsert and never deleted first: deleting
 * it would delete the rows that refer to it. Lists have tables of their own and
 * are replaced as a whole, as the tables of targets say.
 */
#include "store/repair/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "store/store_impl.h"

static int run_once(struct store *store, const char *sql,
                    const struct value *values, size_t count, struct err *err)
{
    sqlite3_stmt *statement = store_query(store, sql, values, count, err);
    int result = statement != NULL ? store_step(store, statement, err) : -1;

    sqlite3_finalize(statement);
    return result < 0 ? -1 : 0;
}

/* ---- lists ---- */

static struct value item_value(const json_t *item, bool is_real)
{
    return is_real ? value_real(json_to_real(item)) : json_to_value(item);
}

/* Where the items of lists go: up to `cells` lists, item by item, or one list
 * `items` at a time. */
struct target {
    const char *drop, *insert; /* ?1: owner, ?2: place, ?3 ...: items */
    size_t first;              /* the cell */
    size_t cells;              /* lists beside each other */
    size_t items;              /* of one list, a row */
    bool is_real, skips_null, has_run, has_type;
};

static const struct target run_targets[] = {
    {.drop = "DELETE FROM run_objective WHERE run_id = ?1",
     .insert = "INSERT INTO run_objective VALUES (?1, ?2, ?3, ?4)",
     .first = RUN_CELL_METRICS,
     .cells = 2,
     .items = 1},
    {.drop = "DELETE FROM run_param WHERE run_id = ?1",
     .insert = "INSERT INTO run_param VALUES (?1, ?2, ?3)",
     .first = RUN_CELL_PARAMS,
     .cells = 1,
     .items = 1},
    {.drop = "DELETE FROM run_outcome WHERE run_id = ?1",
     .insert = "INSERT INTO run_outcome VALUES (?1, ?2, ?3, ?4, ?5)",
     .first = RUN_CELL_OUTCOMES,
     .cells = 1,
     .items = 3},
    {.drop = "DELETE FROM run_rung WHERE run_id = ?1",
     .insert = "INSERT INTO run_rung VALUES (?1, ?3, ?4, ?5, ?6)",
     .first = RUN_CELL_RUNGS,
     .cells = 1,
     .items = 4},
    {.drop = NULL},
};

static const struct target job_targets[] = {
    {.drop = "DELETE FROM param_value WHERE job_id = ?1",
     .insert = "INSERT INTO param_value VALUES (?1, ?2, ?3, ?4)",
     .first = JOB_CELL_PARAMS,
     .cells = 1,
     .items = 1,
     .skips_null = true,
     .has_type = true},
    {.drop = "DELETE FROM job_value WHERE job_id = ?1",
     .insert = "INSERT INTO job_value (job_id, idx, value, run_id)"
               " VALUES (?1, ?2, ?3, ?4)",
     .first = JOB_CELL_VALUES,
     .cells = 1,
     .items = 1,
     .is_real = true,
     .has_run = true},
    {.drop = "DELETE FROM job_outcome WHERE job_id = ?1",
     .insert = "INSERT INTO job_outcome VALUES (?1, ?2, ?3)",
     .first = JOB_CELL_OUTCOMES,
     .cells = 1,
     .items = 1,
     .is_real = true},
    {.drop = NULL},
};

static const struct target no_targets[] = {{.drop = NULL}};

static const struct target *const targets[IMAGE_COUNT] = {
    [IMAGE_RUN] = run_targets,        [IMAGE_JOB] = job_targets,
    [IMAGE_ATTEMPT] = no_targets,     [IMAGE_SUPERSEDED] = no_targets,
    [IMAGE_OBSERVATION] = no_targets, [IMAGE_STEP] = no_targets,
    [IMAGE_ENQUEUED] = no_targets,
};

enum { MAX_LISTS_BESIDE = 2, MAX_BOUND = 6 };

static int put_items(struct store *store, const struct target *target,
                     int64_t run, int64_t owner, json_t *const *lists,
                     struct err *err)
{
    size_t rows = json_array_size(lists[0]) / target->items;

    for (size_t row = 0; row < rows; row++) {
        struct value bound[MAX_BOUND] = {value_int(owner),
                                         value_int((int64_t)row)};
        size_t count = 2;

        for (size_t i = 0; i < target->cells * target->items; i++)
            bound[count++] = item_value(
                json_array_get(lists[i / target->items],
                               row * target->items + i % target->items),
                target->is_real);
        if (target->skips_null && bound[2].type == VALUE_NULL)
            continue;
        if (target->has_type)
            bound[count++] = value_bool(bound[2].type == VALUE_BOOL);
        if (target->has_run)
            bound[count++] = value_int(run);
        if (run_once(store, target->insert, bound, count, err) < 0)
            return -1;
    }
    return 0;
}

static int put_lists(struct store *store, const struct target *target,
                     int64_t run, const struct value *cells, struct err *err)
{
    json_t *lists[MAX_LISTS_BESIDE] = {NULL};
    int result = run_once(store, target->drop, &cells[0], 1, err);

    for (size_t i = 0; i < target->cells && result == 0; i++) {
        const struct value *cell = &cells[target->first + i];

        lists[i] = cell->type == VALUE_TEXT ? json_loads(cell->text, 0, NULL)
                                            : json_array();
        if (lists[i] == NULL)
            result = err_set(err, ERR_FAILED, "invalid list: %s", cell->text);
    }
    if (result == 0)
        result = put_items(store, target, run, cells[0].integer, lists, err);
    for (size_t i = 0; i < target->cells; i++)
        json_decref(lists[i]);
    return result;
}

/* ---- rows ---- */

/* Among those of its run; others have an id. */
static bool is_known_by_place(enum image image)
{
    return image == IMAGE_SUPERSEDED || image == IMAGE_OBSERVATION ||
           image == IMAGE_STEP || image == IMAGE_ENQUEUED;
}

/* Its children stay where there is such a row already. */
static char *upsert(enum image image, bool has_run)
{
    const struct image_table *table = &image_tables[image];
    struct buf sql = BUF_INIT;

    buf_printf(&sql, "INSERT INTO %s (", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(&sql, "%s\"%s\"", i == 0 ? "" : ", ", table->cells[i]);
    buf_printf(&sql, "%s) VALUES (", has_run ? ", run_id" : "");
    for (size_t i = 0; i < table->column_count + has_run; i++)
        buf_printf(&sql, "%s?%zu", i == 0 ? "" : ", ", i + 1);
    buf_printf(&sql, ") ON CONFLICT (%s%s) DO UPDATE SET ",
               is_known_by_place(image) ? "run_id, " : "", table->cells[0]);
    for (size_t i = 1; i < table->column_count; i++)
        buf_printf(&sql, "%s\"%s\" = excluded.\"%s\"", i == 1 ? "" : ", ",
                   table->cells[i], table->cells[i]);
    return buf_take(&sql);
}

int store_put_image(struct store *store, enum image image, int64_t run,
                    const struct value *cells, struct err *err)
{
    const struct image_table *table = &image_tables[image];
    bool has_run = image == IMAGE_JOB || is_known_by_place(image);
    struct value bound[IMAGE_MAX_CELLS + 1];
    char *sql = upsert(image, has_run);
    int result;

    memcpy(bound, cells, table->column_count * sizeof(*bound));
    bound[table->column_count] = value_int(run);
    result = run_once(store, sql, bound, table->column_count + has_run, err);
    free(sql);
    for (const struct target *target = targets[image];
         target->drop != NULL && result == 0; target++)
        result = put_lists(store, target, run, cells, err);
    return result;
}

int store_drop_image(struct store *store, enum image image, int64_t run,
                     int64_t id, struct err *err)
{
    static const char *const texts[IMAGE_COUNT] = {
        [IMAGE_RUN] = "DELETE FROM run WHERE id = ?1",
        [IMAGE_JOB] = "DELETE FROM job WHERE id = ?1",
        [IMAGE_ATTEMPT] = "DELETE FROM attempt WHERE id = ?1",
        [IMAGE_SUPERSEDED] = "DELETE FROM superseded_result"
                             " WHERE told = ?1 AND run_id = ?2",
        [IMAGE_OBSERVATION] = "DELETE FROM observation"
                              " WHERE told = ?1 AND run_id = ?2",
        [IMAGE_STEP] = "DELETE FROM run_step WHERE idx = ?1 AND run_id = ?2",
        [IMAGE_ENQUEUED] =
            "DELETE FROM enqueued WHERE idx = ?1 AND run_id = ?2",
    };
    const struct value key[] = {value_int(id), value_int(run)};

    return run_once(store, texts[image], key, is_known_by_place(image) ? 2 : 1,
                    err);
}
