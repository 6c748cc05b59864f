/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/executor_test.h"

/* Many attempts, the slots they take, and what is wrong from the start. */

static void test_queue__is_in_order_and_limited(void **state)
{
    enum { COUNT = 40 };
    struct bench bench;

    (void)state;
    open_local(&bench);
    for (int i = 1; i <= COUNT; i++)
        assert_int_equal(start_shell(&bench, i, "exit 0", NULL), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == COUNT);
    assert_int_equal(bench.start_count, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(bench.started[i], i + 1);
    assert_int_equal(bench.running_max, 2);
    bench_close(&bench);
}

static void on_prepare(uv_prepare_t *prepare)
{
    uv_prepare_stop(prepare);
    start_shell(prepare->data, 1, "exit 0", NULL);
}

/* The last callbacks before the loop waits: what they start must not wait for
 * the loop to be woken by something else. */
static void test_queue__a_start_leaves_before_the_loop_waits(void **state)
{
    struct bench bench;
    uv_prepare_t prepare;
    int turns = 0;

    (void)state;
    open_local(&bench);
    uv_run(&bench.loop, UV_RUN_NOWAIT); /* the first message leaves */
    uv_prepare_init(&bench.loop, &prepare);
    prepare.data = &bench;
    uv_prepare_start(&prepare, on_prepare);
    while (bench.end_count == 0 && turns++ < 100)
        uv_run(&bench.loop, UV_RUN_ONCE);
    assert_int_equal(bench.end_count, 1);
    uv_close((uv_handle_t *)&prepare, NULL);
    bench_close(&bench);
}

static void test_queue__a_waiting_attempt_is_withdrawn(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    for (int i = 1; i <= 4; i++)
        start_shell(&bench, i, "exec sleep 1000", NULL);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 2);
    executor_cancel(bench.executor, 4, CANCEL_TERM);
    executor_cancel(bench.executor, 3, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench_end_of(&bench, 3)->cause, CAUSE_CANCELLED);
    assert_int_equal(bench_end_of(&bench, 4)->cause, CAUSE_CANCELLED);
    assert_false(bench_has(&bench, 3, "claim"));
    executor_cancel(bench.executor, 1, CANCEL_KILL);
    executor_cancel(bench.executor, 2, CANCEL_KILL);
    start_shell(&bench, 5, "exit 0", NULL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 5);
    assert_int_equal(bench_end_of(&bench, 5)->cause, CAUSE_OK);
    assert_int_equal(bench.start_count, 3);
    bench_close(&bench);
}

/* None should: what ended it, and what it said, is all that tells why. */
static void fail_of_first_end(struct bench *bench)
{
    const struct attempt_exit *end = &bench->ends[0];
    char *log = bench_read(bench, end->attempt, "log");
    char *claim = bench_read(bench, end->attempt, "claim");

    fail_msg("attempt %d ended after %d ms, when %zu had started: %s, exit %d, "
             "signal %d, '%s'; its log: '%s'; its claim: '%s'",
             (int)end->attempt, (int)(end->ended_ms - end->started_ms),
             bench->start_count, attempt_cause_names[end->cause],
             end->exit_code, end->signal, end->text, log, claim);
}

static void test_many__run_at_once(void **state)
{
    enum { COUNT = 300 };
    const struct executor_options options = {
        .name = "local", .cpus = 1, .gpus = 0, .parallel = COUNT};
    struct bench bench;

    (void)state;
    bench_open(&bench, &options);
    for (int i = 1; i <= COUNT;) {
        if (start_shell(&bench, i, "exec sleep 1000", NULL) == START_OK) {
            i++;
            continue;
        }
        bench.room_count = 0;
        BENCH_RUN_UNTIL(&bench, bench.room_count > 0);
    }
    BENCH_RUN_UNTIL(&bench, bench.start_count == COUNT || bench.end_count > 0);
    if (bench.end_count > 0)
        fail_of_first_end(&bench);
    assert_int_equal(bench.running_max, COUNT);
    for (int i = 1; i <= COUNT; i++)
        executor_cancel(bench.executor, i, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == COUNT);
    for (int i = 1; i <= COUNT; i++)
        assert_int_equal(bench_end_of(&bench, i)->cause, CAUSE_CANCELLED);
    bench_close(&bench);
}

/* -- Slots ----------------------------------------------------------------*/

static void one_cpu(struct attempt_spec *spec)
{
    spec->cpus = 1;
}

static void two_cpus(struct attempt_spec *spec)
{
    spec->cpus = 2;
}

static void one_gpu(struct attempt_spec *spec)
{
    spec->gpus = 1;
}

