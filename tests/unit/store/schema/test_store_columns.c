/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lists of columns are those of schema.sql; and whatever column of a row is
 * damaged, fsck finds and repairs it. */
#include "store/schema/columns.h"

#include <math.h>

#include "base/buf.h"
#include "store/repair/image.h"
#include "store/rows.h"
#include "tests/unit/store/store_repair.h"

/* ---- the lists are the schema's ---- */

static const char *const earlier_names[] = {COLUMN_ENTRIES(EARLIER_COLUMNS)};
static const char *const notification_names[] = {
    COLUMN_ENTRIES(NOTIFICATION_COLUMNS)};

static void must_list(const char *folder, const char *table,
                      const char *const *names, size_t count)
{
    char *sql = mem_printf("SELECT name FROM pragma_table_info('%s')"
                           " WHERE name <> 'run_id' ORDER BY cid",
                           table);
    char *columns = ask_sqlite(folder, sql);
    struct buf listed = BUF_INIT;

    for (size_t i = 0; i < count; i++)
        buf_printf(&listed, "%s%s", i == 0 ? "" : "\n", names[i]);
    assert_string_equal(buf_text(&listed), columns);
    buf_clear(&listed);
    free(columns);
    free(sql);
}

static void test_store_columns__are_those_of_the_schema(void **state)
{
    store_close(must_open(*state, STORE_CREATE));
    for (size_t i = 0; i < IMAGE_COUNT; i++)
        must_list(*state, image_tables[i].name, image_tables[i].cells,
                  image_tables[i].column_count);
    must_list(*state, "earlier_result", earlier_names,
              ARRAY_LEN(earlier_names));
    must_list(*state, "notification", notification_names,
              ARRAY_LEN(notification_names));
}

/* ---- damage ---- */

static void change(struct store *store, const char *event, const char *state,
                   int64_t told)
{
    static const double value = 0.5;
    struct err err = {0};

    must(store_change_job(store,
                          &(struct job_change){.run = 1,
                                               .job = 1,
                                               .state = state,
                                               .event = event,
                                               .cause = "ok",
                                               .told = told,
                                               .ended_ms = told,
                                               .values = &value,
                                               .value_count = 1,
                                               .time_ms = 9},
                          &err));
}

static void add_run(struct store *store)
{
    static const struct rung_new rung = {.resource = 1, .trials = 9};
    static const struct outcome_bounds bound = {
        .metric = "size", .min = -INFINITY, .max = 9};
    struct err err = {0};
    int64_t run;

    must(store_add_run(store,
                       &(struct run_new){
                           .name = "r",
                           .kind = "experiment",
                           .spec = "version: 1\n",
                           .overrides = "[]",
                           .spec_path = "",
                           .work_directory = "/tmp",
                           .metrics = (const char *const[]){"loss"},
                           .goals = (const char *const[]){"minimize"},
                           .objective_count = 1,
                           .outcomes = &bound,
                           .outcome_count = 1,
                           .params = (const char *const[]){"x"},
                           .param_count = 1,
                           .rungs = &rung,
                           .rung_count = 1,
                           .steps = (const char *const[]){"s"},
                           .step_count = 1,
                           .time_ms = 1,
                       },
                       &run, &err));
    must(store_add_enqueued(store, 1, 1, "{\"x\":1}", 1, &err));
    must(store_change_step(store,
                           &(struct step_change){.run = 1,
                                                 .state = "active",
                                                 .event = "step_began",
                                                 .copies = 1,
                                                 .first_job = 2,
                                                 .time_ms = 1},
                           &err));
}

/* A trial that tries the setting, is looked at, stopped and put back. */
static void run_trial(struct store *store)
{
    struct attempt_new attempt = {
        .run = 1, .job = 1, .number = 1, .directory = "d", .time_ms = 2};
    struct attempt_change running = {.run = 1, .job = 1, .time_ms = 3};
    struct attempt_end end = {
        .run = 1, .job = 1, .cause = "ok", .ended_ms = 4, .rule = -1};
    struct observation_new observation = {.run = 1,
                                          .job = 1,
                                          .told = 1,
                                          .resource = 1,
                                          .last = 0.5,
                                          .best = 0.5,
                                          .decision = "pause",
                                          .reason = "rung 0",
                                          .time_ms = 5};
    struct err err = {0};

    must(store_add_attempt(store, &attempt, &running.attempt, &err));
    must(store_set_attempt_running(store, &running, &err));
    change(store, "started", "running", 0);
    end.attempt = observation.attempt = running.attempt;
    must(store_end_attempt(store, &end, &err));
    must(store_add_observation(store, &observation, &err));
    change(store, "paused", "paused", 0);
    change(store, "stopped", "stopped", 2);
    must(store_reopen_job(store, 1, "ready", "reopened", 9, &err));
}

