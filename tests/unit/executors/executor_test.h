/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_EXECUTORS_EXECUTOR_TEST_H
#define SMTUNE_TESTS_UNIT_EXECUTORS_EXECUTOR_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/executor.h"
#include "executors/machine/process_table.h"
#include "tests/unit/await.h"
#include "tests/unit/built.h"

/* An executor on a loop of its own, which remembers all that it is told. */

enum { BENCH_MAX = 512, BENCH_WAIT_MS = 60000, BENCH_TURN_MS = 20 };

struct bench {
    uv_loop_t loop;
    uv_timer_t watchdog;
    struct executor *executor;
    char root[64];
    struct attempt_exit ends[BENCH_MAX];
    int64_t started[BENCH_MAX], pids[BENCH_MAX];
    size_t end_count, start_count;
    int room_count, broken_count, queue_count, node_count;
    char handle[32], node[EXECUTOR_NODE_MAX], note[256]; /* the last */
    enum node_trouble trouble;
    size_t running, running_max;
    int64_t cancel_when_started; /* an attempt, or 0 */
    enum cancel_mode cancel_mode;
    bool is_destroyed;
    int64_t give_up_ms;
    bool timed_out;
    bool is_inside; /* a call into the executor */
    uint32_t lacks; /* that the last start was refused for */
};

static void bench_on_node(void *user, const struct node_report *report)
{
    struct bench *bench = user;

    assert_false(bench->is_inside);
    bench->node_count++;
    bench->trouble = report->trouble;
    snprintf(bench->node, sizeof(bench->node), "%s", report->node);
}

static void bench_on_note(void *user, const char *text)
{
    struct bench *bench = user;

    assert_false(bench->is_inside);
    snprintf(bench->note, sizeof(bench->note), "%s", text);
}

static void bench_on_started(void *user, int64_t attempt,
                             const struct attempt_place *place)
{
    struct bench *bench = user;

    assert_false(bench->is_inside);
    assert_true(bench->start_count < BENCH_MAX);
    bench->pids[bench->start_count] = place->pid;
    bench->started[bench->start_count++] = attempt;
    if (++bench->running > bench->running_max)
        bench->running_max = bench->running;
    if (attempt == bench->cancel_when_started)
        executor_cancel(bench->executor, attempt, bench->cancel_mode);
}

static bool bench_has_started(const struct bench *bench, int64_t attempt)
{
    for (size_t i = 0; i < bench->start_count; i++) {
        if (bench->started[i] == attempt)
            return true;
    }
    return false;
}

static void bench_on_queued(void *user, int64_t attempt, const char *handle)
{
    struct bench *bench = user;

    assert_false(bench->is_inside);
    assert_false(bench_has_started(bench, attempt));
    bench->queue_count++;
    snprintf(bench->handle, sizeof(bench->handle), "%s", handle);
}

static void bench_on_ended(void *user, const struct attempt_exit *end)
{
    struct bench *bench = user;

    assert_false(bench->is_inside);
    assert_true(bench->end_count < BENCH_MAX);
    for (size_t i = 0; i < bench->end_count; i++)
        assert_int_not_equal(bench->ends[i].attempt, end->attempt);
    bench->ends[bench->end_count++] = *end;
    if (bench_has_started(bench, end->attempt))
        bench->running--;
}

static void bench_on_room(void *user)
{
    struct bench *bench = user;

    assert_false(bench->is_inside);
    bench->room_count++;
}

static void bench_on_broken(void *user, const struct err *err)
{
    struct bench *bench = user;

    assert_int_not_equal(err->kind, ERR_NONE);
    bench->broken_count++;
}

static void bench_on_watchdog(uv_timer_t *timer)
{
    struct bench *bench = timer->data;

    bench->timed_out = clock_monotonic_ms() > bench->give_up_ms;
}

/* Lets the loop turn until the condition holds. The watchdog also wakes a turn
 * that waits although the condition holds already. */
#define BENCH_RUN_UNTIL(bench, condition)                                      \
    do {                                                                       \
        (bench)->give_up_ms = clock_monotonic_ms() + BENCH_WAIT_MS;            \
        uv_timer_start(&(bench)->watchdog, bench_on_watchdog, BENCH_TURN_MS,   \
                       BENCH_TURN_MS);                                         \
        while (!(condition) && !(bench)->timed_out)                            \
            uv_run(&(bench)->loop, UV_RUN_ONCE);                               \
        uv_timer_stop(&(bench)->watchdog);                                     \
        assert_false((bench)->timed_out);                                      \
    } while (0)

