/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/store/store_test.h"

#include <uv.h>

#include "base/json.h"
#include "orchestrator/steps/cache.h"

/* A store with a run of a workflow, a cache on a loop, and what it answers. */
struct bench {
    const char *folder;
    uv_loop_t loop;
    struct store *store;
    struct cache *cache;
    int64_t run;
    bool is_child; /* jobs are child runs */
    bool is_temp;  /* `made` may be missing */
    int answers;
    char key[DIGEST_HEX_SIZE]; /* "": it could not be made */
    char text[256];
    int64_t job;
    bool lacks_temps;
    json_t *outputs; /* that were found */
    json_t *hashes;  /* that were sealed */
};

static void bench_open(struct bench *bench, const char *folder)
{
    static const char *const steps[] = {"prep"};
    struct err err = {0};

    memset(bench, 0, sizeof(*bench));
    bench->folder = folder;
    bench->store = must_open(folder, STORE_CREATE);
    assert_int_equal(uv_loop_init(&bench->loop), 0);
    bench->cache = cache_create(&bench->loop, bench->store, bench);
    must(store_begin(bench->store, &err));
    must(store_add_run(bench->store,
                       &(struct run_new){.name = "r",
                                         .kind = "workflow",
                                         .spec = "steps: {}\n",
                                         .overrides = "[]",
                                         .spec_path = "",
                                         .work_directory = folder,
                                         .steps = steps,
                                         .step_count = 1,
                                         .time_ms = 1},
                       &bench->run, &err));
    must(store_commit(bench->store, &err));
    put(folder, ".", "in", "input");
    put(folder, ".", "out", "output");
}

static void bench_close(struct bench *bench)
{
    cache_destroy(bench->cache);
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&bench->loop), 0);
    json_decref(bench->outputs);
    json_decref(bench->hashes);
    store_close(bench->store);
}

static void on_answer(void *owner, void *user,
                      const struct cache_answer *answer)
{
    struct bench *bench = user;

    assert_ptr_equal(owner, bench);
    bench->answers++;
    snprintf(bench->key, sizeof(bench->key), "%s",
             answer->key != NULL ? answer->key : "");
    snprintf(bench->text, sizeof(bench->text), "%s", answer->text);
    bench->job = answer->job;
    bench->lacks_temps = answer->lacks_temps;
    json_decref(bench->outputs);
    bench->outputs = json_deep_copy(answer->outputs);
}

static void on_sealed(void *owner, void *user, json_t *hashes, const char *text)
{
    struct bench *bench = user;

    assert_ptr_equal(owner, bench);
    bench->answers++;
    json_decref(bench->hashes);
    bench->hashes = json_incref(hashes);
    snprintf(bench->text, sizeof(bench->text), "%s", text);
}

/* The words are the facts; the folder's file `in` is the input. */
static void ask(struct bench *bench, const char *word, int64_t since_ms)
{
    static const char *const inputs[] = {"in"}, *const temps[] = {"made"};
    json_t *facts = json_pack("{s:s}", "word", word);
    const struct cache_subject subject = {.facts = facts,
                                          .work_directory = bench->folder,
                                          .inputs = inputs,
                                          .input_count = 1,
                                          .temps = temps,
                                          .temp_count = bench->is_temp,
                                          .is_child = bench->is_child};

    cache_find(bench->cache, &subject, since_ms, on_answer, bench);
    json_decref(facts);
}

static void find(struct bench *bench, const char *word, int64_t since_ms)
{
    ask(bench, word, since_ms);
    bench->answers = 0;
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    assert_int_equal(bench->answers, 1);
}

/* A job that has made `out` ends well, with the key of the last answer. */
static void seal(struct bench *bench, const char *word)
{
    static const char *const inputs[] = {"in"}, *const files[] = {"made"};
    json_t *facts = json_pack("{s:s}", "word", word);
    const struct cache_subject subject = {.facts = facts,
                                          .work_directory = bench->folder,
                                          .inputs = inputs,
                                          .input_count = 1,
                                          .is_child = bench->is_child};
    char *path = fs_join(bench->folder, "out");
    json_t *outputs = json_pack("{s:s, s:i}", "made", path, "rows", 3);

    cache_seal(bench->cache, &subject, bench->key,
               &(struct cache_made){outputs, files, 1}, on_sealed, bench);
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    if (bench->is_child)
        json_object_set_new(outputs, "run", json_string("r.prep"));
    if (bench->hashes != NULL)
        json_object_set(outputs, CACHE_HASHES, bench->hashes);
    json_decref(bench->outputs);
    bench->outputs = outputs;
    json_decref(facts);
    free(path);
}

