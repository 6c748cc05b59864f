/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm_thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "training/util/stopwatch.h"

enum { JOBS = 600, BROKEN = 7, JOB_MS = 5 };

struct log {
    int done[JOBS];
    int count;
};

static int note(void *user, int what, int bucket, struct err *err)
{
    struct log *log = user;

    (void)bucket;
    log->done[log->count++] = what;
    return what == BROKEN
               ? err_set(err, ERR_FAILED, "job %d found no rank", what)
               : 0;
}

static int take_long(void *user, int what, int bucket, struct err *err)
{
    double until_ms = stopwatch_ms() + JOB_MS;

    (void)user, (void)what, (void)bucket, (void)err;
    while (stopwatch_ms() < until_ms)
        ;
    return 0;
}

static struct comm_thread *make_thread(comm_job *job, void *user,
                                       bool is_beside)
{
    struct err err = {.text = ""};
    struct comm_thread *thread = comm_thread_create(job, user, is_beside, &err);

    if (thread == NULL)
        fail_msg("%s", err.text);
    return thread;
}

static void test_comm_thread__jobs_are_done_in_their_order(void **state)
{
    (void)state;
    for (int is_beside = 0; is_beside < 2; is_beside++) {
        struct log log = {.count = 0};
        struct comm_thread *thread = make_thread(note, &log, is_beside);
        uint64_t last = 0;
        struct err err;

        for (int i = 0; i < JOBS; i++)
            last = comm_thread_give(thread, BROKEN + 1 + i, 0);
        assert_int_equal(last, JOBS);
        assert_int_equal(comm_thread_await(thread, last, &err), 0);
        assert_int_equal(log.count, JOBS);
        for (int i = 0; i < JOBS; i++)
            assert_int_equal(log.done[i], BROKEN + 1 + i);
        comm_thread_destroy(thread);
    }
}

static void test_comm_thread__behind_one_that_failed_none_is_done(void **state)
{
    (void)state;
    for (int is_beside = 0; is_beside < 2; is_beside++) {
        struct log log = {.count = 0};
        struct comm_thread *thread = make_thread(note, &log, is_beside);
        uint64_t last = 0;
        struct err err;

        for (int i = 0; i < 2 * BROKEN; i++)
            last = comm_thread_give(thread, i, 0);
        assert_int_equal(comm_thread_await(thread, last, &err), -1);
        assert_string_equal(err.text, "job 7 found no rank");
        assert_int_equal(log.count, BROKEN + 1);
        comm_thread_destroy(thread);
    }
}

/* What is reported as exposed communication. */
static void test_comm_thread__jobs_of_the_giver_are_waited_for(void **state)
{
    struct comm_thread *thread = make_thread(take_long, NULL, false);
    struct err err;

    (void)state;
    assert_int_equal(
        comm_thread_await(thread, comm_thread_give(thread, 0, 0), &err), 0);
    assert_true(comm_thread_take_waited_ms(thread) >= JOB_MS);
    assert_true(comm_thread_take_waited_ms(thread) == 0);
    comm_thread_destroy(thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comm_thread__jobs_are_done_in_their_order),
        cmocka_unit_test(test_comm_thread__behind_one_that_failed_none_is_done),
        cmocka_unit_test(test_comm_thread__jobs_of_the_giver_are_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