static void test_slots__used_up_refuse_until_there_is_room(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    assert_int_equal(start_shell(&bench, 1, "exec sleep 1000", one_cpu),
                     START_OK);
    assert_int_equal(start_shell(&bench, 2, "exit 0", two_cpus), START_FULL);
    assert_int_equal(start_shell(&bench, 3, "exec sleep 1000", one_cpu),
                     START_OK);
    assert_int_equal(start_shell(&bench, 4, "exit 0", one_cpu), START_FULL);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 2);
    assert_int_equal(start_shell(&bench, 4, "exit 0", one_cpu), START_FULL);
    bench.room_count = 0;
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.room_count > 0);
    assert_int_equal(start_shell(&bench, 4, "exit 0", one_cpu), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    executor_cancel(bench.executor, 3, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 3);
    bench_close(&bench);
}

static void test_slots__that_never_come_are_an_error(void **state)
{
    const struct executor_options options = {
        .name = "local", .cpus = 1, .gpus = 0, .parallel = 2};
    struct bench bench;

    (void)state;
    bench_open(&bench, &options);
    assert_int_equal(executor_cpus(bench.executor), 1);
    assert_int_equal(executor_gpus(bench.executor), 0);
    assert_int_equal(start_shell(&bench, 1, "exit 0", two_cpus), START_ERROR);
    assert_int_equal(start_shell(&bench, 1, "exit 0", one_gpu), START_ERROR);
    bench_close(&bench);
}

static void test_slots__short_attempts_are_taken_ahead(void **state)
{
    enum { COUNT = 60 };
    struct bench bench;
    int refused = 0;

    (void)state;
    open_local(&bench);
    for (int i = 1; i <= COUNT;) {
        if (start_shell(&bench, i, "exit 0", one_cpu) == START_OK) {
            i++;
            continue;
        }
        refused++;
        bench.room_count = 0;
        BENCH_RUN_UNTIL(&bench, bench.room_count > 0);
    }
    BENCH_RUN_UNTIL(&bench, bench.end_count == COUNT);
    assert_true(refused < COUNT - 10);
    assert_in_range(bench.running_max, 1, 2);
    bench_close(&bench);
}

static void test_slots__of_another_engine_are_waited_for(void **state)
{
    const struct executor_options options = {
        .name = "local", .cpus = 1, .gpus = 0, .parallel = 4};
    struct bench ours, theirs;

    (void)state;
    bench_open(&ours, &options);
    bench_open(&theirs, &options);
    start_shell(&ours, 1, "exec sleep 1000", one_cpu);
    BENCH_RUN_UNTIL(&ours, ours.start_count == 1);
    assert_int_equal(start_shell(&theirs, 1, "exit 0", one_cpu), START_OK);
    start_shell(&theirs, 2, "exit 0", NULL);
    executor_cancel(ours.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&ours, ours.end_count == 1);
    BENCH_RUN_UNTIL(&theirs, theirs.end_count == 2);
    assert_int_equal(theirs.started[0], 1);
    assert_true(bench_end_of(&theirs, 1)->started_ms >=
                bench_end_of(&ours, 1)->ended_ms);
    bench_close(&theirs);
    bench_close(&ours);
}

/* -- Pools ----------------------------------------------------------------*/

/* A pool `gpu` of two slots in the bench's folder, of which one is taken. */
static enum start_result start_in_pool(struct bench *bench, int64_t attempt,
                                       const char *script, int64_t amount,
                                       int cpus)
{
    char *argv[] = {mem_copy_string("/bin/sh"), mem_copy_string("-c"),
                    mem_copy_string(script), NULL};
    struct attempt_spec spec = bench_spec(bench, attempt);
    char *directory = mem_printf("%s/gpu", getenv("SMTUNE_TEST_ROOT"));
    const struct attempt_pool pool = {directory, amount, 2};
    enum start_result result;
    struct err err;

    spec.argv = argv;
    spec.cpus = cpus;
    spec.pools = &pool;
    spec.pool_count = 1;
    result = bench_start(bench, &spec, &err);
    if (result == START_ERROR)
        assert_non_null(strstr(err.text, "/gpu'"));
    free(directory);
    for (size_t i = 0; argv[i] != NULL; i++)
        free(argv[i]);
    return result;
}

static const struct executor_options four_at_once = {
    .name = "local", .cpus = 4, .gpus = 0, .parallel = 4};

static const struct executor_options one_cpu_of_many = {
    .name = "local", .cpus = 1, .gpus = 0, .parallel = 4};

