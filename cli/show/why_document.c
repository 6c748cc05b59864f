/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/why_document.h"

#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "cli/show/jobs/why_job.h"
#include "cli/show/run/attempt_place.h"
#include "cli/show/run/schedule_decisions.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/search.h"

static const struct table_column columns[] = {
    {"id", "trial", COLUMN_NUMBER, NULL},
    {"method", NULL, COLUMN_TEXT, NULL},
    {"method_reason", "chosen because", COLUMN_TEXT, NULL},
    {"step", NULL, COLUMN_TEXT, NULL},
    {"acquisition", NULL, COLUMN_NUMBER, NULL},
    {"mean", "expected", COLUMN_NUMBER, NULL},
    {"deviation", NULL, COLUMN_NUMBER, NULL},
    {"value", "result", COLUMN_NUMBER, NULL},
    {"incumbent", "best then", COLUMN_NUMBER, NULL},
    {"incumbent_value", "its value", COLUMN_NUMBER, NULL},
    {"known", "results known", COLUMN_NUMBER, NULL},
    {"unfinished", "trials unfinished", COLUMN_NUMBER, NULL},
    {"same_as", "same setting as", COLUMN_NUMBER, NULL},
    {"parent", "clone of", COLUMN_NUMBER, NULL},
    {"note", NULL, COLUMN_TEXT, NULL},
};

struct why {
    struct document *document;
    const struct run_view *view;
    const struct experiment *experiment;
    struct search_choice choice;
    struct err *err;
};

static struct value real_or_null(const json_t *json)
{
    return json_is_number(json) ? value_real(json_number_value(json))
                                : value_null();
}

static struct value text_or_null(const json_t *json)
{
    return json_is_string(json) ? value_text(json_string_value(json))
                                : value_null();
}

static struct value first_value(const struct trial_row *row)
{
    return row->value_count > 0 ? value_real(row->values[0]) : value_null();
}

static int keep_value(void *user, const struct trial_row *row)
{
    *(struct value *)user = first_value(row);
    return 0;
}

static int find_value(const struct why *why, int64_t number,
                      struct value *value)
{
    struct trial_query query = {.run = why->view->row.id, .number = number};

    *value = value_null();
    if (number == 0)
        return 0;
    return store_each_trial(why->view->store, &query, keep_value, value,
                            why->err);
}

struct counting {
    int64_t seen, known;
};

static int count_result(void *user, const struct trial_row *row)
{
    struct counting *counting = user;

    counting->known += row->told > 0 && row->told <= counting->seen;
    return 0;
}

/* How many results there were when the trial was suggested: of the places that
 * it saw, as a schedule's observations and promotions have places, too. */
static int count_known(const struct why *why, const struct trial_row *row,
                       int64_t *known)
{
    struct trial_query query = {.run = why->view->row.id, .results_only = true};
    struct counting counting = {.seen = row->seen};

    if (why->experiment->schedule.is_on &&
        store_each_trial(why->view->store, &query, count_result, &counting,
                         why->err) < 0)
        return -1;
    *known = why->experiment->schedule.is_on ? counting.known : row->seen;
    return 0;
}

static int show(struct why *why, const struct trial_row *row,
                const json_t *reason)
{
    int64_t incumbent =
        json_integer_value(json_object_get(reason, "incumbent"));
    struct value chosen = text_or_null(json_object_get(reason, "method"));
    struct value incumbent_value;
    int64_t known;

    if (find_value(why, incumbent, &incumbent_value) < 0 ||
        count_known(why, row, &known) < 0)
        return -1;
    return document_known_fields(
        why->document, columns,
        (const struct value[ARRAY_LEN(columns)]){
            value_int(row->number),
            chosen.type == VALUE_TEXT ? chosen : value_text(why->choice.method),
            value_text(why->choice.reason),
            text_or_null(json_object_get(reason, "step")),
            real_or_null(json_object_get(reason, "acquisition")),
            real_or_null(json_object_get(reason, "mean")),
            real_or_null(json_object_get(reason, "deviation")),
            first_value(row),
            incumbent > 0 ? value_int(incumbent) : value_null(),
            incumbent_value,
            value_int(known),
            value_int(row->number - 1 - known),
            row->same_as > 0 ? value_int(row->same_as) : value_null(),
            row->parent > 0 ? value_int(row->parent) : value_null(),
            text_or_null(json_object_get(reason, "note")),
        },
        ARRAY_LEN(columns), why->err);
}

static int on_trial(void *user, const struct trial_row *row)
{
    json_t *reason = row->reason != NULL
                         ? json_parse(row->reason, strlen(row->reason), NULL)
                         : NULL;
    int status = show(user, row, reason);

    json_decref(reason);
    return status;
}

static const struct table_column place_columns[] = {
    {"waits", NULL, COLUMN_TEXT, NULL},
    {"executor", "on the cluster", COLUMN_TEXT, NULL},
};

/* Where it waits on a cluster, and what the executor said last; or what became
 * of it without its engine. */
static int add_place(const struct why *why, int64_t job)
{
    const char *note = why->view->row.note;
    struct buf queue = BUF_INIT;
    int status = place_print_queue(why->view, job, &queue, why->err);

    if (status == 0 && (queue.length > 0 || note[0] != '\0'))
        status = document_fields(why->document, NULL, place_columns,
                                 (const struct value[ARRAY_LEN(place_columns)]){
                                     value_text_unless_empty(buf_text(&queue)),
                                     value_text_unless_empty(note),
                                 },
                                 ARRAY_LEN(place_columns), why->err);
    buf_clear(&queue);
    return status;
}

static int why_trial(struct why *why, const char *operand)
{
    struct trial_query query = {.run = why->view->row.id};
    int64_t job = 0;
    int status = -1;

    if (search_choose(why->experiment, why->view->store, why->view->row.id,
                      &why->choice, why->err) == 0 &&
        run_find_trial(why->view, operand, &query.number, &job, why->err) == 0)
        status =
            store_each_trial(why->view->store, &query, on_trial, why, why->err);
    if (status == 0)
        status = add_place(why, job);
    if (status == 0)
        status =
            schedule_decisions_add(why->document, why->view, job, why->err);
    search_choice_clear(&why->choice);
    return status;
}

static int add_trial(struct document *document, const struct run_view *view,
                     const char *operand, struct err *err)
{
    struct why why = {.document = document, .view = view, .err = err};
    struct experiment *experiment =
        run_read_experiment(view->store, view->row.id, err);
    int status = -1;

    why.experiment = experiment;
    if (experiment != NULL)
        status = why_trial(&why, operand);
    experiment_destroy(experiment);
    return status;
}

int why_document_add(struct document *document, const struct run_view *view,
                     const char *operand, struct err *err)
{
    return run_is_workflow(&view->row)
               ? why_job_add(document, view, operand, err)
               : add_trial(document, view, operand, err);
}
