/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/compiler.h"
#include "dashboard/api/api.h"
#include "dashboard/columns/column.h"
#include "store/changes.h"
#include "store/store.h"

/* The attempts of a run, a page at a time. */

#define LIMIT_FALLBACK "20000"
enum { LIMIT_MAX = 50000 };

enum attempt_column {
    ID,
    NUMBER,
    ATTEMPT,
    STATE,
    CAUSE,
    CREATED,
    QUEUED,
    STARTED,
    ENDED,
    NODE,
    EXIT_CODE,
    SIGNAL,
    DISPLACED,
    RULE,
    RESOURCE_FROM,
    RESOURCE,
    RESOURCE_USED,
    CPU_MS,
    MAX_RSS_BYTES,
    COLUMN_COUNT
};

/* Known from the start, so that they have the same places in all pages. */
static const char *const states[] = {"starting", "running", "ended", NULL};

static const struct {
    const char *name;
    enum column_type type;
    const char *const *words; /* NULL: numbers */
} kinds[COLUMN_COUNT] = {
    [ID] = {"id", COLUMN_F64, NULL},
    [NUMBER] = {"number", COLUMN_U32, NULL},
    [ATTEMPT] = {"attempt", COLUMN_U16, NULL},
    [STATE] = {"state", COLUMN_U8, states},
    [CAUSE] = {"cause", COLUMN_U8, column_causes},
    [CREATED] = {"created", COLUMN_F64, NULL},
    [QUEUED] = {"queued", COLUMN_F64, NULL},
    [STARTED] = {"started", COLUMN_F64, NULL},
    [ENDED] = {"ended", COLUMN_F64, NULL},
    [NODE] = {"node", COLUMN_U16, column_no_words},
    [EXIT_CODE] = {"exit_code", COLUMN_F64, NULL},
    [SIGNAL] = {"signal", COLUMN_U16, NULL},
    [DISPLACED] = {"displaced", COLUMN_U8, NULL},
    [RULE] = {"rule", COLUMN_F64, NULL},
    [RESOURCE_FROM] = {"resource_from", COLUMN_F64, NULL},
    [RESOURCE] = {"resource", COLUMN_F64, NULL},
    [RESOURCE_USED] = {"resource_used", COLUMN_F64, NULL},
    [CPU_MS] = {"cpu_ms", COLUMN_F64, NULL},
    [MAX_RSS_BYTES] = {"max_rss_bytes", COLUMN_F64, NULL},
};

struct page {
    struct column columns[COLUMN_COUNT];
    struct column_table table;
    size_t limit;
    int64_t last;
    struct err *err;
};

static void init_page(struct page *page)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        column_init(&page->columns[i], kinds[i].name, kinds[i].type,
                    kinds[i].words);
    page->table = (struct column_table){page->columns, COLUMN_COUNT, 0};
}

static void clear_page(struct page *page)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        column_clear(&page->columns[i]);
}

static void put(struct page *page, enum attempt_column column, int64_t integer,
                int64_t none_is)
{
    column_put(&page->columns[column], page->table.rows - 1,
               integer == none_is ? (double)NAN : (double)integer);
}

static void put_word(struct page *page, enum attempt_column column,
                     const char *word)
{
    column_put_word(&page->columns[column], page->table.rows - 1, word);
}

static int add_attempt(void *user, const struct attempt_row *attempt)
{
    struct page *page = user;

    if (page->table.rows == page->limit)
        return 1;
    if (column_table_add_row(&page->table, page->err) < 0)
        return -1;
    page->last = attempt->id;
    put(page, ID, attempt->id, 0);
    put(page, NUMBER, attempt->job_number, 0);
    put(page, ATTEMPT, attempt->number, 0);
    put_word(page, STATE, attempt->state);
    put_word(page, CAUSE, attempt->cause);
    put(page, CREATED, attempt->created_ms, 0);
    put(page, QUEUED, attempt->queued_ms, 0);
    put(page, STARTED, attempt->started_ms, 0);
    put(page, ENDED, attempt->ended_ms, 0);
    put_word(page, NODE, attempt->node);
    put(page, EXIT_CODE, attempt->exit_code, -1);
    put(page, SIGNAL, attempt->signal, 0);
    put(page, DISPLACED, attempt->is_displaced, 0);
    put(page, RULE, attempt->rule, -1);
    put(page, RESOURCE_FROM, attempt->resource_from, 0);
    put(page, RESOURCE, attempt->resource, 0);
    put(page, RESOURCE_USED, attempt->resource_used, 0);
    put(page, CPU_MS, attempt->cpu_ms, 0);
    put(page, MAX_RSS_BYTES, attempt->max_rss_bytes, 0);
    return 0;
}

/* All of one moment: the seq is that of what is in the page. */
static int read_page(struct page *page, struct store *store, int64_t run,
                     const struct attempt_page *wanted, int64_t *seq)
{
    bool began;
    int result;

    if (store_read_begin(store, &began, page->err) < 0)
        return -1;
    result = store_last_event(store, run, seq, page->err);
    if (result == 0)
        result = store_each_attempt_after(store, run, wanted, add_attempt, page,
                                          page->err);
    store_read_end(store, began);
    return result;
}

static int answer_attempts(const struct request *request, struct store *store,
                           struct answer *answer, struct err *err)
{
    const struct attempt_page wanted = {
        .after = request_int(request, "after"),
        .changed_since = request_int(request, "changed_since")};
    int64_t run = request_id(request, 0), seq = 0;
    struct page page = {.limit = (size_t)request_int(request, "limit"),
                        .err = err};
    struct blob *blob = NULL;
    json_t *header;
    int result;

    init_page(&page);
    result = read_page(&page, store, run, &wanted, &seq);
    if (result >= 0) {
        header =
            json_pack("{s:I, s:I, s:I}", "run", (json_int_t)run, "since",
                      (json_int_t)wanted.changed_since, "seq", (json_int_t)seq);
        if (result > 0) {
            answer->next = page.last;
            json_object_set_new(header, "next", json_integer(page.last));
        }
        blob = column_encode(header, page.columns, COLUMN_COUNT,
                             &(struct column_rows){NULL, page.table.rows});
    }
    clear_page(&page);
    return answer_block(answer, blob);
}

const struct route attempt_routes[] = {
    {.method = "GET",
     .path = "/api/v1/runs/{run}/attempts",
     .role = ROLE_VIEWER,
     .summary = "The attempts of a run's jobs as columns, in the order of "
                "their ids, in pages: all, or those changed since an event.",
     .queries =
         {QUERY_PLACE("after",
                      "only attempts with an id above this: `next` of a page"),
          QUERY_PLACE("changed_since", "only attempts changed since this seq"),
          QUERY_LIMIT(LIMIT_MAX, LIMIT_FALLBACK, "attempts per page")},
     .answers = "Columns",
     .answer = answer_attempts},
    {0}};
