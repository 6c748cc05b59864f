/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/columns/columns.h"
#include "dashboard/columns/columns_impl.h"

#include <math.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/rng.h"
#include "store/changes.h"
#include "tests/unit/store/store_test.h"

/* ---- a client: keeps each row as a text, by number ---- */

enum { ROWS_MAX = 4000, MAGIC_BYTES = 12 };

struct client {
    char *rows[ROWS_MAX]; /* by number; NULL: none */
    size_t count;
    int64_t seq;
    json_t *header; /* of the last block */
};

static void client_clear(struct client *client)
{
    for (size_t i = 0; i < ROWS_MAX; i++)
        free(client->rows[i]);
    json_decref(client->header);
    *client = (struct client){0};
}

static json_int_t header_int(const json_t *header, const char *key)
{
    return json_integer_value(json_object_get(header, key));
}

static size_t cell_bytes(const char *type)
{
    return type[0] == 'f' ? 8 : (size_t)strtol(type + 1, NULL, 10) / 8;
}

/* The cell as a text, or nothing where there is none. */
static void add_cell(struct buf *row, const json_t *column, const char *at)
{
    const char *type = json_string_value(json_object_get(column, "type"));
    const char *name = json_string_value(json_object_get(column, "name"));
    const json_t *words = json_object_get(column, "words");
    size_t bytes = cell_bytes(type);
    uint64_t integer = 0;
    double real = 0;

    memcpy(&integer, at, bytes);
    memcpy(&real, &integer, sizeof(real));
    if (type[0] == 'f' && !isnan(real)) {
        buf_printf(row, "%s=%.17g ", name, real);
    } else if (type[0] == 'u' && words == NULL && integer != 0) {
        buf_printf(row, "%s=%llu ", name, (unsigned long long)integer);
    } else if (words != NULL && integer != (1U << (8 * bytes)) - 1) {
        assert_true(integer < json_array_size(words));
        buf_printf(row, "%s=%s ", name,
                   json_string_value(json_array_get(words, integer)));
    }
}

/* Row `which` of the block, from the columns' first byte on. */
static char *read_row(const json_t *header, const char *cells, size_t which)
{
    size_t rows = (size_t)header_int(header, "rows");
    struct buf text = BUF_INIT;
    const json_t *column;
    size_t i;

    json_array_foreach(json_object_get(header, "columns"), i, column)
    {
        size_t bytes =
            cell_bytes(json_string_value(json_object_get(column, "type")));

        add_cell(&text, column, cells + which * bytes);
        cells += (rows * bytes + 7) / 8 * 8;
    }
    return buf_take(&text);
}

/* Those that were there are the first of those that are there now. */
static void check_words(const json_t *before, const json_t *now)
{
    const json_t *old;
    size_t i;

    json_array_foreach(json_object_get(before, "columns"), i, old)
    {
        const json_t *same = json_array_get(json_object_get(now, "columns"), i);
        const json_t *words = json_object_get(same, "words"), *word;
        size_t place;

        assert_string_equal(json_string_value(json_object_get(old, "name")),
                            json_string_value(json_object_get(same, "name")));
        json_array_foreach(json_object_get(old, "words"), place, word)
            assert_true(json_equal(word, json_array_get(words, place)));
    }
}

/* *cells: what stands behind it. */
static json_t *read_header(const struct blob *blob, const char **cells)
{
    uint32_t length;
    json_t *header;

    assert_memory_equal(blob->data, "SMTC\1\0\0\0", 8);
    memcpy(&length, blob->data + 8, sizeof(length));
    assert_int_equal((MAGIC_BYTES + length) % 8, 0);
    header = json_parse(blob->data + MAGIC_BYTES, length, NULL);
    assert_non_null(header);
    *cells = blob->data + MAGIC_BYTES + length;
    return header;
}

/* The blob is released. */
static json_int_t take_row_count(struct blob *blob)
{
    const char *cells;
    json_t *header = read_header(blob, &cells);
    json_int_t rows = header_int(header, "rows");

    json_decref(header);
    blob_release(blob);
    return rows;
}

static void client_take(struct client *client, const struct blob *blob)
{
    const char *cells;
    json_t *header = read_header(blob, &cells);

    if (header_int(header, "since") == 0)
        client_clear(client);
    else
        check_words(client->header, header);
    assert_int_equal(header_int(header, "since"), client->seq);
    for (size_t i = 0; i < (size_t)header_int(header, "rows"); i++) {
        char *row = read_row(header, cells, i);
        long number = strtol(strchr(row, '=') + 1, NULL, 10);

        client->count += client->rows[number] == NULL;
        free(client->rows[number]);
        client->rows[number] = row;
    }
    client->seq = header_int(header, "seq");
    json_decref(client->header);
    client->header = header;
}