/* And is in the record. */
static int64_t add_job(struct bench *bench, int64_t number, int64_t ended_ms)
{
    char *outputs = json_dumps(bench->outputs, 0);
    const struct job_new job = {.run = bench->run,
                                .number = number,
                                .state = "ready",
                                .time_ms = ended_ms};
    struct job_change change = {.run = bench->run,
                                .state = "succeeded",
                                .event = "succeeded",
                                .cache_key = bench->key,
                                .outputs = outputs,
                                .ended_ms = ended_ms,
                                .time_ms = ended_ms};
    struct err err = {0};

    must(store_begin(bench->store, &err));
    must(store_add_job(bench->store, &job, &change.job, &err));
    must(store_change_job(bench->store, &change, &err));
    must(store_commit(bench->store, &err));
    free(outputs);
    return change.job;
}

static void test_cache__finds_what_was_sealed(void **state)
{
    struct bench bench;
    int64_t job;

    bench_open(&bench, *state);
    find(&bench, "a", 0);
    assert_int_equal(strlen(bench.key), DIGEST_HEX_SIZE - 1);
    assert_int_equal(bench.job, 0);
    seal(&bench, "a");
    assert_string_equal(bench.text, "");
    assert_string_equal(
        json_string_value(json_object_get(bench.hashes, "made")),
        "e0ee8bb50685e05fa0f47ed04203ae953fdfd055f5bd2892ea186504254f8c3a");
    job = add_job(&bench, 1, 1000);
    find(&bench, "a", 1000);
    assert_int_equal(bench.job, job);
    assert_int_equal(json_integer_value(json_object_get(bench.outputs, "rows")),
                     3);
    find(&bench, "a", 1001);
    assert_int_equal(bench.job, 0);
    find(&bench, "b", 0);
    assert_int_equal(bench.job, 0);
    put(*state, ".", "in", "another");
    find(&bench, "a", 0);
    assert_int_equal(bench.job, 0);
    put(*state, ".", "in", "input");
    find(&bench, "a", 0);
    assert_int_equal(bench.job, job);
    bench_close(&bench);
}

static void test_cache__takes_nothing_that_is_damaged(void **state)
{
    struct bench bench;
    char *path = fs_join(*state, "out");
    int64_t job;

    bench_open(&bench, *state);
    find(&bench, "a", 0);
    seal(&bench, "a");
    job = add_job(&bench, 1, 1000);
    put(*state, ".", "out", "damaged");
    find(&bench, "a", 0);
    assert_int_equal(bench.job, 0);
    unlink(path);
    find(&bench, "a", 0);
    assert_int_equal(bench.job, 0);
    put(*state, ".", "out", "output");
    find(&bench, "a", 0);
    assert_int_equal(bench.job, job);
    free(path);
    bench_close(&bench);
}

/* Of several the newest that is whole. */
static void test_cache__looks_at_older_ones(void **state)
{
    struct bench bench;
    int64_t job;

    bench_open(&bench, *state);
    find(&bench, "a", 0);
    seal(&bench, "a");
    job = add_job(&bench, 1, 1000);
    put(*state, ".", "out", "newer");
    seal(&bench, "a");
    add_job(&bench, 2, 2000);
    put(*state, ".", "out", "output");
    find(&bench, "a", 0);
    assert_int_equal(bench.job, job);
    bench_close(&bench);
}

/* It is named, and an older result that has all of it comes first. One that is
 * damaged will not do. */
static void test_cache__names_a_temporary_file_that_is_missing(void **state)
{
    struct bench bench;
    char *path = fs_join(*state, "out"), *other = fs_join(*state, "kept");
    int64_t job, older;

    bench_open(&bench, *state);
    find(&bench, "a", 0);
    seal(&bench, "a");
    job = add_job(&bench, 2, 2000);
    assert_int_equal(rename(path, other), 0);
    find(&bench, "a", 0);
    assert_int_equal(bench.job, 0);
    bench.is_temp = true;
    find(&bench, "a", 0);
    assert_int_equal(bench.job, job);
    assert_true(bench.lacks_temps);
    assert_string_equal(json_string_value(json_array_get(
                            json_object_get(bench.outputs, CACHE_MISSING), 0)),
                        "made");
    json_object_set_new(bench.outputs, "made", json_string(other));
    older = add_job(&bench, 1, 1000);
    find(&bench, "a", 0);
    assert_int_equal(bench.job, older);
    assert_false(bench.lacks_temps);
    assert_null(json_object_get(bench.outputs, CACHE_MISSING));
    put(*state, ".", "out", "damaged");
    put(*state, ".", "kept", "damaged");
    find(&bench, "a", 0);
    assert_int_equal(bench.job, 0);
    free(path);
    free(other);
    bench_close(&bench);
}

