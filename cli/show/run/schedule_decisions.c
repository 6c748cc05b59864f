/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decisions of a schedule on one trial. Two sources are merged.
 * Observations have what was decided when the trial reached a rung; what became
 * of a pause is only in the events of the job. Each pause takes the next such
 * event, so both must be read in order.
 */
#include "cli/show/run/schedule_decisions.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"
#include "orchestrator/job/states.h"
#include "orchestrator/search/feedback.h"

static const struct table_column decision_columns[] = {
    {"resource", NULL, COLUMN_NUMBER, NULL},
    {"rung", NULL, COLUMN_NUMBER, NULL},
    {"last", NULL, COLUMN_NUMBER, NULL},
    {"best", NULL, COLUMN_NUMBER, NULL},
    {"decision", NULL, COLUMN_TEXT, NULL},
    {"up_to", "up to", COLUMN_NUMBER, NULL},
    {"reason", NULL, COLUMN_TEXT, NULL},
    {"time", NULL, COLUMN_TIME, NULL},
};

/* What was decided of a trial while it was paused, from its events. */
struct rest_end {
    const char *decision; /* NULL: it was not looked at any more */
    int64_t resource;     /* up to which it goes on; 0: it does not */
    int64_t time_ms;
    char *reason; /* NULL: not said */
};

struct decisions_view {
    struct document *document;
    int64_t job;
    struct rest_end *ends; /* [count], in their order */
    size_t count, capacity, next;
    int64_t resource, rung; /* of the last observation */
    bool is_paused;         /* that it decided */
    struct err *err;
};

static const struct {
    enum job_event event;
    const char *decision;
    const char *reason; /* its key in the event's detail */
} rest_ends[] = {{EVENT_PROMOTED, "promote", "reason"},
                 {EVENT_STOPPED, "stop", "verdict"}};

static void keep_end(struct decisions_view *view, size_t kind,
                     const struct event_row *row)
{
    json_t *detail = json_parse(row->detail, strlen(row->detail), NULL);

    view->ends =
        mem_grow(view->ends, view->count, &view->capacity, sizeof(*view->ends));
    view->ends[view->count++] = (struct rest_end){
        .decision = rest_ends[kind].decision,
        .resource = json_integer_value(json_object_get(detail, "resource")),
        .time_ms = row->time_ms,
        .reason = mem_copy_string(
            json_string_value(json_object_get(detail, rest_ends[kind].reason))),
    };
    json_decref(detail);
}

static int on_event(void *user, const struct event_row *row)
{
    struct decisions_view *view = user;

    for (size_t i = 0; row->job == view->job && i < ARRAY_LEN(rest_ends); i++) {
        if (strcmp(row->event, job_event_names[rest_ends[i].event]) == 0)
            keep_end(view, i, row);
    }
    return 0;
}

/* What came of its last pause. */
static int add_rest_end(struct decisions_view *view)
{
    const struct rest_end *end = &view->ends[view->next];
    const struct value cells[ARRAY_LEN(decision_columns)] = {
        value_int(view->resource),
        value_int_if(view->rung >= 0, view->rung),
        value_null(),
        value_null(),
        value_text(end->decision),
        value_int_if(end->resource > 0, end->resource),
        value_text_or_null(end->reason),
        value_int(end->time_ms),
    };

    view->next++;
    view->is_paused = false;
    return document_row(view->document, cells, view->err);
}

static int add_decision(void *user, const struct observation_row *row)
{
    struct decisions_view *view = user;
    const struct value cells[ARRAY_LEN(decision_columns)] = {
        value_int(row->resource),
        value_int_if(row->rung >= 0, row->rung),
        value_real_unless_nan(row->last),
        value_real_unless_nan(row->best),
        value_text(row->decision),
        value_null(),
        value_text(row->reason),
        value_int(row->time_ms),
    };

    if (view->is_paused && view->next < view->count && add_rest_end(view) < 0)
        return -1;
    view->resource = row->resource;
    view->rung = row->rung;
    view->is_paused = strcmp(row->decision, decision_names[DECIDE_PAUSE]) == 0;
    return document_row(view->document, cells, view->err);
}

static int add_decisions(struct decisions_view *view,
                         const struct run_view *run)
{
    if (store_each_event(run->store, run->row.id, on_event, view, view->err) <
            0 ||
        store_each_observation(run->store, run->row.id, view->job, add_decision,
                               view, view->err) < 0)
        return -1;
    return view->is_paused && view->next < view->count ? add_rest_end(view) : 0;
}

int schedule_decisions_add(struct document *document,
                           const struct run_view *view, int64_t job,
                           struct err *err)
{
    struct decisions_view decisions = {
        .document = document, .job = job, .err = err};
    int status;

    if (!view->row.is_scheduled)
        return 0;
    document_begin_list(document, "rungs", decision_columns,
                        ARRAY_LEN(decision_columns));
    status = add_decisions(&decisions, view);
    for (size_t i = 0; i < decisions.count; i++)
        free(decisions.ends[i].reason);
    free(decisions.ends);
    return document_end_list(document, err) < 0 ? -1 : status;
}