static void take_from(struct client *client, const struct columns *columns)
{
    struct blob *blob =
        columns_encode(columns, columns_since(columns, client->seq));

    client_take(client, blob);
    blob_release(blob);
}

/* What was kept up to date is what is read now. */
static void check_client(const struct client *client, struct store *store)
{
    struct err err = {0};
    struct columns *columns = columns_load(store, 1, &err);
    struct client fresh = {0};

    assert_non_null(columns);
    take_from(&fresh, columns);
    assert_int_equal(client->count, fresh.count);
    assert_int_equal(client->seq, fresh.seq);
    for (size_t i = 0; i < ROWS_MAX; i++) {
        assert_int_equal(client->rows[i] == NULL, fresh.rows[i] == NULL);
        if (fresh.rows[i] != NULL)
            assert_string_equal(client->rows[i], fresh.rows[i]);
    }
    client_clear(&fresh);
    columns_destroy(columns);
}

/* ---- random histories ---- */

enum { JOBS_MAX = 120, TEXT_FROM = 40, STEPS = 400 };

struct history {
    struct store *store;
    struct rng rng;
    int64_t jobs[JOBS_MAX + 1]; /* ids by number */
    int64_t attempts[JOBS_MAX + 1];
    int64_t attempt_counts[JOBS_MAX + 1];
    bool is_over[JOBS_MAX + 1];
    int64_t count, told, time_ms;
    struct err err;
};

static const struct outcome_bounds size_bound = {
    .metric = "size", .min = -INFINITY, .max = 9};

static void add_runs(struct history *history)
{
    struct err err = {0};
    struct run_new run = {
        .name = "r",
        .kind = "experiment",
        .spec = "",
        .overrides = "[]",
        .spec_path = "",
        .work_directory = "/tmp",
        .metrics = (const char *const[]){"loss", "time"},
        .goals = (const char *const[]){"minimize", "minimize"},
        .objective_count = 2,
        .outcomes = &size_bound,
        .outcome_count = 1,
        .params = (const char *const[]){"lr", "mixed", "name"},
        .param_count = 3,
        .time_ms = 1};
    int64_t id;

    must(store_begin(history->store, &err));
    must(store_add_run(history->store, &run, &id, &err));
    must(fill_run(history->store, "other", "minimize", &id, &err));
    must(store_commit(history->store, &err));
}

static uint64_t below(struct history *history, uint64_t bound)
{
    return rng_below(&history->rng, bound);
}

/* "mixed" holds numbers at first. */
static int add_job(struct history *history)
{
    int64_t number = history->count + 1, other;
    char name[16];
    struct value params[] = {
        value_real(rng_uniform(&history->rng)),
        number < TEXT_FROM || below(history, 2) ? value_int(number / 7)
        : below(history, 2)                     ? value_bool(true)
                                                : value_text("auto"),
        below(history, 4) ? value_text(name) : value_null()};
    struct job_new job = {.run = 1,
                          .number = number,
                          .state = "ready",
                          .params = params,
                          .param_count = 3,
                          .step = -1,
                          .resource = number > 20 ? 3 : 0,
                          .same_as = number > 60 ? number - 1 : 0,
                          .time_ms = ++history->time_ms};

    if (history->count == JOBS_MAX)
        return 0;
    snprintf(name, sizeof(name), "word %d", (int)below(history, 9));
    history->count++;
    if (below(history, 5) == 0 &&
        fill_job(history->store, 2, number, &other, &history->err) < 0)
        return -1;
    return store_add_job(history->store, &job, &history->jobs[number],
                         &history->err);
}

static int start(struct history *history, int64_t number)
{
    int64_t *attempt = &history->attempts[number];
    struct job_change change = {.run = 1,
                                .job = history->jobs[number],
                                .state = "running",
                                .event = "started",
                                .time_ms = ++history->time_ms,
                                .started_ms = history->time_ms};

    if (*attempt != 0 || history->is_over[number])
        return 0;
    if (fill_attempt(history->store, 1, change.job,
                     ++history->attempt_counts[number], history->time_ms,
                     attempt, &history->err) < 0)
        return -1;
    return store_change_job(history->store, &change, &history->err);
}

