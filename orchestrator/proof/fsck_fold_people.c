/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people add to a run or a job: notes, tags, settings to be tried. */
#include "orchestrator/proof/fsck_fold_impl.h"

#include <inttypes.h>

/* One cell follows from the detail, which says nothing where it is empty. */
static void set_remark(struct fsck_fold *fold, enum run_cell of_run,
                       enum job_cell of_job, json_t *detail)
{
    bool is_job = fold->event->job != 0;
    enum image image = is_job ? IMAGE_JOB : IMAGE_RUN;
    struct fsck_fold_row *row =
        is_job ? fsck_fold_find(fold, IMAGE_JOB, fold->event->job)
               : fsck_fold_run_row(fold);

    if (row == NULL) {
        fsck_fold_complain(fold, "no such trial");
        return;
    }
    fsck_fold_set(row, is_job ? (size_t)of_job : (size_t)of_run, value_null());
    fsck_fold_set_from_detail(fold, image, row, detail);
}

void fsck_fold_commented(struct fsck_fold *fold, json_t *detail)
{
    set_remark(fold, RUN_CELL_COMMENT, JOB_CELL_COMMENT, detail);
}

void fsck_fold_cancel_asked(struct fsck_fold *fold, json_t *detail)
{
    struct fsck_fold_row *row =
        fsck_fold_find(fold, IMAGE_JOB, fold->event->job);

    if (row == NULL) {
        fsck_fold_complain(fold, "no such trial");
        return;
    }
    fsck_fold_set(row, JOB_CELL_CANCEL_ASKED, value_null());
    fsck_fold_set_from_detail(fold, IMAGE_JOB, row, detail);
}

void fsck_fold_tagged(struct fsck_fold *fold, json_t *detail)
{
    set_remark(fold, RUN_CELL_TAGS, JOB_CELL_TAGS, detail);
}

void fsck_fold_enqueued(struct fsck_fold *fold, json_t *detail)
{
    int64_t index = json_integer_value(json_object_get(detail, "idx"));
    struct fsck_fold_row *row;

    if (index != (int64_t)fold->kinds[IMAGE_ENQUEUED].count + 1) {
        fsck_fold_complain(fold,
                           "wrong number: setting %" PRId64 ", expected %zu",
                           index, fold->kinds[IMAGE_ENQUEUED].count + 1);
        return;
    }
    row = fsck_fold_add_row(fold, IMAGE_ENQUEUED, index);
    fsck_fold_set_from_detail(fold, IMAGE_ENQUEUED, row, detail);
    fsck_fold_set(row, ENQUEUED_CELL_CREATED_MS,
                  value_int(fold->event->time_ms));
}

/* It tries a setting that was enqueued, and that no other trial does. */
void fsck_fold_take_enqueued(struct fsck_fold *fold,
                             const struct fsck_fold_row *job,
                             const json_t *detail)
{
    int64_t index = json_integer_value(json_object_get(detail, "enqueued"));
    struct fsck_fold_row *row = fsck_fold_find(fold, IMAGE_ENQUEUED, index);

    if (index == 0)
        return;
    if (row == NULL)
        fsck_fold_complain(fold, "setting %" PRId64 " was never enqueued",
                           index);
    else if (row->cells[ENQUEUED_CELL_TRIAL].type != VALUE_NULL)
        fsck_fold_complain(fold, "setting %" PRId64 " was already tried",
                           index);
    else
        fsck_fold_set(row, ENQUEUED_CELL_TRIAL, job->cells[JOB_CELL_NUMBER]);
}
