/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people add to a run or a job: notes, tags, settings to be tried. */
#include "orchestrator/proof/fold_impl.h"

#include <inttypes.h>

/* One cell follows from the detail, which says nothing where it is empty. */
static void set_remark(struct fold *fold, enum run_cell of_run,
                       enum job_cell of_job, json_t *detail)
{
    bool is_job = fold->event->job != 0;
    enum image image = is_job ? IMAGE_JOB : IMAGE_RUN;
    struct fold_row *row = is_job ? fold_find(fold, IMAGE_JOB, fold->event->job)
                                  : fold_run_row(fold);

    if (row == NULL) {
        fold_complain(fold, "there is no such trial");
        return;
    }
    fold_set(row, is_job ? (size_t)of_job : (size_t)of_run, value_null());
    fold_set_from_detail(fold, image, row, detail);
}

void fold_commented(struct fold *fold, json_t *detail)
{
    set_remark(fold, RUN_CELL_COMMENT, JOB_CELL_COMMENT, detail);
}

void fold_tagged(struct fold *fold, json_t *detail)
{
    set_remark(fold, RUN_CELL_TAGS, JOB_CELL_TAGS, detail);
}

void fold_enqueued(struct fold *fold, json_t *detail)
{
    int64_t index = json_integer_value(json_object_get(detail, "idx"));
    struct fold_row *row;

    if (index != (int64_t)fold->kinds[IMAGE_ENQUEUED].count + 1) {
        fold_complain(fold, "it is setting %" PRId64 ", and should be %zu",
                      index, fold->kinds[IMAGE_ENQUEUED].count + 1);
        return;
    }
    row = fold_add_row(fold, IMAGE_ENQUEUED, index);
    fold_set_from_detail(fold, IMAGE_ENQUEUED, row, detail);
    fold_set(row, ENQUEUED_CELL_CREATED_MS, value_int(fold->event->time_ms));
}

/* It tries a setting that was enqueued, and that no other trial does. */
void fold_take_enqueued(struct fold *fold, const struct fold_row *job,
                        const json_t *detail)
{
    int64_t index = json_integer_value(json_object_get(detail, "enqueued"));
    struct fold_row *row = fold_find(fold, IMAGE_ENQUEUED, index);

    if (index == 0)
        return;
    if (row == NULL)
        fold_complain(fold, "setting %" PRId64 " was never enqueued", index);
    else if (row->cells[ENQUEUED_CELL_TRIAL].type != VALUE_NULL)
        fold_complain(fold, "setting %" PRId64 " was tried before", index);
    else
        fold_set(row, ENQUEUED_CELL_TRIAL, job->cells[JOB_CELL_NUMBER]);
}
