/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many pilots are submitted, and which are not needed any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "executors/slurm/pilot/pilot_impl.h"
#include "tests/unit/executors/slurm/pilot/pilot_test.h"

static void test_slurm_pilot__as_many_as_parallel_attempts_need(void **state)
{
    struct drill *drill = *state;
    struct slurm_flight *more;

    for (int64_t attempt = 1; attempt <= 6; attempt++)
        start(drill, attempt);
    more = make_flight(drill, 7, false);
    assert_int_equal(slurm_pilot.start(drill->pilots, more, NULL), START_FULL);
    fake_destroy_flight(&drill->slurm, more);
    WAIT_FOR(drill, drill->slurm.submit_count == 2);
    turn(drill);
    assert_int_equal(drill->slurm.submit_count, 2);
    assert_int_equal(drill->slurm.submits[0].cpus, 4);
    assert_int_equal(drill->slurm.submits[1].cpus, 2);
}

/* slurmrestd of Slurm 24.11 does not report it: the first pilot shows it, and
 * the second is as large as a node allows. */
static void test_slurm_pilot__learns_the_default_partition(void **state)
{
    struct drill *drill = *state;

    drill->partition.is_default = false;
    for (int64_t attempt = 1; attempt <= 6; attempt++)
        start(drill, attempt);
    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    assert_int_equal(drill->slurm.submits[0].cpus, 1);
    fake_answer(&drill->slurm, 0, SLURM_DONE, 17);
    turn(drill);
    turn(drill);
    assert_int_equal(drill->slurm.submit_count, 1);
    list(drill, drill->slurm.submits[0].name, 17, "PENDING");
    assert_true(drill->partition.is_default);
    WAIT_FOR(drill, drill->slurm.submit_count == 3);
    assert_int_equal(drill->slurm.submits[1].cpus, 4);
    assert_int_equal(drill->slurm.submits[2].cpus, 1);
}

static void test_slurm_pilot__refused_ends_those_who_wait(void **state)
{
    struct drill *drill = *state;

    start(drill, 1);
    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    fake_answer(&drill->slurm, 0, SLURM_REFUSED, 0);
    assert_int_equal(fake_end(&drill->slurm, 1)->cause, CAUSE_LAUNCH_ERROR);
    assert_string_equal(fake_end(&drill->slurm, 1)->text, "as it is");
    WAIT_FOR(drill, drill->pilots->first == NULL);
}

static void test_slurm_pilot__put_off_comes_again(void **state)
{
    struct drill *drill = *state;

    start(drill, 1);
    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    fake_answer(&drill->slurm, 0, SLURM_LATER, 0);
    turn(drill);
    assert_int_equal(drill->slurm.submit_count, 1);
    assert_non_null(strstr(drill->slurm.note, "as it is"));
    WAIT_FOR(drill, drill->slurm.submit_count == 2);
    assert_int_equal(drill->slurm.end_count, 0);
}

static void test_slurm_pilot__silent_is_looked_for_by_its_name(void **state)
{
    struct drill *drill = *state;
    int64_t later_ms = clock_monotonic_ms() + 60000;

    start(drill, 1);
    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    fake_answer(&drill->slurm, 0, SLURM_SILENT, 0);
    slurm_pilot.swept(drill->pilots, clock_monotonic_ms() + 1);
    turn(drill);
    assert_int_equal(drill->slurm.submit_count, 1);
    list(drill, drill->slurm.submits[0].name, 17, "PENDING");
    slurm_pilot.swept(drill->pilots, later_ms);
    assert_int_equal(drill->pilots->first->job, 17);
    slurm_pilot.swept(drill->pilots, later_ms);
    assert_int_equal(drill->slurm.ask_count, 1);
    drill->slurm.answered(drill->slurm.answered_user, false);
    WAIT_FOR(drill, drill->slurm.submit_count == 2);
}

static void test_slurm_pilot__that_never_speak_are_not_tried_for_ever(
    void **state)
{
    struct drill *drill = *state;

    start(drill, 1);
    for (int i = 0; i < PILOT_UNHEARD_MAX; i++) {
        WAIT_FOR(drill, drill->slurm.submit_count == i + 1);
        fake_answer(&drill->slurm, i, SLURM_DONE, 17 + i);
        assert_int_equal(drill->slurm.end_count, 0);
        list(drill, drill->slurm.submits[i].name, 17 + i, "FAILED");
        drill->pilots->again_ms = 0;
    }
    assert_int_equal(fake_end(&drill->slurm, 1)->cause, CAUSE_LAUNCH_ERROR);
    assert_non_null(strstr(fake_end(&drill->slurm, 1)->text, "FAILED"));
}

static void test_slurm_pilot__unwanted_ones_are_withdrawn(void **state)
{
    struct drill *drill = *state;
    struct slurm_flight *flight = start(drill, 1);

    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    fake_answer(&drill->slurm, 0, SLURM_DONE, 17);
    slurm_pilot.cancel(drill->pilots, flight);
    pilots_spare(drill->pilots, drill->pilots->spared_ms + 1000);
    assert_int_equal(drill->slurm.cancel_count, 0);
    pilots_spare(drill->pilots, drill->pilots->spared_ms + 60000);
    assert_int_equal(drill->slurm.cancelled_job, 17);
}

