/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/trial_document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cli/show/jobs/notes_and_tags.h"
#include "cli/show/run/attempt_place.h"
#include "cli/show/run/curve_list.h"
#include "cli/show/run/schedule_decisions.h"
#include "cli/show/run/trial_table.h"

struct trial_document {
    struct document *document;
    bool is_for_people;
    struct trial_table table;
    struct err *err;
};

/* ---- the trial ---- */

static int add_trial(void *user, const struct trial_row *trial)
{
    struct trial_document *this = user;
    const struct value *cells = trial_table_cells(&this->table, trial);

    return document_fields(this->document, NULL, this->table.columns, cells,
                           this->is_for_people ? this->table.for_people
                                               : this->table.count,
                           this->err);
}

/* ---- its attempts ---- */

static const struct table_column attempt_columns[] = {
    {"number", NULL, COLUMN_NUMBER, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"cause", NULL, COLUMN_TEXT, NULL},
    {"exit_code", NULL, COLUMN_NUMBER, NULL},
    {"signal", NULL, COLUMN_NUMBER, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"ended", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
    {"cpu_ms", "cpu", COLUMN_DURATION, NULL},
    {"max_rss_bytes", "memory", COLUMN_BYTES, NULL},
    {"directory", NULL, COLUMN_TEXT, NULL},
    {"text", NULL, COLUMN_TEXT, NULL},
    {"used", NULL, COLUMN_NUMBER, NULL}, /* of the schedule's resource */
};

struct attempt_list {
    struct document *document;
    struct place_list places;
    struct err *err;
};

static int add_attempt(void *user, const struct attempt_row *attempt)
{
    const struct attempt_list *list = user;
    /* nothing that ran has had no memory */
    bool was_measured = attempt->ended_ms != 0 && attempt->max_rss_bytes > 0;
    struct attempt_now now;
    int status;

    attempt_now_of(list->places.view, attempt, &now);
    const struct value cells[ARRAY_LEN(attempt_columns)] = {
        value_int(attempt->number),
        value_text(now.state),
        value_text_unless_empty(attempt->cause),
        value_int_if(attempt->exit_code >= 0, attempt->exit_code),
        value_int_if(attempt->signal != 0, attempt->signal),
        value_int(now.started_ms),
        value_int(attempt->ended_ms),
        value_int_unless(now.ran_ms, -1),
        value_int_if(was_measured, attempt->cpu_ms),
        value_int_if(was_measured, attempt->max_rss_bytes),
        value_text(attempt->directory),
        value_text_unless_empty(attempt->text),
        value_int_unless(attempt->resource_used, 0),
    };

    status = place_list_row(&list->places, list->document, cells, attempt, &now,
                            list->err);
    attempt_now_clear(&now);
    return status;
}

int trial_document_add_attempts(struct document *document,
                                const struct run_view *view, int64_t job,
                                struct err *err)
{
    struct attempt_list list = {.document = document, .err = err};
    size_t count = ARRAY_LEN(attempt_columns) - !view->row.is_scheduled;

    if (place_list_init(&list.places, attempt_columns, count, view, job, err) <
        0)
        return -1;
    document_begin_list(document, "attempts", list.places.columns,
                        list.places.count);
    if (store_each_attempt(view->store, view->row.id, job, add_attempt, &list,
                           err) < 0)
        return -1;
    return document_end_list(document, err);
}

/* ---- its metrics ---- */

static const struct table_column metric_columns[] = {
    {"name", "metric", COLUMN_TEXT, NULL},
    {"step", "last step", COLUMN_NUMBER, NULL},
    {"value", NULL, COLUMN_NUMBER, NULL},
    {"points", NULL, COLUMN_NUMBER, NULL},
    {"resource", NULL, COLUMN_NUMBER, NULL}, /* of the last step */
};

struct metric_list {
    struct document *document;
    char *metric; /* whose last point is kept, not yet written */
    double step, value;
    int64_t points;
    int64_t first_unit; /* see store_first_unit() */
    struct err *err;
};

static int add_kept_metric(struct metric_list *list)
{
    const struct value cells[ARRAY_LEN(metric_columns)] = {
        value_text(list->metric),
        curve_step(list->step),
        value_real(list->value),
        value_int(list->points),
        curve_step(list->step + (double)list->first_unit),
    };

    return list->metric == NULL
               ? 0
               : document_row(list->document, cells, list->err);
}

/* Points come name by name, each by step: the last one of a name is wanted. */
static int keep_metric(void *user, const struct metric_row *metric)
{
    struct metric_list *list = user;

    if (list->metric == NULL || strcmp(list->metric, metric->name) != 0) {
        if (add_kept_metric(list) < 0)
            return -1;
        free(list->metric);
        list->metric = mem_copy_string(metric->name);
        list->points = 0;
    }
    list->step = metric->step;
    list->value = metric->value;
    list->points++;
    return 0;
}

int trial_document_add_metrics(struct document *document,
                               const struct run_view *view, int64_t job,
                               struct err *err)
{
    struct metric_list list = {.document = document, .err = err};
    int status = 0;

    if (view->row.is_scheduled)
        status = store_first_unit(view->store, job, &list.first_unit, err);

    document_begin_list(document, "metrics", metric_columns,
                        ARRAY_LEN(metric_columns) - !view->row.is_scheduled);
    if (status == 0)
        status = store_each_metric(view->store, job, keep_metric, &list, err);
    if (status == 0)
        status = add_kept_metric(&list);
    free(list.metric);
    return status == 0 ? document_end_list(document, err) : -1;
}

int trial_document_add(struct document *document, const struct cli *cli,
                       const struct run_view *view, const char *operand,
                       struct err *err)
{
    struct trial_document this = {.document = document,
                                  .is_for_people = cli->output == OUTPUT_TABLE,
                                  .err = err};
    struct trial_query query = {.run = view->row.id};
    int64_t job;
    int status;

    if (run_find_trial(view, operand, &query.number, &job, err) < 0)
        return -1;
    trial_table_init(&this.table, view, TRIAL_ALL);
    status = store_each_trial(view->store, &query, add_trial, &this, err);
    if (status == 0)
        status = notes_and_tags_add(document, cli, view, job, err);
    if (status == 0)
        status = trial_document_add_attempts(document, view, job, err);
    if (status == 0)
        status = schedule_decisions_add(document, view, job, err);
    if (status == 0)
        status = trial_document_add_metrics(document, view, job, err);
    trial_table_clear(&this.table);
    return status;
}