static int observe(struct history *history, int64_t number)
{
    double values[] = {0.5, 1};
    struct observation_new observation = {.run = 1,
                                          .job = history->jobs[number],
                                          .attempt = history->attempts[number],
                                          .resource =
                                              1 + (int64_t)below(history, 3),
                                          .told = ++history->told,
                                          .rung = 0,
                                          .values = values,
                                          .value_count = 2,
                                          .last = 1,
                                          .best = 1,
                                          .decision = "continue",
                                          .reason = "why not",
                                          .time_ms = ++history->time_ms};

    if (history->attempts[number] == 0 || number <= 20)
        return 0;
    return store_add_observation(history->store, &observation, &history->err);
}

static int finish(struct history *history, int64_t number)
{
    static const char *const states[] = {"succeeded", "failed", "stopped"};
    double values[] = {rng_uniform(&history->rng),
                       below(history, 5) ? 2.0 : (double)NAN};
    double outcome = 12;
    size_t state = below(history, 3);
    struct attempt_end end = {.run = 1,
                              .job = history->jobs[number],
                              .attempt = history->attempts[number],
                              .cause = state == 0 ? "ok" : "exit",
                              .started_ms = history->time_ms,
                              .ended_ms = ++history->time_ms,
                              .rule = -1,
                              .resource_used = number > 20 ? 2 : 0};
    struct job_change change = {.run = 1,
                                .job = end.job,
                                .state = states[state],
                                .cause = end.cause,
                                .event = states[state],
                                .time_ms = history->time_ms,
                                .ended_ms = history->time_ms,
                                .values = values,
                                .value_count = state == 0 ? 2 : 0,
                                .outcomes = &outcome,
                                .outcome_count = state == 0,
                                .violation = state == 0 ? 3 : 0,
                                .told = ++history->told};

    if (history->attempts[number] == 0)
        return 0;
    history->attempts[number] = 0;
    history->is_over[number] = true;
    if (store_end_attempt(history->store, &end, &history->err) < 0)
        return -1;
    return store_change_job(history->store, &change, &history->err);
}

static int put_back(struct history *history, int64_t number)
{
    if (!history->is_over[number])
        return 0;
    history->is_over[number] = false;
    return store_reopen_job(history->store, history->jobs[number], "ready",
                            "reopened", ++history->time_ms, &history->err);
}

static int pause_run(struct history *history, int64_t number)
{
    return store_set_run_paused(history->store, 1, number % 2 == 0,
                                ++history->time_ms, &history->err);
}

static int tag(struct history *history, int64_t number)
{
    const char *tags[] = {below(history, 2) ? "good" : "slow"};
    struct tag_change change = {.run = 1,
                                .job = history->jobs[number],
                                .add = tags,
                                .add_count = 1,
                                .time_ms = ++history->time_ms};

    return store_change_tags(history->store, &change, &history->err);
}

static void do_something(struct history *history)
{
    static int (*const deeds[])(struct history * history, int64_t number) = {
        start, start, finish, observe, put_back, pause_run, tag};
    struct err err = {0};
    int64_t changes = 1 + (int64_t)below(history, 6);

    must(store_begin(history->store, &err));
    for (int64_t i = 0; i < changes; i++) {
        int64_t number = 1 + (int64_t)below(history, JOBS_MAX);

        if (number > history->count)
            assert_int_equal(add_job(history), 0);
        else if (deeds[below(history, ARRAY_LEN(deeds))](history, number) != 0)
            fail_msg("%s", history->err.text);
    }
    must(store_commit(history->store, &err));
}

static void test_columns__updates_give_what_a_load_gives(void **state)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        char *folder = mem_printf("%s/%d", (const char *)*state, (int)seed);
        struct err err = {0};
        struct history history = {.store = must_open(folder, STORE_CREATE)};
        struct store *reader = NULL;
        struct columns *columns;
        struct client client = {0};

        rng_init(&history.rng, seed, 0, 0);
        add_runs(&history);
        reader = must_open(folder, STORE_READ);
        columns = columns_load(reader, 1, &err);
        assert_non_null(columns);
        for (int i = 0; i < STEPS; i++) {
            do_something(&history);
            must(columns_update(columns, reader, &err));
            if (below(&history, 3) == 0)
                take_from(&client, columns);
        }
        take_from(&client, columns);
        assert_int_equal(client.count, JOBS_MAX);
        check_client(&client, reader);
        client_clear(&client);
        columns_destroy(columns);
        store_close(reader);
        store_close(history.store);
        free(folder);
    }
}

