/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows are kept by id in one array a kind; their cells and texts live in chunks
 * that are freed together. */
#include "orchestrator/proof/fsck_fold_impl.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { CHUNK_BYTES = 256 << 10 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    alignas(struct value) char bytes[];
};

/* ---- memory ---- */

static void *take(struct fsck_fold *fold, size_t size)
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

struct value fsck_fold_keep_text(struct fsck_fold *fold, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = take(fold, size);

    memcpy(copy, text, size);
    return value_text(copy);
}

struct fsck_fold *fsck_fold_create(int64_t run, fsck_fold_wrong *wrong,
                                   void *user)
{
    struct fsck_fold *fold = mem_zero(sizeof(*fold));

    fold->run = run;
    fold->wrong = wrong;
    fold->user = user;
    return fold;
}

void fsck_fold_destroy(struct fsck_fold *fold)
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

struct fsck_fold_row *fsck_fold_find(struct fsck_fold *fold, enum image image,
                                     int64_t id)
{
    struct rows *rows = &fold->kinds[image];
    size_t place = find_place(rows, id);

    return place < rows->count && rows->rows[place].cells[0].integer == id
               ? &rows->rows[place]
               : NULL;
}

struct fsck_fold_row *fsck_fold_rows(struct fsck_fold *fold, enum image image,
                                     size_t *count)
{
    *count = fold->kinds[image].count;
    return fold->kinds[image].rows;
}

int64_t fsck_fold_trial(struct fsck_fold *fold, enum image image,
                        const struct fsck_fold_row *row)
{
    if (image == IMAGE_ATTEMPT)
        row = fsck_fold_find(fold, IMAGE_JOB,
                             row->cells[ATTEMPT_CELL_JOB_ID].integer);
    if (image == IMAGE_OBSERVATION)
        row = fsck_fold_find(fold, IMAGE_JOB,
                             row->cells[OBSERVATION_CELL_JOB_ID].integer);
    if (image == IMAGE_SUPERSEDED)
        return row->cells[SUPERSEDED_CELL_NUMBER].integer;
    if (image == IMAGE_RUN || row == NULL ||
        row->cells[JOB_CELL_NUMBER].type != VALUE_INT)
        return 0;
    return row->cells[JOB_CELL_NUMBER].integer;
}

void fsck_fold_set(struct fsck_fold_row *row, size_t cell, struct value value)
{
    row->cells[cell] = value;
}

struct fsck_fold_row *fsck_fold_add_row(struct fsck_fold *fold,
                                        enum image image, int64_t id)
{
    struct rows *rows = &fold->kinds[image];
    size_t cells = image_tables[image].cell_count;
    size_t place = find_place(rows, id);
    struct fsck_fold_row row = {.cells =
                                    take(fold, cells * sizeof(struct value))};

    rows->rows =
        mem_grow(rows->rows, rows->count, &rows->capacity, sizeof(row));
    memmove(&rows->rows[place + 1], &rows->rows[place],
            (rows->count - place) * sizeof(row));
    rows->count++;
    for (size_t i = 0; i < cells; i++)
        row.cells[i] = value_null();
    fsck_fold_set(&row, 0, value_int(id));
    rows->rows[place] = row;
    return &rows->rows[place];
}

const char *fsck_fold_step_name(const struct fsck_fold_row *step)
{
    const struct value *name = &step->cells[STEP_CELL_NAME];

    return name->type == VALUE_TEXT ? name->text : "";
}

struct fsck_fold_row *fsck_fold_run_row(struct fsck_fold *fold)
{
    struct fsck_fold_row *row = fsck_fold_find(fold, IMAGE_RUN, fold->run);

    return row != NULL ? row : fsck_fold_add_row(fold, IMAGE_RUN, fold->run);
}
