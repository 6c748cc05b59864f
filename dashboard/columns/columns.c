/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/columns/columns_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "store/store.h"

/* Known from the start, so that a word's place is always the same. */
static const char *const states[] = {
    "ready",   "waiting", "running",   "paused",        "succeeded", "failed",
    "stopped", "skipped", "cancelled", STATE_NONFINITE, NULL};

static const struct {
    const char *name;
    enum column_type type;
    bool is_hidden;
    const char *const *words;
} fixed_columns[FIXED_COUNT] = {
    [NUMBER] = {"number", COLUMN_U32, false, NULL},
    [JOB] = {"job", COLUMN_F64, false, NULL},
    [STATE] = {"state", COLUMN_U8, false, states},
    [CAUSE] = {"cause", COLUMN_U8, false, column_causes},
    [CREATED] = {"created", COLUMN_F64, false, NULL},
    [STARTED] = {"started", COLUMN_F64, false, NULL},
    [ENDED] = {"ended", COLUMN_F64, false, NULL},
    [DURATION] = {"duration", COLUMN_F64, false, NULL},
    [LAST_STARTED] = {"last_started", COLUMN_F64, false, NULL},
    [LAST_DURATION] = {"last_duration", COLUMN_F64, false, NULL},
    [ATTEMPTS] = {"attempts", COLUMN_U16, false, NULL},
    [VIOLATION] = {"violation", COLUMN_F64, true, NULL},
    [BRACKET] = {"bracket", COLUMN_F64, true, NULL},
    [RUNG] = {"rung", COLUMN_F64, true, NULL},
    [RESOURCE] = {"resource", COLUMN_F64, true, NULL},
    [REACHED] = {"reached", COLUMN_F64, true, NULL},
    [USED] = {"used", COLUMN_F64, true, NULL},
    [LAST_USED] = {"last_used", COLUMN_F64, true, NULL},
    [PARENT] = {"parent", COLUMN_U32, true, NULL},
    [SAME_AS] = {"same_as", COLUMN_U32, true, NULL},
    [STEP] = {"step", COLUMN_U16, true, NULL}, /* words: the run's */
    [COPY] = {"copy", COLUMN_U32, true, NULL},
    [ROUND] = {"round", COLUMN_U32, true, NULL},
    [CACHED] = {"cached", COLUMN_U8, true, NULL}, /* 1: a cache hit */
    [TAGS] = {"tags", COLUMN_U16, true, column_no_words},
    [NANS] = {"nans", COLUMN_U32, true, NULL},
};

/* ---- making ---- */

/* Of the run's own columns; names are NULL-ended and freed. */
struct names {
    char **params, **values, **outcomes, **steps;
};

static size_t count_names(char **names)
{
    size_t count = 0;

    while (names[count] != NULL)
        count++;
    return count;
}

static int read_names(struct store *store, int64_t run, struct names *names,
                      struct err *err)
{
    char **goals = NULL;

    *names = (struct names){.params = store_run_params(store, run, err)};
    if (names->params == NULL)
        return -1;
    names->values = store_run_objectives(store, run, &goals, err);
    store_free_names(goals);
    if (names->values == NULL)
        return -1;
    names->outcomes = store_run_outcomes(store, run, err);
    if (names->outcomes == NULL)
        return -1;
    names->steps = store_run_steps(store, run, err);
    return names->steps == NULL ? -1 : 0;
}

static void free_names(struct names *names)
{
    store_free_names(names->params);
    store_free_names(names->values);
    store_free_names(names->outcomes);
    store_free_names(names->steps);
}

static void init_fixed(struct columns *columns, char **steps)
{
    for (size_t i = 0; i < FIXED_COUNT; i++) {
        struct column *column = &columns->columns[i];

        column_init(column, fixed_columns[i].name, fixed_columns[i].type,
                    i == STEP ? (const char *const *)steps
                              : fixed_columns[i].words);
        column->is_hidden = fixed_columns[i].is_hidden;
    }
    columns->columns[VIOLATION].is_hidden = columns->outcome_count == 0;
}

static void init_own(struct columns *columns, size_t from, const char *prefix,
                     char **names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        char *name = mem_printf("%s:%s", prefix, names[i]);

        column_init(&columns->columns[from + i], name, COLUMN_F64, NULL);
        free(name);
    }
}