UNUSED static const struct attempt_exit *bench_end_of(struct bench *bench,
                                                      int64_t attempt)
{
    for (size_t i = 0; i < bench->end_count; i++) {
        if (bench->ends[i].attempt == attempt)
            return &bench->ends[i];
    }
    fail_msg("attempt %d has not ended", (int)attempt);
    return NULL;
}

static void bench_connect(struct bench *bench,
                          const struct executor_options *options)
{
    const struct executor_events events = {.queued = bench_on_queued,
                                           .started = bench_on_started,
                                           .ended = bench_on_ended,
                                           .room = bench_on_room,
                                           .broken = bench_on_broken,
                                           .node = bench_on_node,
                                           .note = bench_on_note,
                                           .user = bench};
    struct err err = {.kind = ERR_NONE};

    bench->executor = executor_create(&bench->loop, options, &events, &err);
    if (bench->executor == NULL)
        fail_msg("%s", err.text);
    bench->is_destroyed = false;
}

static void bench_open(struct bench *bench,
                       const struct executor_options *options)
{
    memset(bench, 0, sizeof(*bench));
    snprintf(bench->root, sizeof(bench->root), "/tmp/smtune-test-XXXXXX");
    assert_non_null(mkdtemp(bench->root));
    assert_int_equal(uv_loop_init(&bench->loop), 0);
    uv_timer_init(&bench->loop, &bench->watchdog);
    bench->watchdog.data = bench;
    setenv("SMTUNE_TEST_ROOT", bench->root, 1);
    bench_connect(bench, options);
}

static void bench_on_destroyed(void *user)
{
    ((struct bench *)user)->is_destroyed = true;
}

static void bench_disconnect(struct bench *bench)
{
    executor_destroy(bench->executor, bench_on_destroyed, bench);
    assert_false(bench->is_destroyed);
    BENCH_RUN_UNTIL(bench, bench->is_destroyed);
    bench->executor = NULL;
}

/* The path of a file in an attempt's directory; the caller's to free. */
static char *bench_path(const struct bench *bench, int64_t attempt,
                        const char *name)
{
    return mem_printf("%s/%d%s%s", bench->root, (int)attempt,
                      name != NULL ? "/" : "", name != NULL ? name : "");
}

static struct attempt_spec bench_spec(struct bench *bench, int64_t attempt)
{
    char *directory = bench_path(bench, attempt, NULL);

    if (mkdir(directory, 0700) != 0)
        assert_int_equal(errno, EEXIST);
    return (struct attempt_spec){.attempt = attempt,
                                 .directory = directory,
                                 .work_directory = bench->root,
                                 .envp = environ,
                                 .grace_ms = 10000};
}

/* Starts what the spec says, and frees its directory. */
static enum start_result bench_start(struct bench *bench,
                                     struct attempt_spec *spec, struct err *err)
{
    enum start_result result;
    union {
        const char *constant;
        char *owned;
    } directory = {.constant = spec->directory};

    bench->is_inside = true;
    bench->lacks = 0;
    result = executor_start(bench->executor, spec, &bench->lacks, err);
    bench->is_inside = false;
    free(directory.owned);
    spec->directory = NULL;
    return result;
}

UNUSED static int bench_reattach(struct bench *bench, struct attempt_spec *spec,
                                 struct err *err)
{
    int result;
    union {
        const char *constant;
        char *owned;
    } directory = {.constant = spec->directory};

    bench->is_inside = true;
    result = executor_reattach(bench->executor, spec, err);
    bench->is_inside = false;
    free(directory.owned);
    return result;
}

UNUSED static char *bench_read(struct bench *bench, int64_t attempt,
                               const char *name)
{
    struct buf text = BUF_INIT;
    char *path = bench_path(bench, attempt, name);

    fs_read(path, 64 << 20, &text, NULL);
    free(path);
    return buf_take(&text);
}

UNUSED static bool bench_has(struct bench *bench, int64_t attempt,
                             const char *name)
{
    char *path = bench_path(bench, attempt, name);
    bool is_there = fs_exists(path);

    free(path);
    return is_there;
}