/* ---- single things ---- */

static void test_columns__a_row_that_did_not_change_is_not_sent(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 20);
    struct columns *columns = columns_load(store, 1, &err);
    int64_t seq = columns_seq(columns);

    assert_int_equal(take_row_count(columns_encode(columns, 0)), 20);
    must(columns_update(columns, store, &err));
    assert_int_equal(columns_seq(columns), seq);
    must(store_begin(store, &err));
    must(fill_trial(store, 1, 21, 0.5, &err));
    must(store_commit(store, &err));
    must(columns_update(columns, store, &err));
    assert_int_equal(columns_since(columns, seq), seq);
    assert_int_equal(take_row_count(columns_encode(columns, seq)), 1);
    /* Who is behind what was read, or ahead of all, starts again. */
    assert_int_equal(columns_since(columns, seq - 1), 0);
    assert_int_equal(columns_since(columns, columns_seq(columns) + 1), 0);
    columns_destroy(columns);
    store_close(store);
}

static void test_columns__changes_are_found_wherever_they_are(void **state)
{
    enum { ROWS = 3 * COLUMNS_BLOCK };
    static const int64_t jobs[] = {1, COLUMNS_BLOCK, COLUMNS_BLOCK + 1, ROWS};
    struct err err = {0};
    struct store *store = must_fill(*state, ROWS);
    struct columns *columns = columns_load(store, 1, &err);
    const char *tags[] = {"good"};

    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        struct tag_change change = {
            .run = 1, .job = jobs[i], .add = tags, .add_count = 1};
        int64_t seq = columns_seq(columns);

        must(store_begin(store, &err));
        must(store_change_tags(store, &change, &err));
        must(fill_trial(store, 1, ROWS + 1 + (int64_t)i, 0.5, &err));
        must(store_commit(store, &err));
        must(columns_update(columns, store, &err));
        assert_int_equal(take_row_count(columns_encode(columns, seq)), 2);
    }
    columns_destroy(columns);
    store_close(store);
}

static void test_columns__a_run_that_was_removed_is_not_found(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 5);
    struct columns *columns = columns_load(store, 1, &err);
    struct columns_cache *cache = columns_cache_create();
    struct columns_part part = {.run = 1};

    must(columns_cache_get(cache, store, &part, &err));
    assert_int_equal(take_row_count(part.bytes), 5);
    must(store_begin(store, &err));
    must(store_delete_run(store, 1, &err));
    must(store_commit(store, &err));
    assert_int_equal(columns_update(columns, store, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(columns_cache_get(cache, store, &part, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_null(columns_load(store, 1, &err));
    columns_cache_destroy(cache);
    columns_destroy(columns);
    store_close(store);
}

/* An earlier copy of the store in its place, say. */
static void test_columns__what_went_back_is_read_anew(void **state)
{
    struct err err = {0};
    char *folders[] = {mem_printf("%s/long", (const char *)*state),
                       mem_printf("%s/short", (const char *)*state)};
    struct store *later = must_fill(folders[0], 9);
    struct store *earlier = must_fill(folders[1], 4);
    struct columns *columns = columns_load(later, 1, &err);

    must(columns_update(columns, earlier, &err));
    assert_int_equal(take_row_count(columns_encode(columns, 0)), 4);
    columns_destroy(columns);
    store_close(later);
    store_close(earlier);
    free(folders[0]);
    free(folders[1]);
}

static void test_columns__the_same_bytes_are_made_once(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 5);
    struct columns_cache *cache = columns_cache_create();
    struct columns_part first = {.run = 1}, second = {.run = 1, .since = 1};

    must(columns_cache_get(cache, store, &first, &err));
    must(columns_cache_get(cache, store, &second, &err));
    assert_ptr_equal(first.bytes, second.bytes);
    assert_int_equal(second.since, 0);
    blob_release(first.bytes);
    columns_cache_destroy(cache);
    assert_memory_equal(second.bytes->data, "SMTC", 4);
    blob_release(second.bytes);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_columns__updates_give_what_a_load_gives),
        STORE_TEST(test_columns__a_row_that_did_not_change_is_not_sent),
        STORE_TEST(test_columns__changes_are_found_wherever_they_are),
        STORE_TEST(test_columns__a_run_that_was_removed_is_not_found),
        STORE_TEST(test_columns__what_went_back_is_read_anew),
        STORE_TEST(test_columns__the_same_bytes_are_made_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