static void test_cache__seals_nothing_whose_inputs_changed(void **state)
{
    struct bench bench;

    bench_open(&bench, *state);
    find(&bench, "a", 0);
    put(*state, ".", "in", "another");
    seal(&bench, "a");
    assert_null(bench.hashes);
    assert_non_null(strstr(bench.text, "changed"));
    add_job(&bench, 1, 1000);
    put(*state, ".", "in", "input");
    find(&bench, "a", 0);
    assert_int_equal(bench.job, 0);
    bench_close(&bench);
}

static void test_cache__says_what_it_cannot_read(void **state)
{
    struct bench bench;
    char *in = fs_join(*state, "in"), *out = fs_join(*state, "out");

    bench_open(&bench, *state);
    find(&bench, "a", 0);
    unlink(out);
    seal(&bench, "a");
    assert_null(bench.hashes);
    assert_non_null(strstr(bench.text, out));
    unlink(in);
    find(&bench, "a", 0);
    assert_string_equal(bench.key, "");
    assert_non_null(strstr(bench.text, in));
    free(in);
    free(out);
    bench_close(&bench);
}

static void add_child_run(struct bench *bench, int64_t job, int64_t *run)
{
    struct err err = {0};

    must(store_begin(bench->store, &err));
    must(store_add_run(bench->store,
                       &(struct run_new){.name = "r.prep",
                                         .kind = "experiment",
                                         .spec = "",
                                         .overrides = "[]",
                                         .spec_path = "",
                                         .work_directory = bench->folder,
                                         .parent = bench->run,
                                         .parent_job = job,
                                         .time_ms = 1},
                       run, &err));
    must(store_commit(bench->store, &err));
}

/* A run of the same name that another job started is another one. */
static void test_cache__wants_the_child_run_of_a_result(void **state)
{
    struct bench bench;
    struct err err = {0};
    int64_t job, run;

    bench_open(&bench, *state);
    bench.is_child = true;
    find(&bench, "a", 0);
    seal(&bench, "a");
    job = add_job(&bench, 1, 1000);
    find(&bench, "a", 0);
    assert_int_equal(bench.job, 0);
    assert_string_equal(bench.text,
                        "the child run of job 1 of run 'r' was removed");
    add_child_run(&bench, job, &run);
    find(&bench, "a", 0);
    assert_int_equal(bench.job, job);
    must(store_begin(bench.store, &err));
    must(store_delete_run(bench.store, run, &err));
    must(store_commit(bench.store, &err));
    add_child_run(&bench, job + 1, &run);
    find(&bench, "a", 0);
    assert_int_equal(bench.job, 0);
    bench_close(&bench);
}

static void test_cache__has_nothing_without_a_store(void **state)
{
    struct bench bench;

    bench_open(&bench, *state);
    cache_destroy(bench.cache);
    bench.cache = cache_create(&bench.loop, NULL, &bench);
    find(&bench, "a", 0);
    assert_int_equal(strlen(bench.key), DIGEST_HEX_SIZE - 1);
    assert_int_equal(bench.job, 0);
    bench_close(&bench);
}

static void test_cache__answers_nobody_who_is_gone(void **state)
{
    struct bench bench;

    bench_open(&bench, *state);
    for (int i = 0; i < 3; i++)
        ask(&bench, "a", 0);
    cache_forget(bench.cache, &bench);
    uv_run(&bench.loop, UV_RUN_DEFAULT);
    assert_int_equal(bench.answers, 0);
    find(&bench, "a", 0);
    assert_int_equal(strlen(bench.key), DIGEST_HEX_SIZE - 1);
    for (int i = 0; i < 3; i++)
        ask(&bench, "a", 0);
    bench.answers = 0;
    bench_close(&bench);
    assert_int_equal(bench.answers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_cache__finds_what_was_sealed),
        STORE_TEST(test_cache__takes_nothing_that_is_damaged),
        STORE_TEST(test_cache__looks_at_older_ones),
        STORE_TEST(test_cache__names_a_temporary_file_that_is_missing),
        STORE_TEST(test_cache__seals_nothing_whose_inputs_changed),
        STORE_TEST(test_cache__says_what_it_cannot_read),
        STORE_TEST(test_cache__wants_the_child_run_of_a_result),
        STORE_TEST(test_cache__has_nothing_without_a_store),
        STORE_TEST(test_cache__answers_nobody_who_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
