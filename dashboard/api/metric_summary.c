/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "dashboard/api/api.h"
#include "dashboard/columns/column.h"
#include "dashboard/columns/trial_ranges.h"
#include "store/changes.h"
#include "store/store.h"

/*
 * A row for each trial with the last, the least and the largest value of a
 * metric. All points are read, so a page ends after so many of them, with the
 * end of a curve, and not after so many trials.
 */

#define LIMIT_FALLBACK "200000"
enum { LIMIT_MAX = 1000000 };

enum { NUMBER, POINTS, LAST, MIN, MAX, COLUMN_COUNT };

struct page {
    struct column columns[COLUMN_COUNT];
    struct column_table table;
    size_t limit, points; /* that may be read, that were */
    int64_t number;       /* of the trial whose curve is read; 0: none yet */
    double min, max;      /* of its values so far */
    size_t count;         /* of them */
    int64_t seq, next;    /* of the run; of the page, 0: it is the last one */
    struct err *err;
};

/* NaN has no place in an order: it is passed over. */
static void add_value(struct page *page, double value)
{
    page->min = fmin(page->min, value);
    page->max = fmax(page->max, value);
}

static int add_point(void *user, const struct point_row *point)
{
    struct page *page = user;
    size_t row;

    if (point->number != page->number) {
        if (page->points >= page->limit)
            return 1;
        if (column_table_add_row(&page->table, page->err) < 0)
            return -1;
        page->number = point->number;
        page->min = page->max = NAN;
        page->count = 0;
    }
    page->points++;
    page->count++;
    add_value(page, point->value);
    row = page->table.rows - 1;
    column_put(&page->columns[NUMBER], row, (double)point->number);
    column_put(&page->columns[POINTS], row, (double)page->count);
    column_put(&page->columns[LAST], row, point->value);
    column_put(&page->columns[MIN], row, page->min);
    column_put(&page->columns[MAX], row, page->max);
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
    column_init(&page->columns[POINTS], "points", COLUMN_U32, NULL);
    column_init(&page->columns[LAST], "last", COLUMN_F64, NULL);
    column_init(&page->columns[MIN], "min", COLUMN_F64, NULL);
    column_init(&page->columns[MAX], "max", COLUMN_F64, NULL);
    page->table = (struct column_table){page->columns, COLUMN_COUNT, 0};
    result = read_points(page, store, query, ranges);
    page->next = result > 0 ? page->number : 0;
    if (result >= 0)
        blob = encode(page, query->run);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        column_clear(&page->columns[i]);
    return blob;
}

static int answer_summary(const struct request *request, struct store *store,
                          struct answer *answer, struct err *err)
{
    struct point_query query = {.run = request_id(request, 0),
                                .metric = request_text(request, "name"),
                                .first = request_int(request, "after")};
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

const struct route metric_summary_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}/metric_summary",
     .role = ROLE_VIEWER,
     .summary = "The last, the least and the largest value of a metric for "
                "each trial that reported it, as columns, in pages.",
     .queries =
         {{.name = "name", .doc = "name of the metric"},
          {.name = "trials",
           .doc = "trial numbers and ranges in ascending order: 1,5,9-20 "
                  "(default: all trials)"},
          QUERY_PLACE("after",
                      "only trials with a number above this: `next` of a page"),
          QUERY_LIMIT(LIMIT_MAX, LIMIT_FALLBACK,
                      "points that are read for a page; the last curve is "
                      "always complete")},
     .answers = "Columns",
     .answer = answer_summary},
    {0}};
