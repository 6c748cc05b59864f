/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/executor_test.h"

#include <sys/wait.h>

#include "executors/attempt/attempt_file.h"
#include "executors/machine/cgroup_site.h"

/* What becomes of an attempt's processes when its agent was killed: they run
 * on, and whoever adopts the attempt ends them all, with control groups and
 * without. */

static const struct executor_options without_groups = {.name = "local",
                                                       .cpus = 2,
                                                       .gpus = 0,
                                                       .parallel = 2,
                                                       .without_cgroups = true};

static void short_grace(struct attempt_spec *spec)
{
    spec->grace_ms = 100;
}

static void short_time(struct attempt_spec *spec)
{
    spec->grace_ms = 100;
    spec->time_ms = 1500;
}

static struct claim claim_of(struct bench *bench, int64_t attempt)
{
    char *directory = bench_path(bench, attempt, NULL);
    struct claim claim;

    assert_in_range(claim_judge(directory, attempt, &claim, NULL), CLAIM_HELD,
                    CLAIM_FREE);
    free(directory);
    return claim;
}

/* Starts a script, which says "up" and its hidden processes' pids, each on a
 * line "hidden PID", and kills the agent. */
static struct claim start_and_orphan(struct bench *bench, const char *script,
                                     void (*adjust)(struct attempt_spec *))
{
    struct claim claim;

    assert_int_equal(start_shell(bench, 1, script, adjust), START_OK);
    bench_await_word(bench, 1, "up");
    BENCH_RUN_UNTIL(bench, bench->start_count == 1);
    claim = claim_of(bench, 1);
    assert_int_equal(kill((pid_t)claim.shim_pid, SIGKILL), 0);
    return claim;
}

static bool lives(pid_t pid)
{
    struct process process;

    return process_read(pid, &process) && !process.is_zombie;
}

static pid_t hidden_pid(struct bench *bench)
{
    char *log = bench_read(bench, 1, "log");
    const char *at = strstr(log, "hidden ");
    pid_t pid = at != NULL ? (pid_t)strtol(at + 7, NULL, 10) : 0;

    free(log);
    assert_true(pid > 0);
    return pid;
}

/* Orphans that are in no session of ours, each by what is left to know it. */
#define SAY_AND_SLEEP "echo hidden $$; exec /bin/sleep 1000"
#define BY_ENVIRONMENT                                                         \
    "setsid -f bash -c 'for n in {3..99}; do eval \"exec $n>&-\"; done; "      \
    "trap \"\" TERM; " SAY_AND_SLEEP "'"
#define BY_CLAIM "setsid -f env -i bash -c 'trap \"\" TERM; " SAY_AND_SLEEP "'"
#define BY_GROUP                                                               \
    "setsid -f env -i bash -c 'for n in {3..99}; do eval \"exec $n>&-\"; "     \
    "done; trap \"\" TERM; " SAY_AND_SLEEP "'"
#define THEN_RUN                                                               \
    "; until grep -q hidden 1/log; do sleep 0.01; done; echo up; "             \
    "exec sleep 1000"

static void end_all(struct bench *bench, const struct executor_options *options,
                    const char *script)
{
    struct claim claim;
    pid_t hidden;

    bench_open(bench, options);
    claim = start_and_orphan(bench, script, short_grace);
    hidden = hidden_pid(bench);
    assert_true(lives(hidden));
    kill((pid_t)claim.pid, SIGKILL);
    BENCH_RUN_UNTIL(bench, bench->end_count == 1);
    assert_int_equal(bench->ends[0].cause, CAUSE_LOST);
    assert_non_null(strstr(bench->ends[0].text, "not recorded"));
    assert_false(lives(hidden));
    bench_close(bench);
}

static void test_orphan__is_known_by_its_environment(void **state)
{
    struct bench bench;

    (void)state;
    end_all(&bench, &without_groups, BY_ENVIRONMENT THEN_RUN);
}

static void test_orphan__is_known_by_the_claim_that_it_holds(void **state)
{
    struct bench bench;

    (void)state;
    end_all(&bench, &without_groups, BY_CLAIM THEN_RUN);
}

