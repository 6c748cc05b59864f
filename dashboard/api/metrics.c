/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "dashboard/api/api.h"
#include "dashboard/columns/column.h"
#include "dashboard/columns/trial_ranges.h"
#include "store/changes.h"
#include "store/store.h"

/* The learning curves of a run, a page of points at a time. A curve is always
 * whole: a page may be longer than its limit by the rest of one. */

#define LIMIT_FALLBACK "100000"
enum { LIMIT_MAX = 1000000 };

/* ---- points ---- */

enum { NUMBER, STEP, VALUE, TIME, POINT_RESOURCE, COLUMN_COUNT };

struct page {
    struct column columns[COLUMN_COUNT];
    struct column_table table;
    size_t limit;
    int64_t last;      /* number */
    int64_t seq, next; /* of the run; of the page, 0: it is the last one */
    struct err *err;
};

static int add_point(void *user, const struct point_row *point)
{
    struct page *page = user;
    size_t row = page->table.rows;

    if (row >= page->limit && point->number != page->last)
        return 1;
    if (column_table_add_row(&page->table, page->err) < 0)
        return -1;
    page->last = point->number;
    column_put(&page->columns[NUMBER], row, (double)point->number);
    column_put(&page->columns[STEP], row, point->step);
    column_put(&page->columns[VALUE], row, point->value);
    column_put(&page->columns[TIME], row, (double)point->time_ms);
    column_put(&page->columns[POINT_RESOURCE], row, point->resource);
    return 0;
}

/* 1: there are more behind the page. */
static int read_points(struct page *page, struct store *store,
                       struct point_query *query,
                       const struct trial_ranges *ranges)
{
    int64_t after = query->first;
    int result = 0;

    for (size_t i = 0; i < ranges->count && result == 0; i++) {
        const struct trial_range *range = &ranges->ranges[i];

        if (range->last <= after)
            continue;
        query->first = range->first > after ? range->first : after + 1;
        query->last = range->last;
        result = store_each_point(store, query, add_point, page, page->err);
    }
    return result;
}

static struct blob *encode(const struct page *page, int64_t run)
{
    json_t *header = json_pack("{s:I, s:i, s:I}", "run", (json_int_t)run,
                               "since", 0, "seq", (json_int_t)page->seq);

    if (page->next > 0)
        json_object_set_new(header, "next", json_integer(page->next));
    return column_encode(header, page->columns, COLUMN_COUNT,
                         &(struct column_rows){NULL, page->table.rows});
}

/* NULL on error. */
static struct blob *make_page(struct page *page, struct store *store,
                              struct point_query *query,
                              const struct trial_ranges *ranges)
{
    struct blob *blob = NULL;
    int result;

    column_init(&page->columns[NUMBER], "number", COLUMN_U32, NULL);
    column_init(&page->columns[STEP], "step", COLUMN_F64, NULL);
    column_init(&page->columns[VALUE], "value", COLUMN_F64, NULL);
    column_init(&page->columns[TIME], "time", COLUMN_F64, NULL);
    column_init(&page->columns[POINT_RESOURCE], "resource", COLUMN_F64, NULL);
    page->columns[POINT_RESOURCE].is_hidden = true;
    page->table = (struct column_table){page->columns, COLUMN_COUNT, 0};
    result = read_points(page, store, query, ranges);
    page->next = result > 0 ? page->last : 0;
    if (result >= 0)
        blob = encode(page, query->run);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        column_clear(&page->columns[i]);
    return blob;
}

int metric_check(const char *metric, struct err *err)
{
    return metric != NULL
               ? 0
               : err_set(err, ERR_USAGE,
                         "missing query 'name', the name of a metric");
}

static int answer_metrics(const struct request *request, struct store *store,
                          struct answer *answer, struct err *err)
{
    struct point_query query = {.run = request_id(request, 0),
                                .metric = request_text(request, "name"),
                                .first = request_int(request, "after"),
                                .ends_only = request_int(request, "last")};
    struct trial_ranges ranges = {0};
    struct page page = {.limit = (size_t)request_int(request, "limit"),
                        .err = err};
    struct blob *blob = NULL;

    if (store_last_event(store, query.run, &page.seq, err) == 0 &&
        metric_check(query.metric, err) == 0 &&
        trial_ranges_read(request_text(request, "trials"), &ranges, err) == 0)
        blob = make_page(&page, store, &query, &ranges);
    answer->next = page.next;
    trial_ranges_clear(&ranges);
    return answer_block(answer, blob);
}

/* ---- names ---- */

static int add_name(void *user, const char *name)
{
    return json_array_append_new(user, json_from_text(name));
}

static int answer_names(const struct request *request, struct store *store,
                        struct answer *answer, struct err *err)
{
    int64_t run = request_id(request, 0), seq;
    json_t *names = json_array();

    if (store_last_event(store, run, &seq, err) == 0 &&
        store_each_metric_name(store, run, add_name, names, err) == 0)
        return answer_json(answer, names, err);
    json_decref(names);
    return -1;
}

const struct route metric_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}/metric_names",
     .role = ROLE_VIEWER,
     .summary = "The metrics that trials of the run reported with a step.",
     .answers = "MetricNames",
     .answer = answer_names},
    {.method = "GET",
     .path = "/api/v1/runs/{run}/metrics",
     .role = ROLE_VIEWER,
     .summary = "The points of a metric's curves as columns, by trial and "
                "step, in pages of complete curves.",
     .queries =
         {{.name = "name", .doc = "name of the metric"},
          {.name = "trials",
           .doc = "trial numbers and ranges in ascending order: 1,5,9-20 "
                  "(default: all trials)"},
          QUERY_PLACE("after",
                      "only trials with a number above this: `next` of a page"),
          {.name = "last",
           .type = QUERY_INT,
           .min = 0,
           .max = 1,
           .fallback = "0",
           .doc = "1: only the last point of each curve"},
          QUERY_LIMIT(
              LIMIT_MAX, LIMIT_FALLBACK,
              "points per page; the last curve of a page is always complete")},
     .answers = "Columns",
     .answer = answer_metrics},
    {0}};
