/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: clock_monotonic_ms */
/* wrap: sqlite3_prepare_v2 sqlite3_prepare_v3 sqlite3_step */
#include "dashboard/run_list.h"

#include <sqlite3.h>

#include "base/buf.h"
#include "dashboard/source.h"
#include "tests/unit/store/store_test.h"

/* The clock that the list looks at: the linker puts this one in its place. */
static int64_t now_ms = 1000000;

int64_t __wrap_clock_monotonic_ms(void);

int64_t __wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

/* What SQLite is asked to do: likewise. */
static int64_t compiled, operations;

int __real_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest);
int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest);
int __real_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int length,
                              unsigned flags, sqlite3_stmt **statement,
                              const char **rest);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int length,
                              unsigned flags, sqlite3_stmt **statement,
                              const char **rest);
int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);

int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest)
{
    compiled++;
    return __real_sqlite3_prepare_v2(db, sql, length, statement, rest);
}

int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int length,
                              unsigned flags, sqlite3_stmt **statement,
                              const char **rest)
{
    compiled++;
    return __real_sqlite3_prepare_v3(db, sql, length, flags, statement, rest);
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    int code = __real_sqlite3_step(statement);

    operations +=
        sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, true);
    return code;
}

static const char *row_state(void *user, const struct store *store,
                             const struct run_row *row)
{
    (void)user;
    (void)store;
    return row->state[0] == 'r' ? "running" : "over";
}

static const struct dashboard_source source = {.run_state = row_state};

struct fixture {
    struct store *store;
    struct run_list *list;
};

static void add_run(struct fixture *fixture, const char *name)
{
    struct err err = {0};
    int64_t run;

    must(store_begin(fixture->store, &err));
    must(fill_run(fixture->store, name, "minimize", &run, &err));
    must(store_commit(fixture->store, &err));
    must(run_list_update(fixture->list, fixture->store, &err));
}

static void remove_run(struct fixture *fixture, int64_t run)
{
    struct err err = {0};

    must(store_begin(fixture->store, &err));
    must(store_delete_run(fixture->store, run, &err));
    must(store_commit(fixture->store, &err));
    must(run_list_update(fixture->list, fixture->store, &err));
}

/* The rows' ids, and those of runs that are gone: "2 3 -1 ". */
static void expect(struct fixture *fixture, uint64_t version,
                   const char *expected)
{
    json_t *gone, *rows = run_list_rows(fixture->list, &version, &gone);
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < json_array_size(rows); i++)
        buf_printf(
            &text, "%lld ",
            json_integer_value(json_object_get(json_array_get(rows, i), "id")));
    for (size_t i = 0; i < json_array_size(gone); i++)
        buf_printf(&text, "-%lld ",
                   json_integer_value(json_array_get(gone, i)));
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
    json_decref(rows);
    json_decref(gone);
}

static void test_run_list__says_what_is_new_and_what_is_gone(void **state)
{
    struct fixture fixture = {must_open(*state, STORE_CREATE),
                              run_list_create(&source)};
    uint64_t version = 0;

    add_run(&fixture, "a");
    add_run(&fixture, "b");
    expect(&fixture, 0, "1 2 ");
    json_decref(run_list_rows(fixture.list, &version, NULL));
    expect(&fixture, version, "");
    remove_run(&fixture, 1);
    add_run(&fixture, "c");
    expect(&fixture, version, "3 -1 ");
    expect(&fixture, 0, "2 3 -1 ");
    run_list_destroy(fixture.list);
    store_close(fixture.store);
}

static void test_run_list__what_is_gone_is_forgotten(void **state)
{
    struct fixture fixture = {must_open(*state, STORE_CREATE),
                              run_list_create(&source)};

    for (int i = 0; i < 5; i++)
        add_run(&fixture, (const char *[]){"a", "b", "c", "d", "e"}[i]);
    remove_run(&fixture, 1);
    now_ms += 30000;
    remove_run(&fixture, 2);
    expect(&fixture, 0, "3 4 5 -1 -2 ");
    now_ms += 30001;
    remove_run(&fixture, 3);
    expect(&fixture, 0, "4 5 -2 -3 ");
    now_ms += 60001;
    remove_run(&fixture, 4);
    expect(&fixture, 0, "5 -4 ");
    run_list_destroy(fixture.list);
    store_close(fixture.store);
}

/* Runs number `from` to `to`, with three trials each. */
static void add_runs(struct store *store, int from, int to)
{
    struct err err = {0};
    char name[16];
    int64_t run;

    must(store_begin(store, &err));
    for (int i = from; i <= to; i++) {
        snprintf(name, sizeof(name), "run-%d", i);
        must(fill_run(store, name, "minimize", &run, &err));
        for (int trial = 1; trial <= 3; trial++)
            must(fill_trial(store, run, trial, 0.5 / trial, &err));
    }
    must(store_commit(store, &err));
}

/* With a connection that was not used before, as the first who asks has. */
static void list_first(const char *directory)
{
    struct store *store = must_open(directory, STORE_READ);
    struct run_list *list = run_list_create(&source);
    struct err err = {0};

    compiled = operations = 0;
    must(run_list_update(list, store, &err));
    run_list_destroy(list);
    store_close(store);
}

static void test_run_list__takes_little_more_for_each_run(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t compiled_before, operations_before;

    add_runs(store, 1, 20);
    list_first(*state);
    compiled_before = compiled;
    operations_before = operations;
    add_runs(store, 21, 200);
    list_first(*state);
    assert_int_equal(compiled, compiled_before);
    assert_in_range(operations, 5 * operations_before, 11 * operations_before);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_run_list__says_what_is_new_and_what_is_gone),
        STORE_TEST(test_run_list__what_is_gone_is_forgotten),
        STORE_TEST(test_run_list__takes_little_more_for_each_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
