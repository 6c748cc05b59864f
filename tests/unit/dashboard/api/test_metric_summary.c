/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/route/request.h"
#include "dashboard/source.h"
#include "tests/unit/store/store_test.h"

/* The pages of a summary, over a store with three trials: the second one has no
 * value of the metric. */

enum { TRIALS = 3, COLUMNS = 5 };

static const struct point {
    int trial;
    double step, value;
} points[] = {
    {1, 1, 3}, {1, 2, -1}, {1, 3, NAN}, {3, 1, 0.5}, {3, 2, 8},
};

static void fill(const char *directory)
{
    struct store *store = must_open(directory, STORE_CREATE);
    struct err err = {0};
    int64_t id, jobs[TRIALS], attempts[TRIALS];

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &id, &err));
    for (int i = 0; i < TRIALS; i++) {
        must(fill_job(store, id, i + 1, &jobs[i], &err));
        must(fill_attempt(store, id, jobs[i], 1, 1000, &attempts[i], &err));
    }
    for (size_t i = 0; i < ARRAY_LEN(points); i++) {
        int trial = points[i].trial - 1;

        must(store_add_metric(store,
                              &(struct metric_new){.job = jobs[trial],
                                                   .attempt = attempts[trial],
                                                   .name = "acc",
                                                   .step = points[i].step,
                                                   .value = points[i].value},
                              &err));
    }
    must(store_commit(store, &err));
    store_close(store);
}

/* One line a trial: number, points, last, min, max; and the next page. The
 * caller's to free. */
static char *read_block(const struct blob *blob)
{
    struct buf text = BUF_INIT;
    uint32_t length;
    const char *at;
    json_t *header;
    size_t rows;

    memcpy(&length, blob->data + 8, sizeof(length));
    header = json_parse(blob->data + 12, length, NULL);
    rows = (size_t)json_integer_value(json_object_get(header, "rows"));
    at = blob->data + 12 + length;
    for (size_t row = 0; row < rows; row++) {
        size_t offset = 0;

        for (size_t column = 0; column < COLUMNS; column++) {
            bool is_real = column > 1;
            size_t width = is_real ? sizeof(double) : sizeof(uint32_t);
            uint32_t whole = 0;
            double real = 0;

            if (is_real)
                memcpy(&real, at + offset + row * width, width);
            else
                memcpy(&whole, at + offset + row * width, width);
            buf_printf(&text, "%g ", is_real ? real : (double)whole);
            offset += (rows * width + 7) / 8 * 8;
        }
        buf_add_char(&text, '\n');
    }
    buf_printf(&text, "next %d",
               (int)json_integer_value(json_object_get(header, "next")));
    json_decref(header);
    return buf_take(&text);
}

static char *ask(const char *directory, const char *query)
{
    static const struct dashboard_source source = {0};
    const struct dashboard_options options = {
        .store = directory, .read_only = true, .source = &source};
    struct err err = {0};
    struct dashboard *dashboard = dashboard_create(&options, &err);
    struct store *store = dashboard_take_store(dashboard, &err);
    struct request request = {.dashboard = dashboard, .role = ROLE_VIEWER};
    char *target = mem_printf("/api/v1/runs/1/metric_summary%s", query), *text;

    assert_int_equal(
        match_find(route_tables, "GET", target, &request.match, &err), 200);
    if (request.match.route->answer(&request, store, &request.answer, &err) ==
        0)
        text = read_block(request.answer.bytes);
    else
        text = mem_printf("error %d: %s", (int)err.kind, err.text);
    match_clear(&request.match);
    answer_clear(&request.answer);
    dashboard_give_back_store(dashboard, store);
    dashboard_destroy(dashboard);
    free(target);
    return text;
}

static void test_metric_summary__has_ends_of_each_curve(void **state)
{
    static const struct {
        const char *query, *answer;
    } rows[] = {
        {"?name=acc", "1 3 nan -1 3 \n3 2 8 0.5 8 \nnext 0"},
        {"?name=acc&trials=2-3", "3 2 8 0.5 8 \nnext 0"},
        {"?name=acc&limit=1", "1 3 nan -1 3 \nnext 1"},
        {"?name=acc&limit=1&after=1", "3 2 8 0.5 8 \nnext 0"},
        {"?name=acc&limit=1&trials=1,3", "1 3 nan -1 3 \nnext 1"},
        {"?name=none", "next 0"},
    };
    fill(*state);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *answer = ask(*state, rows[i].query);

        assert_string_equal(answer, rows[i].answer);
        free(answer);
    }
}

static void test_metric_summary__asks_for_a_name(void **state)
{
    char *answer;

    fill(*state);
    answer = ask(*state, "");
    assert_non_null(strstr(answer, "missing query 'name'"));
    free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_metric_summary__has_ends_of_each_curve),
        STORE_TEST(test_metric_summary__asks_for_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
