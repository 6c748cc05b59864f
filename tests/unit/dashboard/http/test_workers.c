/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/http/workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/compiler.h"

/* Which tasks are done at a time: each waits in its thread until the test lets
 * it end. */

enum { TASKS = 8 };

struct job {
    struct task task;
    struct fixture *fixture;
    uv_sem_t may_end;
    bool has_begun, is_done; /* the first by the fixture's mutex */
};

struct fixture {
    uv_loop_t loop;
    uv_mutex_t mutex;
    uv_cond_t changed;
    struct workers *workers;
    struct job jobs[TASKS];
    int count;
};

static void run(struct task *task)
{
    struct job *job = (struct job *)task;

    uv_mutex_lock(&job->fixture->mutex);
    job->has_begun = true;
    uv_cond_broadcast(&job->fixture->changed);
    uv_mutex_unlock(&job->fixture->mutex);
    uv_sem_wait(&job->may_end);
}

static void done(struct task *task)
{
    ((struct job *)task)->is_done = true;
}

static void set_up(struct fixture *fixture)
{
    *fixture = (struct fixture){0};
    uv_loop_init(&fixture->loop);
    uv_mutex_init(&fixture->mutex);
    uv_cond_init(&fixture->changed);
    fixture->workers = workers_create(&fixture->loop);
}

static void add(struct fixture *fixture, bool is_guests, bool is_long)
{
    struct job *job = &fixture->jobs[fixture->count++];

    job->fixture = fixture;
    job->task.run = run;
    job->task.done = done;
    job->task.is_guests = is_guests;
    job->task.is_long = is_long;
    uv_sem_init(&job->may_end, 0);
    workers_add(fixture->workers, &job->task);
}

/* Which are running, as "0 2 3" is 1 << 0 | 1 << 2 | 1 << 3: no others begin,
 * because the workers have given them to no thread. */
static void must_run(struct fixture *fixture, unsigned int wanted)
{
    uv_mutex_lock(&fixture->mutex);
    for (int i = 0; i < fixture->count; i++) {
        struct job *job = &fixture->jobs[i];

        while ((wanted >> i & 1) != 0 && !job->has_begun)
            uv_cond_wait(&fixture->changed, &fixture->mutex);
        if ((wanted >> i & 1) == 0 && job->has_begun && !job->is_done)
            fail_msg("task %d runs", i);
    }
    uv_mutex_unlock(&fixture->mutex);
}

static void end(struct fixture *fixture, int i)
{
    uv_sem_post(&fixture->jobs[i].may_end);
    while (!fixture->jobs[i].is_done)
        uv_run(&fixture->loop, UV_RUN_ONCE);
}

static void tear_down(struct fixture *fixture)
{
    for (int i = 0; i < fixture->count; i++)
        uv_sem_post(&fixture->jobs[i].may_end);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    for (int i = 0; i < fixture->count; i++) {
        assert_true(fixture->jobs[i].is_done);
        uv_sem_destroy(&fixture->jobs[i].may_end);
    }
    workers_destroy(fixture->workers);
    uv_cond_destroy(&fixture->changed);
    uv_mutex_destroy(&fixture->mutex);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
}

enum { OTHERS = false, GUESTS = true, SHORT = false, LONG = true };

static void test_workers__do_three_at_a_time_in_their_order(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    for (int i = 0; i < 5; i++)
        add(&fixture, OTHERS, SHORT);
    must_run(&fixture, 1 << 0 | 1 << 1 | 1 << 2);
    end(&fixture, 1);
    must_run(&fixture, 1 << 0 | 1 << 2 | 1 << 3);
    end(&fixture, 0);
    must_run(&fixture, 1 << 2 | 1 << 3 | 1 << 4);
    tear_down(&fixture);
}

static void test_workers__leave_a_thread_to_who_is_no_guest(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    for (int i = 0; i < 4; i++)
        add(&fixture, GUESTS, SHORT);
    must_run(&fixture, 1 << 0 | 1 << 1);
    add(&fixture, OTHERS, SHORT); /* before two guests that came earlier */
    must_run(&fixture, 1 << 0 | 1 << 1 | 1 << 4);
    add(&fixture, OTHERS, SHORT);
    end(&fixture, 0);
    must_run(&fixture, 1 << 1 | 1 << 2 | 1 << 4);
    end(&fixture, 4);
    must_run(&fixture, 1 << 1 | 1 << 2 | 1 << 5);
    tear_down(&fixture);
}

static void test_workers__do_one_long_task_of_each(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    add(&fixture, GUESTS, LONG);
    add(&fixture, GUESTS, LONG);
    add(&fixture, OTHERS, LONG);
    add(&fixture, OTHERS, LONG);
    must_run(&fixture, 1 << 0 | 1 << 2);
    add(&fixture, GUESTS, SHORT);
    must_run(&fixture, 1 << 0 | 1 << 2 | 1 << 4);
    end(&fixture, 2);
    must_run(&fixture, 1 << 0 | 1 << 3 | 1 << 4);
    end(&fixture, 0);
    must_run(&fixture, 1 << 1 | 1 << 3 | 1 << 4);
    tear_down(&fixture);
}

static void test_workers__drop_what_waits(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    for (int i = 0; i < 5; i++)
        add(&fixture, i % 2 == 0 ? GUESTS : OTHERS, i < 2 ? SHORT : LONG);
    must_run(&fixture, 1 << 0 | 1 << 1 | 1 << 2);
    workers_drop_waiting(fixture.workers);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(fixture.jobs[i].is_done, i >= 3);
        assert_int_equal(fixture.jobs[i].task.is_dropped, i >= 3);
    }
    /* Those that run, and one that comes, are as ever. */
    add(&fixture, OTHERS, LONG);
    end(&fixture, 0);
    must_run(&fixture, 1 << 1 | 1 << 2 | 1 << 5);
    tear_down(&fixture);
    assert_false(fixture.jobs[5].task.is_dropped);
    assert_false(fixture.jobs[3].has_begun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers__do_three_at_a_time_in_their_order),
        cmocka_unit_test(test_workers__leave_a_thread_to_who_is_no_guest),
        cmocka_unit_test(test_workers__do_one_long_task_of_each),
        cmocka_unit_test(test_workers__drop_what_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
