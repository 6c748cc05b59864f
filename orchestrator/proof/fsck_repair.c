/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing the tables of a run from its events, in the caller's transaction.
 *
 * The events are folded into rows, which are compared with the recorded ones;
 * only rows that differ are written. Rows without an event are dropped.
 * Attempts that differ are dropped before they are written: a job has at most
 * one active attempt, and two rows could not change places otherwise. If the
 * events contradict themselves, nothing is written.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/proof/fsck.h"
#include "orchestrator/proof/fsck_fold.h"

struct repair {
    struct store *store;
    int64_t run;
    struct fsck_fold *fold;
    enum image image;
    int64_t *dropped; /* [count] ids of rows that no event tells of */
    size_t count, capacity;
    bool is_broken; /* the events themselves cannot be */
};

static void on_wrong(void *user, int64_t seq, int64_t trial, int64_t attempt,
                     const char *text)
{
    struct repair *repair = user;

    (void)seq;
    (void)trial;
    (void)attempt;
    (void)text;
    repair->is_broken = true;
}

static int on_event(void *user, const struct event_row *event)
{
    struct repair *repair = user;

    fsck_fold_add(repair->fold, event);
    return 0;
}

static void drop_later(struct repair *repair, int64_t id)
{
    repair->dropped = mem_grow(repair->dropped, repair->count,
                               &repair->capacity, sizeof(*repair->dropped));
    repair->dropped[repair->count++] = id;
}

static int on_row(void *user, const struct value *cells)
{
    struct repair *repair = user;
    struct fsck_fold_row *row =
        fsck_fold_find(repair->fold, repair->image, cells[0].integer);
    bool is_same = row != NULL;

    for (size_t i = 0; is_same && i < image_tables[repair->image].cell_count;
         i++)
        is_same = value_equal(&cells[i], &row->cells[i]);
    if (row != NULL)
        row->is_recorded = is_same;
    /* An attempt may go and come back, which nothing hangs on: so two of them
     * can change places. */
    if (row == NULL || (!is_same && repair->image == IMAGE_ATTEMPT))
        drop_later(repair, cells[0].integer);
    return 0;
}

static int write_rows(struct repair *repair, struct err *err)
{
    size_t count;
    struct fsck_fold_row *rows =
        fsck_fold_rows(repair->fold, repair->image, &count);
    int result = 0;

    for (size_t i = 0; i < repair->count && result == 0; i++)
        result = store_drop_image(repair->store, repair->image, repair->run,
                                  repair->dropped[i], err);
    for (size_t i = 0; i < count && result == 0; i++) {
        if (!rows[i].is_recorded)
            result = store_put_image(repair->store, repair->image, repair->run,
                                     rows[i].cells, err);
    }
    repair->count = 0;
    return result;
}

int fsck_repair_run(struct store *store, int64_t run, bool *is_mended,
                    struct err *err)
{
    struct repair repair = {.store = store, .run = run};
    int result;

    repair.fold = fsck_fold_create(run, on_wrong, &repair);
    result = store_each_event(store, run, on_event, &repair, err);
    *is_mended = result == 0 && !repair.is_broken;
    for (int i = 0; i < IMAGE_COUNT && *is_mended && result == 0; i++) {
        repair.image = (enum image)i;
        result =
            store_each_image(store, repair.image, run, on_row, &repair, err);
        if (result == 0)
            result = write_rows(&repair, err);
    }
    free(repair.dropped);
    fsck_fold_destroy(repair.fold);
    return result;
}