static bool can_make_groups(void)
{
    struct cgroup_site site;
    bool can;

    cgroup_site_probe(&site, "");
    can = site.bases[CGROUP_UNIFIED] != NULL ||
          site.bases[CGROUP_FREEZER] != NULL;
    cgroup_site_clear(&site);
    return can;
}

static void test_orphan__is_known_by_its_control_group(void **state)
{
    struct bench bench;

    (void)state;
    if (!can_make_groups())
        skip();
    end_all(&bench, &two_at_once, BY_GROUP THEN_RUN);
}

static void test_orphan__group_is_removed_in_the_end(void **state)
{
    struct bench bench;
    struct claim claim;

    (void)state;
    if (!can_make_groups())
        skip();
    bench_open(&bench, &two_at_once);
    claim = start_and_orphan(&bench, "echo up; exec sleep 1000", short_grace);
    assert_true(fs_exists(claim.cgroup));
    executor_cancel(bench.executor, 1, CANCEL_KILL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_CANCELLED);
    assert_false(fs_exists(claim.cgroup));
    bench_close(&bench);
}

static void cancel_tree(const struct executor_options *options)
{
    struct bench bench;
    pid_t hidden;

    bench_open(&bench, options);
    start_and_orphan(&bench,
                     "setsid -f sh -c 'trap \"\" TERM; setsid -f sh -c "
                     "\"echo hidden \\$\\$; exec sleep 1000\"; exec sleep "
                     "1000'" THEN_RUN,
                     short_grace);
    hidden = hidden_pid(&bench);
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_CANCELLED);
    assert_false(lives(hidden));
    bench_close(&bench);
}

static void test_orphan__is_cancelled_with_all_its_tree(void **state)
{
    (void)state;
    cancel_tree(&two_at_once);
    cancel_tree(&without_groups);
}

static void test_orphan__keeps_its_time_limit(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, &two_at_once);
    start_and_orphan(&bench, STUBBORN, short_time);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_TIMEOUT);
    bench_close(&bench);
}

static void warn_in_time(struct attempt_spec *spec)
{
    short_time(spec);
    spec->time_ms = 20000;
    spec->warn_signal = SIGUSR2;
    spec->warn_before_ms = 19000;
}

/* Nobody is left to see its exit status, but what it wrote. */
static void test_orphan__is_warned_before_its_time_is_over(void **state)
{
    struct bench bench;
    int64_t from_ms = clock_monotonic_ms();

    (void)state;
    bench_open(&bench, &two_at_once);
    start_and_orphan(&bench,
                     "trap 'echo warned; exit 0' USR2; echo up; "
                     "while :; do sleep 0.01; done",
                     warn_in_time);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LOST);
    assert_in_range(clock_monotonic_ms() - from_ms, 950, 19000);
    bench_await_word(&bench, 1, "warned");
    bench_close(&bench);
}

/* The command itself has closed the claim, so that nobody holds the lock; a
 * second attempt ends meanwhile, after several looks at the first. */
static void test_orphan__command_without_the_claim_runs_on(void **state)
{
    struct bench bench;
    struct claim claim;

    (void)state;
    bench_open(&bench, &two_at_once);
    claim = start_and_orphan(&bench,
                             "exec bash -c 'for n in {3..99}; do "
                             "eval \"exec $n>&-\"; done; echo up; "
                             "exec sleep 1000'",
                             short_grace);
    assert_int_equal(start_shell(&bench, 2, "sleep 0.5", NULL), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].attempt, 2);
    assert_true(lives((pid_t)claim.pid));
    kill((pid_t)claim.pid, SIGKILL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench.ends[1].cause, CAUSE_LOST);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orphan__is_known_by_its_environment),
        cmocka_unit_test(test_orphan__is_known_by_the_claim_that_it_holds),
        cmocka_unit_test(test_orphan__is_known_by_its_control_group),
        cmocka_unit_test(test_orphan__group_is_removed_in_the_end),
        cmocka_unit_test(test_orphan__is_cancelled_with_all_its_tree),
        cmocka_unit_test(test_orphan__keeps_its_time_limit),
        cmocka_unit_test(test_orphan__is_warned_before_its_time_is_over),
        cmocka_unit_test(test_orphan__command_without_the_claim_runs_on),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