/* Columns that a run gets later. */
static void add_to_run(struct store *store)
{
    static const char *const tag = "t";
    struct tag_change tags = {
        .run = 1, .add = &tag, .add_count = 1, .time_ms = 9};
    struct err err = {0};

    must(store_set_run_engine(store, 1, 7, "boot", 9, &err));
    must(store_set_run_paused(store, 1, true, 9, &err));
    must(store_edit_run(store,
                        &(struct run_edit_new){.run = 1,
                                               .spec = "version: 1 # edited",
                                               .overrides = "[]",
                                               .retry_base = 3,
                                               .resets_time = true,
                                               .time_ms = 9},
                        &err));
    must(store_set_run_budget(store, 1, 9, 700, 9, &err));
    must(store_set_run_revision(store, 1, "1f3a", 9, &err));
    must(store_add_note(store, 1, "note", 9, &err));
    must(store_set_comment(store, 1, 0, "of the run", 9, &err));
    must(store_change_tags(store, &tags, &err));
    must(store_set_run_state(store, 1, "stopped", "why", 9, &err));
}

/* One row at least in each table that has an image. */
static void fill(const char *folder)
{
    const struct value one = value_int(1), none = value_null();
    struct store *store = must_open(folder, STORE_CREATE);
    struct job_new job = {.run = 1,
                          .number = 1,
                          .state = "ready",
                          .step = -1,
                          .resource = 1,
                          .enqueued = 1,
                          .params = &one,
                          .param_count = 1,
                          .time_ms = 2};
    struct err err = {0};
    int64_t id;

    must(store_begin(store, &err));
    add_run(store);
    must(store_add_job(store, &job, &id, &err));
    job = (struct job_new){.run = 1,
                           .number = 2,
                           .state = "ready",
                           .params = &none,
                           .param_count = 1};
    must(store_add_job(store, &job, &id, &err));
    run_trial(store);
    add_to_run(store);
    must(store_commit(store, &err));
    store_close(store);
}

/* What no other value will do for: those with a CHECK, and whose it is. */
static const struct {
    const char *table, *column, *value;
} values[] = {
    {"run", "state", "'failed'"},      {"job", "state", "'failed'"},
    {"job", "cause", "'lost'"},        {"attempt", "job_id", "2"},
    {"attempt", "state", "'running'"}, {"attempt", "cause", "NULL"},
    {"run_step", "state", "'failed'"}, {"observation", "decision", "'stop'"},
};

/* A value that a column cannot have by the events. */
static void damage_column(const struct image_table *table, size_t column,
                          struct buf *sql)
{
    const char *name = table->cells[column];
    bool is_text = table->kinds[column] == STORED_TEXT ||
                   table->kinds[column] == STORED_TEXT_OR_NULL ||
                   table->kinds[column] == STORED_REALS;

    buf_printf(sql, "%s \"%s\" = ", column == 1 ? "" : ",", name);
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        if (strcmp(values[i].table, table->name) == 0 &&
            strcmp(values[i].column, name) == 0) {
            buf_add_string(sql, values[i].value);
            return;
        }
    }
    buf_printf(sql, "ifnull(\"%s\", %s", name,
               is_text ? "'') || 'x'" : "0) + 7");
}

static void keep_finding(void *user, const struct fsck_finding *finding)
{
    buf_printf(user, "%s,", finding->what);
}

static char *find(const char *folder)
{
    struct buf found = BUF_INIT;
    struct err err = {0};
    struct store *store = must_open(folder, STORE_READ);
    struct fsck_counts counts = {0};

    buf_add_char(&found, ',');
    must(fsck_run(store, 1, keep_finding, &found, &counts, &err));
    store_close(store);
    return buf_take(&found);
}

/* Each column of the table by its name. */
static void must_find_all(const char *folder, const struct image_table *table)
{
    bool is_step = strcmp(table->name, "run_step") == 0;
    char *found = find(folder);

    for (size_t i = 1; i < table->column_count; i++) {
        char *told = mem_printf("%s%s,", is_step ? ": " : ",", table->cells[i]);

        if (strstr(found, told) == NULL)
            fail_msg("%s.%s is not found: %s", table->name, table->cells[i],
                     found);
        free(told);
    }
    free(found);
}

static void test_store_columns__damage_is_found_and_repaired(void **state)
{
    fill(*state);
    assert_int_equal(findings(*state), 0);
    for (size_t image = 0; image < IMAGE_COUNT; image++) {
        const struct image_table *table = &image_tables[image];
        struct buf sql = BUF_INIT;

        buf_printf(&sql, "UPDATE %s SET", table->name);
        for (size_t column = 1; column < table->column_count; column++)
            damage_column(table, column, &sql);
        free(ask_sqlite(*state, buf_text(&sql)));
        buf_clear(&sql);
        must_find_all(*state, table);
        repair(*state);
        assert_int_equal(findings(*state), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_columns__are_those_of_the_schema),
        STORE_TEST(test_store_columns__damage_is_found_and_repaired),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