/* An idle pilot holds nodes, which the run itself may wait for. */
static void idle_pilot(struct drill *drill)
{
    drill->slurm.options.silence_ms = 10 * WAIT_MS;
    begin(drill);
    say_ended(drill, 1);
    say_ended(drill, 2);
    WAIT_FOR(drill, drill->slurm.end_count == 2);
    pilots_spare(drill->pilots, drill->pilots->spared_ms + 60000);
    pilots_spare(drill->pilots, drill->pilots->spared_ms + 60000);
    assert_int_equal(count_come(drill, AGENT_DRAIN), 0);
    drill->pilots->spared_ms = drill->pilots->first->spare_ms = 0;
}

static void test_slurm_pilot__an_idle_one_ends_for_what_does_not_fit_it(
    void **state)
{
    static const struct slurm_ask fast = {.constraint = "fast"};
    struct drill *drill = *state;
    struct slurm_flight *flight;

    idle_pilot(drill);
    flight = make_flight(drill, 3, false);
    flight->request->spec.slurm = &fast;
    assert_int_equal(slurm_pilot.start(drill->pilots, flight, NULL), START_OK);
    WAIT_FOR(drill, drill->slurm.submit_count == 2);
    fake_answer(&drill->slurm, 1, SLURM_DONE, 18);
    WAIT_FOR(drill, drill->pilots->first->phase == PILOT_DRAINING);
    assert_int_equal(count_come(drill, AGENT_DRAIN), 1);
    assert_int_equal(drill->slurm.cancel_count, 0);
}

static void test_slurm_pilot__an_idle_one_ends_for_jobs_that_wait(void **state)
{
    struct drill *drill = *state;

    idle_pilot(drill);
    drill->slurm.has_queued = true;
    WAIT_FOR(drill, drill->pilots->first->phase == PILOT_DRAINING);
    assert_int_equal(count_come(drill, AGENT_DRAIN), 1);
}

/* A killed engine leaves idle pilots which no attempt names. */
static void test_slurm_pilot__the_end_drains_what_nobody_has_met(void **state)
{
    struct drill *drill = *state;
    char *left = fs_join(drill->slurm.folder, "smt-00000000-p7");

    assert_int_equal(fs_make_directories(left, NULL), 0);
    become_agent(drill, "smt-00000000-p7", 1);
    close_mode(drill);
    assert_int_equal(count_come(drill, AGENT_DRAIN), 1);
    free(left);
}

/* A file system that takes no files any more; a root may write anywhere else.
 */
static void test_slurm_pilot__the_end_passes_one_that_cannot_be_told(
    void **state)
{
    struct drill *drill = *state;
    char *left = fs_join(drill->slurm.folder, "smt-00000000-p7");

    assert_int_equal(fs_make_directories(drill->slurm.folder, NULL), 0);
    assert_int_equal(symlink("/proc", left), 0);
    close_mode(drill);
    free(left);
}

static void test_slurm_pilot__the_end_drains_all(void **state)
{
    struct drill *drill = *state;

    begin(drill);
    for (int64_t attempt = 3; attempt <= 5; attempt++)
        start(drill, attempt);
    WAIT_FOR(drill, drill->slurm.submit_count == 2);
    fake_answer(&drill->slurm, 1, SLURM_DONE, 18);
    slurm_pilot.cancel(drill->pilots, drill->pilots->waiting.first);
    for (int64_t attempt = 1; attempt <= 4; attempt++)
        say_ended(drill, attempt);
    WAIT_FOR(drill, drill->slurm.end_count == 5);
    count_come(drill, AGENT_DRAIN);
    assert_true(close_mode(drill));
    assert_int_equal(count_come(drill, AGENT_DRAIN), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DRILL(test_slurm_pilot__as_many_as_parallel_attempts_need),
        DRILL(test_slurm_pilot__learns_the_default_partition),
        DRILL(test_slurm_pilot__refused_ends_those_who_wait),
        DRILL(test_slurm_pilot__put_off_comes_again),
        DRILL(test_slurm_pilot__silent_is_looked_for_by_its_name),
        DRILL(test_slurm_pilot__an_idle_one_ends_for_what_does_not_fit_it),
        DRILL(test_slurm_pilot__an_idle_one_ends_for_jobs_that_wait),
        DRILL(test_slurm_pilot__the_end_drains_what_nobody_has_met),
        DRILL(test_slurm_pilot__the_end_passes_one_that_cannot_be_told),
        DRILL(test_slurm_pilot__that_never_speak_are_not_tried_for_ever),
        DRILL(test_slurm_pilot__unwanted_ones_are_withdrawn),
        DRILL(test_slurm_pilot__the_end_drains_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
