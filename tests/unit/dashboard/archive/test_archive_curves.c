/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/archive/archive_impl.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/source.h"
#include "tests/unit/store/store_test.h"

/* Which curves are in an archive, and that it says so, where there is room for
 * all of them, or for a byte less. */

enum { METRICS = 3 };

static const struct archive_run run = {.id = 1, .jobs = 2};

struct fixture {
    struct archive archive;
    struct dashboard *dashboard;
    char *text;
    size_t length;
};

static void fill(const char *directory)
{
    static const char *const names[METRICS] = {"accuracy", "loss", "f1 / x"};
    struct store *store = must_open(directory, STORE_CREATE);
    struct err err = {0};
    int64_t id, job, attempt;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &id, &err));
    must(fill_job(store, id, 1, &job, &err));
    must(fill_attempt(store, id, job, 1, 1000, &attempt, &err));
    for (int i = 0; i < 10 * METRICS; i++)
        must(store_add_metric(store,
                              &(struct metric_new){.job = job,
                                                   .attempt = attempt,
                                                   .name = names[i % METRICS],
                                                   .step = i,
                                                   .value = 0.5},
                              &err));
    must(store_commit(store, &err));
    store_close(store);
}

static void set_up(struct fixture *fixture, const char *directory)
{
    static const struct dashboard_source source = {0};
    const struct dashboard_options options = {
        .store = directory, .read_only = true, .source = &source};
    struct err err = {0};

    *fixture = (struct fixture){.dashboard = dashboard_create(&options, &err)};
    assert_non_null(fixture->dashboard);
    fixture->archive = (struct archive){
        .dashboard = fixture->dashboard,
        .store = dashboard_take_store(fixture->dashboard, &err),
        .out = open_memstream(&fixture->text, &fixture->length),
        .left_out = json_array()};
    assert_non_null(fixture->archive.store);
}

static void tear_down(struct fixture *fixture)
{
    fclose(fixture->archive.out);
    free(fixture->text);
    json_decref(fixture->archive.left_out);
    dashboard_give_back_store(fixture->dashboard, fixture->archive.store);
    dashboard_destroy(fixture->dashboard);
}

/* What is said of it ("": nothing) with so much room, and how many metrics are
 * there. */
static char *add(const char *directory, size_t bytes_max, int *metrics)
{
    struct fixture fixture;
    struct err err = {0};
    const json_t *left;
    char *said;

    set_up(&fixture, directory);
    must(archive_add_curves(&fixture.archive, &run, bytes_max, &err));
    fflush(fixture.archive.out);
    *metrics = 0;
    for (const char *at = fixture.text;
         (at = strstr(at, "/metrics?name=")) != NULL; at++)
        ++*metrics;
    assert_in_range(json_array_size(fixture.archive.left_out), 0, 1);
    left = json_array_get(fixture.archive.left_out, 0);
    said = mem_copy_string(
        left == NULL ? "" : json_string_value(json_object_get(left, "text")));
    tear_down(&fixture);
    return said;
}

/* Of the curves of all metrics together. */
static size_t measure(const char *directory)
{
    struct fixture fixture;
    struct err err = {0};
    size_t room = SIZE_MAX;

    set_up(&fixture, directory);
    for (int i = 0; i < METRICS; i++)
        must(archive_add_pages(
            &fixture.archive,
            (const char *[]){"/api/v1/runs/1/metrics?name=accuracy",
                             "/api/v1/runs/1/metrics?name=loss",
                             "/api/v1/runs/1/metrics?name=f1%20%2F%20x"}[i],
            &room, &err));
    tear_down(&fixture);
    return SIZE_MAX - room;
}

static void expect(const char *directory, size_t bytes_max, int metrics,
                   const char *word)
{
    int found;
    char *said = add(directory, bytes_max, &found);

    assert_int_equal(found, metrics);
    if (strcmp(said, "") == 0 ? word != NULL
                              : word == NULL || strstr(said, word) == NULL)
        fail_msg("%zu bytes: '%s'", bytes_max, said);
    free(said);
}

static void test_archive_curves__only_what_is_missing_is_left_out(void **state)
{
    size_t all, one;

    fill(*state);
    all = measure(*state);
    one = all / METRICS;
    assert_int_equal(all % METRICS, 0);
    expect(*state, all + 1, 3, NULL);
    expect(*state, all, 3, NULL);
    expect(*state, all - 1, 3, NULL); /* the last page is longer */
    expect(*state, 2 * one + 1, 3, NULL);
    expect(*state, 2 * one, 2, "2 of 3 metrics");
    expect(*state, one, 1, "1 of 3 metrics");
    expect(*state, 1, 1, "1 of 3 metrics");
}

static void test_archive_curves__pages_of_one_may_be_missing(void **state)
{
    static const char path[] = "/api/v1/runs/1/attempts?limit=1";
    struct store *store = must_fill(*state, 3);
    struct fixture fixture;
    struct err err = {0};
    size_t room = SIZE_MAX, all;

    store_close(store);
    set_up(&fixture, *state);
    must(archive_add_pages(&fixture.archive, path, &room, &err));
    all = SIZE_MAX - room;
    room = all;
    assert_int_equal(archive_add_pages(&fixture.archive, path, &room, &err), 0);
    assert_int_equal(room, 0);
    room = all / 3;
    assert_int_equal(archive_add_pages(&fixture.archive, path, &room, &err), 1);
    room = 0;
    assert_int_equal(archive_add_pages(&fixture.archive, path, &room, &err), 1);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_archive_curves__only_what_is_missing_is_left_out),
        STORE_TEST(test_archive_curves__pages_of_one_may_be_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