/* Waits for a word in an attempt's log. */
UNUSED static void bench_await_word(struct bench *bench, int64_t attempt,
                                    const char *word)
{
    int64_t end_ms = clock_monotonic_ms() + BENCH_WAIT_MS;
    bool found = false;

    while (!found) {
        char *log = bench_read(bench, attempt, "log");

        found = strstr(log, word) != NULL;
        free(log);
        assert_true(clock_monotonic_ms() < end_ms);
        uv_run(&bench->loop, UV_RUN_NOWAIT);
    }
}

UNUSED static void bench_await_file(struct bench *bench, int64_t attempt,
                                    const char *name)
{
    int64_t end_ms = clock_monotonic_ms() + BENCH_WAIT_MS;

    while (!bench_has(bench, attempt, name)) {
        assert_true(clock_monotonic_ms() < end_ms);
        uv_run(&bench->loop, UV_RUN_NOWAIT);
    }
}

/* Living processes whose environment has the variable with this value. */
UNUSED static size_t count_processes_with(const char *name, const char *value)
{
    struct process_table table = {NULL, 0, 0};
    char found[256];
    size_t count = 0;

    process_table_read(&table);
    for (size_t i = 0; i < table.count; i++) {
        pid_t pid = table.rows[i].pid;

        count += pid != getpid() && !table.rows[i].is_zombie &&
                 process_variable(pid, name, found, sizeof(found)) &&
                 strcmp(found, value) == 0;
    }
    process_table_clear(&table);
    return count;
}

static void bench_close_loop(struct bench *bench)
{
    uv_close((uv_handle_t *)&bench->watchdog, NULL);
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&bench->loop), 0);
    fs_remove_tree(bench->root, NULL);
}

/* Also sees that the agent and all else that it started is gone. */
static void bench_close(struct bench *bench)
{
    if (bench->executor != NULL)
        bench_disconnect(bench);
    AWAIT(count_processes_with("SMTUNE_TEST_ROOT", bench->root) == 0);
    bench_close_loop(bench);
}

/* -- The local executor, with a shell ------------------------------------*/

/* Ignores SIGTERM, once it has said so. */
#define STUBBORN "trap '' TERM; echo up; while :; do sleep 1000; done"

static const struct executor_options two_at_once = {
    .name = "local", .cpus = 2, .gpus = 0, .parallel = 2};

UNUSED static void open_local(struct bench *bench)
{
    bench_open(bench, &two_at_once);
}

UNUSED static enum start_result start_shell(
    struct bench *bench, int64_t attempt, const char *script,
    void (*adjust)(struct attempt_spec *))
{
    char *text = mem_copy_string(script);
    static char sh[] = "/bin/sh", option[] = "-c";
    char *argv[] = {sh, option, text, NULL};
    struct attempt_spec spec = bench_spec(bench, attempt);
    enum start_result result;

    spec.argv = argv;
    if (adjust != NULL)
        adjust(&spec);
    result = bench_start(bench, &spec, NULL);
    free(text);
    return result;
}

/* Runs a script to its end. */
UNUSED static const struct attempt_exit *run_shell(
    struct bench *bench, const char *script,
    void (*adjust)(struct attempt_spec *))
{
    int64_t attempt = (int64_t)bench->end_count + 1;
    size_t ended = bench->end_count;

    assert_int_equal(start_shell(bench, attempt, script, adjust), START_OK);
    BENCH_RUN_UNTIL(bench, bench->end_count > ended);
    return bench_end_of(bench, attempt);
}

/* For a group of tests: the shim that was built with them, slots that no other
 * program on this machine shares, and the pid by which a command can tell that
 * the tests are over. */
UNUSED static int open_group(void **state)
{
    char *path = built_path("smtune-shim");
    char *runtime = mem_copy_string("/tmp/smtune-test-XXXXXX");
    char pid[16];

    setenv("SMTUNE_SHIM", path, 1);
    /* The shim's child runs in its memory, beside it: what this option sets
     * aside for the frames of a thread would be used by both at once. */
    setenv("ASAN_OPTIONS", "detect_stack_use_after_return=0", 1);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("SMTUNE_TEST_PID", pid, 1);
    free(path);
    if (mkdtemp(runtime) == NULL)
        return -1;
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    *state = runtime;
    return 0;
}

UNUSED static int close_group(void **state)
{
    int result = fs_remove_tree(*state, NULL);

    free(*state);
    return result;
}

#endif