struct columns *columns_create(struct store *store, int64_t run,
                               struct err *err)
{
    struct columns *columns = NULL;
    struct names names;

    if (read_names(store, run, &names, err) == 0) {
        columns = mem_zero(sizeof(*columns));
        columns->run = run;
        columns->value_count = count_names(names.values);
        columns->outcome_count = count_names(names.outcomes);
        columns->param_count = count_names(names.params);
        columns->values = FIXED_COUNT;
        columns->outcomes = columns->values + columns->value_count;
        columns->params = columns->outcomes + columns->outcome_count;
        columns->count = columns->params + columns->param_count;
        columns->columns = mem_array(columns->count, sizeof(*columns->columns));
        init_fixed(columns, names.steps);
        init_own(columns, columns->values, "value", names.values);
        init_own(columns, columns->outcomes, "outcome", names.outcomes);
        init_own(columns, columns->params, "param", names.params);
    }
    free_names(&names);
    return columns;
}

void columns_destroy(struct columns *columns)
{
    if (columns == NULL)
        return;
    for (size_t i = 0; i < columns->count; i++)
        column_clear(&columns->columns[i]);
    free(columns->columns);
    free(columns->row_seqs);
    free(columns->block_seqs);
    free(columns);
}

int columns_reserve(struct columns *columns, size_t rows, struct err *err)
{
    size_t blocks = rows / COLUMNS_BLOCK + 1;
    size_t old_blocks =
        columns->capacity == 0 ? 0 : columns->capacity / COLUMNS_BLOCK + 1;
    int64_t *row_seqs, *block_seqs;

    if (rows <= columns->capacity)
        return 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (column_reserve(&columns->columns[i], rows, err) < 0)
            return -1;
    }
    row_seqs = reallocarray(columns->row_seqs, rows, sizeof(*row_seqs));
    if (row_seqs == NULL)
        return err_set(err, ERR_SHORTAGE, "out of memory for %zu rows", rows);
    columns->row_seqs = row_seqs;
    block_seqs = reallocarray(columns->block_seqs, blocks, sizeof(*block_seqs));
    if (block_seqs == NULL)
        return err_set(err, ERR_SHORTAGE, "out of memory for %zu rows", rows);
    memset(block_seqs + old_blocks, 0,
           (blocks - old_blocks) * sizeof(*block_seqs));
    columns->block_seqs = block_seqs;
    columns->capacity = rows;
    return 0;
}

void columns_touch(struct columns *columns, size_t row, int64_t seq)
{
    columns->row_seqs[row] = seq;
    columns->block_seqs[row / COLUMNS_BLOCK] = seq;
}

/* ---- looking ---- */

int64_t columns_seq(const struct columns *columns)
{
    return columns->seq;
}

size_t columns_bytes(const struct columns *columns)
{
    size_t bytes = columns->capacity * sizeof(*columns->row_seqs);

    for (size_t i = 0; i < columns->count; i++)
        bytes += column_bytes(&columns->columns[i]);
    return bytes;
}

/* The rows with a seq over since; most blocks have none. */
static uint32_t *changed_rows(const struct columns *columns, int64_t since,
                              size_t *count)
{
    uint32_t *rows = NULL;
    size_t capacity = 0;

    *count = 0;
    for (size_t row = 0; row < columns->rows; row++) {
        if (row % COLUMNS_BLOCK == 0 &&
            columns->block_seqs[row / COLUMNS_BLOCK] <= since) {
            row += COLUMNS_BLOCK - 1;
        } else if (columns->row_seqs[row] > since) {
            rows = mem_grow(rows, *count, &capacity, sizeof(*rows));
            rows[(*count)++] = (uint32_t)row;
        }
    }
    return rows;
}

int64_t columns_since(const struct columns *columns, int64_t since)
{
    return since < columns->whole_since || since > columns->seq ? 0 : since;
}

struct blob *columns_encode(const struct columns *columns, int64_t since)
{
    struct column_rows shown = {NULL, columns->rows};
    uint32_t *changed = NULL;
    struct blob *blob;

    if (since > 0)
        shown.which = changed = changed_rows(columns, since, &shown.count);
    blob = column_encode(
        json_pack("{s:I, s:I, s:I}", "run", (json_int_t)columns->run, "since",
                  (json_int_t)since, "seq", (json_int_t)columns->seq),
        columns->columns, columns->count, &shown);
    free(changed);
    return blob;
}
