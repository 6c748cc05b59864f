/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What attempts get from pilots, and whose pilots are taken over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "executors/slurm/pilot/pilot_impl.h"
#include "tests/unit/executors/slurm/pilot/pilot_test.h"

static void test_slurm_pilot__runs_attempts(void **state)
{
    struct drill *drill = *state;

    begin(drill);
    assert_int_equal(drill->slurm.submits[0].cpus, 4);
    say_started(drill, 1);
    say_ended(drill, 1);
    WAIT_FOR(drill, fake_end(&drill->slurm, 1) != NULL);
    assert_int_equal(drill->slurm.started_count, 1);
    assert_int_equal(drill->slurm.started_pid, 4711);
    assert_int_equal(fake_end(&drill->slurm, 1)->cause, CAUSE_OK);
    assert_null(fake_end(&drill->slurm, 2));
}

static void test_slurm_pilot__cancels_at_once(void **state)
{
    struct drill *drill = *state;
    struct slurm_flight *waits;

    begin(drill);
    start(drill, 3);
    start(drill, 4);
    waits = start(drill, 5);
    WAIT_FOR(drill, drill->pilots->waiting.count == 1);
    slurm_pilot.cancel(drill->pilots, waits);
    assert_int_equal(fake_end(&drill->slurm, 5)->cause, CAUSE_CANCELLED);
    slurm_pilot.cancel(drill->pilots, drill->pilots->first->flights.first);
    assert_int_equal(count_come(drill, AGENT_CANCEL), 1);
}

static void test_slurm_pilot__what_it_gives_back_goes_to_another(void **state)
{
    struct drill *drill = *state;
    int fd;

    begin(drill);
    fd = claim(drill, 1);
    say_started(drill, 1);
    agent_put(spool_out(&drill->out), AGENT_DRAIN, "", 0);
    spool_write(&drill->out, NULL);
    WAIT_FOR(drill, drill->slurm.submit_count == 2);
    assert_int_equal(drill->pilots->waiting.count, 1);
    become_agent(drill, drill->slurm.submits[1].name, 1);
    WAIT_FOR(drill, drill->pilots->waiting.count == 0);
    assert_int_equal(count_come(drill, AGENT_START), 1);
    assert_int_equal(drill->slurm.end_count, 0);
    fake_answer(&drill->slurm, 1, SLURM_DONE, 18);
    close(fd);
}

static void test_slurm_pilot__a_second_engine_takes_over(void **state)
{
    struct drill *drill = *state;
    struct slurm_handle handle = {.task = -1};
    int fd;

    begin(drill);
    fd = claim(drill, 1);
    snprintf(handle.name, sizeof(handle.name), "%s",
             drill->slurm.submits[0].name);
    for (struct slurm_flight *f = drill->pilots->first->flights.first;
         f != NULL; f = drill->pilots->first->flights.first) {
        pilot_let_go(drill->pilots->first, f);
        fake_destroy_flight(&drill->slurm, f);
    }
    pilot_destroy(drill->pilots->first);
    for (int64_t attempt = 1; attempt <= 2; attempt++)
        slurm_pilot.reattach(drill->pilots, make_flight(drill, attempt, true),
                             &handle, NULL);
    assert_int_equal(drill->pilots->first->job, 17);
    become_agent(drill, handle.name, 2);
    say_started(drill, 1);
    WAIT_FOR(drill, fake_end(&drill->slurm, 2) != NULL);
    assert_true(fake_end(&drill->slurm, 2)->is_displaced);
    say_ended(drill, 1);
    WAIT_FOR(drill, fake_end(&drill->slurm, 1) != NULL);
    assert_int_equal(fake_end(&drill->slurm, 1)->cause, CAUSE_OK);
    close(fd);
}

static void test_slurm_pilot__strangers_are_taken_over_or_ended(void **state)
{
    struct drill *drill = *state;
    char *folder = fs_join(drill->slurm.folder, "smt-00000000-p90");

    list(drill, "smt-00000000-p80", 80, "RUNNING");
    assert_int_equal(drill->slurm.cancelled_job, 80);
    assert_null(drill->pilots->first);
    fs_make_directories(folder, NULL);
    list(drill, "smt-00000000-p90", 90, "RUNNING");
    assert_int_equal(drill->slurm.cancel_count, 1);
    assert_int_equal(drill->pilots->first->job, 90);
    free(folder);
}

static void test_slurm_pilot__on_avoided_nodes_take_no_more(void **state)
{
    struct drill *drill = *state;

    begin(drill);
    drill->slurm.avoided[0] = "n1";
    start(drill, 3);
    WAIT_FOR(drill, drill->slurm.submit_count == 2);
    assert_int_equal(drill->pilots->waiting.count, 1);
    drill->pilots->watched_ms = 0;
    turn(drill);
    assert_int_equal(count_come(drill, AGENT_DRAIN), 1);
}

static void test_slurm_pilot__an_attempt_has_the_executors_time(void **state)
{
    struct drill *drill = *state;
    struct agent_message message;
    struct attempt_request *request = NULL;

    drill->slurm.options.time_ms = 90000;
    start(drill, 1);
    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    become_agent(drill, drill->slurm.submits[0].name, 1);
    WAIT_FOR(drill, drill->pilots->waiting.count == 0);
    assert_int_equal(spool_read(&drill->in, NULL), 1);
    assert_int_equal(spool_next(&drill->in, &message), 1);
    request = agent_get_start(&message);
    assert_int_equal(request->spec.time_ms, 90000);
    attempt_request_destroy(request);
    fake_answer(&drill->slurm, 0, SLURM_DONE, 17);
}

/* What smtune chose a pilot for before it knew the cluster. */
static void test_slurm_pilot__too_long_for_one_starts_again_as_a_job(
    void **state)
{
    struct drill *drill = *state;
    struct slurm_flight *flight = make_flight(drill, 1, false);

    flight->request->spec.time_ms = 120000;
    assert_int_equal(slurm_pilot.start(drill->pilots, flight, NULL), START_OK);
    drill->partition.max_time_ms = 120000;
    WAIT_FOR(drill, drill->slurm.end_count == 1);
    assert_true(fake_end(&drill->slurm, 1)->is_displaced);
    assert_int_equal(drill->slurm.submit_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DRILL(test_slurm_pilot__runs_attempts),
        DRILL(test_slurm_pilot__cancels_at_once),
        DRILL(test_slurm_pilot__what_it_gives_back_goes_to_another),
        DRILL(test_slurm_pilot__a_second_engine_takes_over),
        DRILL(test_slurm_pilot__strangers_are_taken_over_or_ended),
        DRILL(test_slurm_pilot__too_long_for_one_starts_again_as_a_job),
        DRILL(test_slurm_pilot__on_avoided_nodes_take_no_more),
        DRILL(test_slurm_pilot__an_attempt_has_the_executors_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