static void test_pools__refuse_those_that_want_more(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, &four_at_once);
    assert_int_equal(start_in_pool(&bench, 1, "exit 0", 3, 1), START_ERROR);
    assert_int_equal(start_in_pool(&bench, 1, "exec sleep 1000", 2, 1),
                     START_OK);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    assert_int_equal(start_in_pool(&bench, 2, "exit 0", 1, 1), START_FULL);
    assert_int_equal(bench.lacks, LACKS_POOL);
    assert_int_equal(start_shell(&bench, 3, "exit 0", one_cpu), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(start_in_pool(&bench, 2, "exit 0", 1, 1), START_FULL);
    bench.room_count = 0;
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.room_count > 0 && bench.end_count == 2);
    assert_int_equal(start_in_pool(&bench, 2, "exit 0", 1, 1), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 3);
    bench_close(&bench);
}

/* The other engine is the same process here; its agent is not. */
static void test_pools__of_another_engine_hold_back_nothing_else(void **state)
{
    struct bench ours, theirs;

    (void)state;
    bench_open(&ours, &four_at_once);
    bench_open(&theirs, &one_cpu_of_many);
    start_in_pool(&ours, 1, "exec sleep 1000", 2, 0);
    BENCH_RUN_UNTIL(&ours, ours.start_count == 1);
    assert_int_equal(start_in_pool(&theirs, 1, "exit 0", 1, 1), START_OK);
    assert_int_equal(start_shell(&theirs, 2, "exit 0", one_cpu), START_OK);
    BENCH_RUN_UNTIL(&theirs, theirs.end_count == 1);
    assert_int_equal(theirs.started[0], 2);
    executor_cancel(ours.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&ours, ours.end_count == 1);
    BENCH_RUN_UNTIL(&theirs, theirs.end_count == 2);
    assert_true(bench_end_of(&theirs, 1)->started_ms >=
                bench_end_of(&ours, 1)->ended_ms);
    bench_close(&theirs);
    bench_close(&ours);
}

/* The attempt's agent holds its slots on when the engine is gone. */
static void test_pools__outlive_their_engine(void **state)
{
    struct bench bench;
    struct attempt_spec spec;

    (void)state;
    bench_open(&bench, &four_at_once);
    start_in_pool(&bench, 1, "exec sleep 1000", 2, 1);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    bench_disconnect(&bench);
    bench_connect(&bench, &four_at_once);
    spec = bench_spec(&bench, 1);
    assert_int_equal(bench_reattach(&bench, &spec, NULL), 0);
    assert_int_equal(start_in_pool(&bench, 2, "exit 0", 1, 1), START_OK);
    assert_int_equal(start_shell(&bench, 3, "exit 0", one_cpu), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].attempt, 3);
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 3);
    assert_true(bench_end_of(&bench, 2)->started_ms >=
                bench_end_of(&bench, 1)->ended_ms);
    bench_close(&bench);
}

/* -- What is wrong from the start -----------------------------------------*/

static void test_create__names_what_is_wrong(void **state)
{
    static const struct executor_events events = {.user = NULL};
    struct executor_options options = {.name = "locl", .cpus = 1};
    struct err err;
    char *shim = mem_copy_string(getenv("SMTUNE_SHIM"));
    uv_loop_t loop;

    (void)state;
    uv_loop_init(&loop);
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_string_equal(err.text, "unknown executor 'locl' (did you mean "
                                  "'local'?)");
    options.name = "local";
    options.gpus = 63;
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_non_null(strstr(err.text, "63"));
    options.gpus = 0;
    options.cpus = 1000000;
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_non_null(strstr(err.text, "1000000"));
    options.cpus = 1;
    setenv("SMTUNE_SHIM", "/no/such/shim", 1);
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_non_null(strstr(err.text, "/no/such/shim"));
    setenv("SMTUNE_SHIM", "/bin/false", 1);
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_non_null(strstr(err.text, "/bin/false"));
    setenv("SMTUNE_SHIM", shim, 1);
    free(shim);
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue__is_in_order_and_limited),
        cmocka_unit_test(test_queue__a_start_leaves_before_the_loop_waits),
        cmocka_unit_test(test_queue__a_waiting_attempt_is_withdrawn),
        cmocka_unit_test(test_many__run_at_once),
        cmocka_unit_test(test_slots__used_up_refuse_until_there_is_room),
        cmocka_unit_test(test_slots__that_never_come_are_an_error),
        cmocka_unit_test(test_slots__short_attempts_are_taken_ahead),
        cmocka_unit_test(test_slots__of_another_engine_are_waited_for),
        cmocka_unit_test(test_pools__refuse_those_that_want_more),
        cmocka_unit_test(test_pools__of_another_engine_hold_back_nothing_else),
        cmocka_unit_test(test_pools__outlive_their_engine),
        cmocka_unit_test(test_create__names_what_is_wrong),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
