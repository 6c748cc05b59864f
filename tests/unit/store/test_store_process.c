/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several processes at one store; writers that are killed or run out of disk.
 * A child says over a pipe how far it is: nothing here waits by the clock. */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "store/lock.h"
#include "tests/unit/store/store_test.h"

struct child {
    pid_t pid;
    int says, hears; /* the parent's ends */
};

/* Runs in the child: its ends, and its exit status. */
typedef int child_main(const char *folder, int says, int hears);

static struct child start(child_main *run, const char *folder)
{
    struct child child;
    int up[2], down[2];

    assert_int_equal(pipe(up), 0);
    assert_int_equal(pipe(down), 0);
    child.pid = fork();
    if (child.pid == 0) {
        close(up[0]);
        close(down[1]);
        _exit(run(folder, up[1], down[0]));
    }
    close(up[1]);
    close(down[0]);
    child.says = up[0];
    child.hears = down[1];
    return child;
}

static int end(struct child *child)
{
    int status;

    close(child->hears);
    close(child->says);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void say(int fd)
{
    if (write(fd, "x", 1) != 1)
        _exit(90);
}

static bool hear(int fd)
{
    char c;

    return read(fd, &c, 1) == 1;
}

/* ---- reading beside a writer ---- */

static int write_slowly(const char *folder, int says, int hears)
{
    struct err err = {0};
    struct store *store = store_open(folder, STORE_WRITE, &err);

    if (store == NULL || store_begin(store, &err) < 0 ||
        fill_trial(store, 1, 6, 6, &err) < 0)
        return 1;
    say(says);
    hear(hears);
    if (store_commit(store, &err) < 0)
        return 2;
    say(says);
    hear(hears);
    store_close(store);
    return 0;
}

static void test_store_process__readers_never_wait(void **state)
{
    struct child child;
    struct store *reader;
    int64_t start_ms;

    store_close(must_fill(*state, 5));
    child = start(write_slowly, *state);
    assert_true(hear(child.says)); /* its transaction is open */
    start_ms = clock_monotonic_ms();
    reader = must_open(*state, STORE_READ);
    assert_int_equal(count_trials(reader, 1), 5);
    assert_true(clock_monotonic_ms() - start_ms < 2000);
    say(child.hears);
    assert_true(hear(child.says)); /* committed */
    assert_int_equal(count_trials(reader, 1), 6);
    store_close(reader); /* while the writer still has it open */
    say(child.hears);
    assert_int_equal(end(&child), 0);
    reader = must_open(*state, STORE_READ);
    assert_int_equal(count_trials(reader, 1), 6);
    assert_int_equal(store_begin(reader, NULL), -1);
    store_close(reader);
}

/* ---- the lock ---- */

static void test_store_process__lock_names_its_holder(void **state)
{
    struct err err = {0};
    struct child child;
    char pid[32];
    int fd;

    store_close(must_fill(*state, 5));
    child = start(write_slowly, *state);
    assert_true(hear(child.says));
    fd = lock_open(*state, &err);
    assert_int_equal(lock_take(fd, 20, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
    snprintf(pid, sizeof(pid), "process %ld ", (long)child.pid);
    assert_non_null(strstr(err.text, pid));
    kill(child.pid, SIGKILL);
    assert_int_equal(end(&child), 128 + SIGKILL);
    must(lock_take(fd, 0, &err)); /* the dead hold nothing */
    close(fd);
}

enum { SHARED_TRIALS = 100 };

static int write_one_by_one(const char *folder, int64_t run)
{
    struct err err = {0};
    struct store *store = store_open(folder, STORE_WRITE, &err);

    for (int64_t n = 1; store != NULL && n <= SHARED_TRIALS; n++) {
        if (store_begin(store, &err) < 0 ||
            fill_trial(store, run, n, 1, &err) < 0 ||
            store_commit(store, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
    }
    store_close(store);
    return 0;
}

static int write_first(const char *folder, int says, int hears)
{
    (void)says;
    hear(hears);
    return write_one_by_one(folder, 1);
}

static int write_second(const char *folder, int says, int hears)
{
    (void)says;
    hear(hears);
    return write_one_by_one(folder, 2);
}

static void test_store_process__writers_take_turns(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 0);
    struct child first, second;
    int64_t run;

    must(store_begin(store, &err));
    must(fill_run(store, "second", "minimize", &run, &err));
    must(store_commit(store, &err));
    store_close(store);
    first = start(write_first, *state);
    second = start(write_second, *state);
    say(first.hears);
    say(second.hears);
    assert_int_equal(end(&first), 0);
    assert_int_equal(end(&second), 0);
    store = must_open(*state, STORE_READ);
    assert_int_equal(count_trials(store, 1), SHARED_TRIALS);
    assert_int_equal(count_trials(store, 2), SHARED_TRIALS);
    store_close(store);
}

/* ---- killed ---- */

/* Each trial is acknowledged when it is committed; a second, of one more run,
 * never is. */
static int write_for_ever(const char *folder, int says, int hears)
{
    struct err err = {0};
    struct store *store = store_open(folder, STORE_WRITE, &err);
    struct trial_query query = {.run = 1};
    int64_t done = 0;

    (void)hears;
    if (store == NULL ||
        store_each_trial(store, &query, count_trial, &done, &err) != 0)
        return 1;
    for (;;) {
        if (store_begin(store, &err) < 0 ||
            fill_trial(store, 1, ++done, 1, &err) < 0 ||
            store_commit(store, &err) < 0)
            return 1;
        if (write(says, &done, sizeof(done)) != sizeof(done))
            return 2;
    }
}

static void must_be_sound(const char *folder)
{
    char *answer = ask_sqlite(
        folder, "SELECT (SELECT * FROM pragma_integrity_check),"
                " (SELECT count(*) FROM pragma_foreign_key_check),"
                " (SELECT count(*) FROM job) * 6 + 1 ="
                " (SELECT count(*) FROM event),"
                " (SELECT count(*) FROM job) = (SELECT count(*) FROM trial"
                "  WHERE value = 1 AND attempts = 1 AND state = 'succeeded')");

    assert_string_equal(answer, "ok|0|1|1");
    free(answer);
}

static void test_store_process__kill_loses_nothing_acknowledged(void **state)
{
    int64_t acknowledged = 0, kept;

    store_close(must_fill(*state, 0));
    for (int round = 0; round < 10; round++) {
        struct child child = start(write_for_ever, *state);
        struct store *store;

        for (int i = 0; i < 3 * round + 1; i++)
            assert_int_equal(
                read(child.says, &acknowledged, sizeof(acknowledged)),
                sizeof(acknowledged));
        kill(child.pid, SIGKILL);
        while (read(child.says, &acknowledged, sizeof(acknowledged)) > 0)
            ;
        assert_int_equal(end(&child), 128 + SIGKILL);
        store = must_open(*state, STORE_READ);
        kept = count_trials(store, 1);
        assert_in_range(kept, acknowledged, acknowledged + 1);
        store_close(store);
    }
    must_be_sound(*state);
}

static int write_half(const char *folder, int says, int hears)
{
    struct err err = {0};
    struct store *store = store_open(folder, STORE_WRITE, &err);

    if (store == NULL || store_begin(store, &err) < 0)
        return 1;
    /* More than the page cache holds, so that some of it is in the log. */
    for (int64_t n = 1; n <= 20000; n++) {
        if (fill_trial(store, 1, n + 1, 1, &err) < 0)
            return 2;
    }
    say(says);
    hear(hears);
    return 3;
}

static void test_store_process__kill_undoes_what_was_not_committed(void **state)
{
    struct child child;
    struct store *store;

    store_close(must_fill(*state, 1));
    child = start(write_half, *state);
    assert_true(hear(child.says));
    kill(child.pid, SIGKILL);
    assert_int_equal(end(&child), 128 + SIGKILL);
    store = must_open(*state, STORE_READ);
    assert_int_equal(count_trials(store, 1), 1);
    store_close(store);
    store_close(must_open(*state, STORE_WRITE));
    must_be_sound(*state);
}

/* ---- no room ---- */

enum { NO_MOUNT = 77, WRONG_ERROR = 1, LOST = 2, NOT_USABLE = 3 };

/* Commits trials until one fails; the number that did not. */
static int64_t write_until_full(struct store *store, struct err *err)
{
    int64_t done = 0;

    while (store_begin(store, err) == 0 &&
           fill_trial(store, 1, done + 1, 1, err) == 0 &&
           store_commit(store, err) == 0)
        done++;
    store_rollback(store);
    return done;
}

static int check_after_full(struct store *store, int64_t done)
{
    struct err err = {0};
    int64_t count = 0;

    if (store_each_trial(store, &(struct trial_query){.run = 1}, count_trial,
                         &count, &err) != 0 ||
        count != done)
        return LOST;
    if (store_begin(store, &err) < 0 ||
        fill_trial(store, 1, done + 1, 1, &err) < 0 ||
        store_commit(store, &err) < 0)
        return NOT_USABLE;
    store_close(store);
    return 0;
}

static int fill_limited_file(const char *folder, int says, int hears)
{
    struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
    struct err err = {0};
    struct store *store;
    int64_t done;

    (void)says;
    (void)hears;
    signal(SIGXFSZ, SIG_IGN);
    store = store_open(folder, STORE_WRITE, &err);
    setrlimit(RLIMIT_FSIZE, &limit);
    done = write_until_full(store, &err);
    fprintf(stderr, "%" PRId64 " trials: %s\n", done, err.text);
    if (strstr(err.text, "I/O error") == NULL || strchr(err.text, '\n'))
        return WRONG_ERROR;
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    return check_after_full(store, done);
}

static int fill_small_disk(const char *folder, int says, int hears)
{
    struct err err = {0};
    struct store *store;
    int64_t run, done;

    (void)says;
    (void)hears;
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=1m") != 0)
        return NO_MOUNT;
    store = store_open(folder, STORE_CREATE, &err);
    if (store == NULL || store_begin(store, &err) < 0 ||
        fill_run(store, "r", "minimize", &run, &err) < 0 ||
        store_commit(store, &err) < 0)
        return NOT_USABLE;
    done = write_until_full(store, &err);
    fprintf(stderr, "%" PRId64 " trials: %s\n", done, err.text);
    if (strstr(err.text, "the disk is full") == NULL)
        return WRONG_ERROR;
    if (mount("none", folder, "tmpfs", MS_REMOUNT, "size=64m") != 0)
        return NO_MOUNT;
    return check_after_full(store, done);
}

static void test_store_process__full_file_keeps_what_was_said(void **state)
{
    struct child child;

    store_close(must_fill(*state, 0));
    child = start(fill_limited_file, *state);
    assert_int_equal(end(&child), 0);
    must_be_sound(*state);
}

static void test_store_process__full_disk_keeps_what_was_said(void **state)
{
    struct child child = start(fill_small_disk, *state);
    int status = end(&child);

    if (status == NO_MOUNT) {
        print_message("SKIPPED: cannot mount a small disk here\n");
        skip();
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_process__readers_never_wait),
        STORE_TEST(test_store_process__lock_names_its_holder),
        STORE_TEST(test_store_process__writers_take_turns),
        STORE_TEST(test_store_process__kill_loses_nothing_acknowledged),
        STORE_TEST(test_store_process__kill_undoes_what_was_not_committed),
        STORE_TEST(test_store_process__full_file_keeps_what_was_said),
        STORE_TEST(test_store_process__full_disk_keeps_what_was_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
