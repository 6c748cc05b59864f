/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/proof/fsck.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/proof/fsck_impl.h"

void fsck_report(struct fsck *fsck, struct fsck_finding finding)
{
    finding.run = fsck->name;
    fsck->counts->findings += !finding.is_note;
    fsck->counts->notes += finding.is_note;
    fsck->found(fsck->user, &finding);
}

/* ---- events ---- */

static void on_wrong(void *user, int64_t seq, int64_t trial, int64_t attempt,
                     const char *text)
{
    char what[40];

    snprintf(what, sizeof(what), "event %" PRId64, seq);
    fsck_report(user, (struct fsck_finding){.trial = trial,
                                            .attempt = attempt,
                                            .what = what,
                                            .text = text});
}

static int on_event(void *user, const struct event_row *event)
{
    struct fsck *fsck = user;

    fsck_fold_add(fsck->fold, event);
    fsck->counts->events++;
    return 0;
}

/* ---- rows ---- */

struct comparing {
    struct fsck *fsck;
    enum image image;
};

static int64_t attempt_number(enum image image, const struct value *cells)
{
    return image == IMAGE_ATTEMPT &&
                   cells[ATTEMPT_CELL_NUMBER].type == VALUE_INT
               ? cells[ATTEMPT_CELL_NUMBER].integer
               : 0;
}

static void add_shown(const struct value *cell, struct buf *out)
{
    if (cell->type == VALUE_NULL)
        buf_add_string(out, "NULL");
    else if (cell->type == VALUE_TEXT && cell->text[0] == '\0')
        buf_add_string(out, "''");
    else
        value_print(cell, out);
}

/* The caller frees. */
static char *name_cell(enum image image, size_t cell,
                       const struct fsck_fold_row *row)
{
    const char *name = image_tables[image].cells[cell];

    return image == IMAGE_STEP
               ? mem_printf("step %s: %s", row->cells[STEP_CELL_NAME].text,
                            name)
               : mem_copy_string(name);
}

static void compare_cells(struct comparing *comparing,
                          struct fsck_fold_row *row, const struct value *cells)
{
    const struct image_table *table = &image_tables[comparing->image];
    struct fsck_fold *fold = comparing->fsck->fold;

    for (size_t i = 0; i < table->cell_count; i++) {
        struct buf recorded = BUF_INIT, by_events = BUF_INIT;
        char *name;

        if (value_equal(&cells[i], &row->cells[i]))
            continue;
        name = name_cell(comparing->image, i, row);
        add_shown(&cells[i], &recorded);
        add_shown(&row->cells[i], &by_events);
        fsck_report(comparing->fsck,
                    (struct fsck_finding){
                        .trial = fsck_fold_trial(fold, comparing->image, row),
                        .attempt = attempt_number(comparing->image, row->cells),
                        .what = name,
                        .recorded = buf_text(&recorded),
                        .by_events = buf_text(&by_events),
                    });
        free(name);
        buf_clear(&recorded);
        buf_clear(&by_events);
    }
}

static int on_row(void *user, const struct value *cells)
{
    struct comparing *comparing = user;
    struct fsck *fsck = comparing->fsck;
    enum image image = comparing->image;
    struct fsck_fold_row *row =
        fsck_fold_find(fsck->fold, image, cells[0].integer);

    fsck->counts->trials += image == IMAGE_JOB;
    fsck->counts->attempts += image == IMAGE_ATTEMPT;
    if (row == NULL) {
        struct fsck_fold_row unknown = {.cells =
                                            (struct value *)(uintptr_t)cells};

        fsck_report(fsck,
                    (struct fsck_finding){
                        .trial = fsck_fold_trial(fsck->fold, image, &unknown),
                        .attempt = attempt_number(image, cells),
                        .what = image_tables[image].name,
                        .text = "row without a matching event",
                    });
        return 0;
    }
    row->is_recorded = true;
    compare_cells(comparing, row, cells);
    return 0;
}

static void report_missing(struct fsck *fsck, enum image image)
{
    size_t count;
    struct fsck_fold_row *rows = fsck_fold_rows(fsck->fold, image, &count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_recorded)
            continue;
        fsck_report(fsck,
                    (struct fsck_finding){
                        .trial = fsck_fold_trial(fsck->fold, image, &rows[i]),
                        .attempt = attempt_number(image, rows[i].cells),
                        .what = image_tables[image].name,
                        .text = "events without a matching row",
                    });
    }
}

static int compare(struct fsck *fsck, struct err *err)
{
    for (int image = 0; image < IMAGE_COUNT; image++) {
        struct comparing comparing = {fsck, (enum image)image};

        if (store_each_image(fsck->store, comparing.image, fsck->run, on_row,
                             &comparing, err) != 0)
            return -1;
        report_missing(fsck, comparing.image);
    }
    return 0;
}

/* ---- a run ---- */

/* Where the run has no row, its events know its name. */
static void find_name(struct fsck *fsck)
{
    size_t count;
    struct fsck_fold_row *row = fsck_fold_rows(fsck->fold, IMAGE_RUN, &count);

    if (count > 0 && row->cells[RUN_CELL_NAME].type == VALUE_TEXT)
        fsck->name = mem_copy_string(row->cells[RUN_CELL_NAME].text);
}

static int keep_name(void *user, const struct run_row *run)
{
    struct fsck *fsck = user;

    fsck->name = mem_copy_string(run->name);
    return 0;
}

static int read_name(struct fsck *fsck, struct err *err)
{
    struct err why;

    if (store_get_run_uncounted(fsck->store, fsck->run, keep_name, fsck,
                                &why) == 0 ||
        why.kind == ERR_NOT_FOUND)
        return 0;
    *err = why;
    return -1;
}

int fsck_run(struct store *store, int64_t run, fsck_found *found, void *user,
             struct fsck_counts *counts, struct err *err)
{
    struct fsck fsck = {.store = store,
                        .run = run,
                        .found = found,
                        .user = user,
                        .counts = counts};
    bool began;
    int result;

    if (store_read_begin(store, &began, err) != 0)
        return -1;
    fsck.fold = fsck_fold_create(run, on_wrong, &fsck);
    result = read_name(&fsck, err);
    if (result == 0)
        result = store_each_event(store, run, on_event, &fsck, err);
    if (fsck.name == NULL)
        find_name(&fsck);
    if (result == 0)
        result = compare(&fsck, err);
    store_read_end(store, began);
    if (result == 0) {
        counts->runs++;
        if (fsck.name != NULL)
            fsck_files(&fsck);
    }
    free(fsck.name);
    fsck_fold_destroy(fsck.fold);
    return result;
}
