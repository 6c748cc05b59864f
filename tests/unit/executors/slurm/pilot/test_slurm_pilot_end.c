/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How pilots end, and what becomes of their attempts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "executors/attempt/attempt_file.h"
#include "executors/slurm/pilot/pilot_impl.h"
#include "tests/unit/executors/slurm/pilot/pilot_test.h"

static bool is_revoked(const struct drill *drill, int64_t attempt)
{
    char *folder = attempt_folder(drill, attempt);
    bool result = pulse_is_marked(folder, PULSE_REVOKED);

    free(folder);
    return result;
}

static void test_slurm_pilot__a_dead_nodes_attempts_end_by_their_files(
    void **state)
{
    struct drill *drill = *state;
    struct attempt_exit end = {
        .attempt = 2, .cause = CAUSE_EXIT, .exit_code = 3};
    char *folder = attempt_folder(drill, 2);
    int fd;

    begin(drill);
    start(drill, 3);
    WAIT_FOR(drill, drill->pilots->first->flights.count == 3);
    fd = claim(drill, 1);
    exit_write(folder, &end, NULL);
    free(folder);
    list(drill, drill->slurm.submits[0].name, 17, "NODE_FAIL");
    assert_string_equal(drill->slurm.reported, "n1");
    assert_int_equal(drill->slurm.trouble, NODE_DIED);
    turn(drill);
    assert_int_equal(fake_end(&drill->slurm, 2)->cause, CAUSE_EXIT);
    assert_true(fake_end(&drill->slurm, 3)->is_displaced);
    assert_true(is_revoked(drill, 1));
    assert_null(fake_end(&drill->slurm, 1));
    WAIT_FOR(drill, fake_end(&drill->slurm, 1) != NULL);
    assert_int_equal(fake_end(&drill->slurm, 1)->cause, CAUSE_NODE_FAIL);
    close(fd);
}

static void test_slurm_pilot__silence_is_found_before_slurm_says_so(
    void **state)
{
    struct drill *drill = *state;
    int fd;

    begin(drill);
    fd = claim(drill, 1);
    say_started(drill, 1);
    WAIT_FOR(drill, fake_end(&drill->slurm, 1) != NULL);
    assert_int_equal(fake_end(&drill->slurm, 1)->cause, CAUSE_NODE_FAIL);
    assert_string_equal(drill->slurm.reported, "n1");
    assert_int_equal(drill->slurm.cancelled_job, 17);
    close(fd);
}

static void test_slurm_pilot__the_end_of_its_time_is_no_fault(void **state)
{
    struct drill *drill = *state;
    int fd;

    begin(drill);
    fd = claim(drill, 1);
    list(drill, drill->slurm.submits[0].name, 17, "TIMEOUT");
    WAIT_FOR(drill, fake_end(&drill->slurm, 1) != NULL);
    assert_int_equal(fake_end(&drill->slurm, 1)->cause, CAUSE_PREEMPTED);
    assert_true(fake_end(&drill->slurm, 1)->is_displaced);
    close(fd);
}

/* As the agent does when its allocation is sent SIGTERM. */
static void say_signalled(struct drill *drill, int64_t attempt)
{
    const struct attempt_exit end = {
        .attempt = attempt, .cause = CAUSE_CANCELLED, .signal = 15};
    char *folder = attempt_folder(drill, attempt);

    assert_int_equal(exit_write(folder, &end, NULL), 0);
    agent_put(spool_out(&drill->out), AGENT_ENDED, &end, sizeof(end));
    assert_int_equal(spool_write(&drill->out, NULL), 0);
    free(folder);
}

static void check_signalled(struct drill *drill, const char *word,
                            enum attempt_cause cause)
{
    const struct attempt_exit *end;
    int fd;

    begin(drill);
    fd = claim(drill, 1);
    say_started(drill, 1);
    say_signalled(drill, 1);
    WAIT_FOR(drill, drill->slurm.looks_now == 1);
    turn(drill);
    assert_null(fake_end(&drill->slurm, 1));
    list(drill, drill->slurm.submits[0].name, 17, word);
    WAIT_FOR(drill, fake_end(&drill->slurm, 1) != NULL);
    end = fake_end(&drill->slurm, 1);
    assert_int_equal(end->cause, cause);
    assert_int_equal(end->is_outside, cause == CAUSE_CANCELLED);
    assert_int_equal(end->is_displaced, cause != CAUSE_CANCELLED);
    WAIT_FOR(drill, fake_end(&drill->slurm, 2) != NULL);
    assert_true(fake_end(&drill->slurm, 2)->is_displaced);
    close(fd);
}

static void test_slurm_pilot__a_cancelled_one_ends_what_ran_in_it(void **state)
{
    check_signalled(*state, "CANCELLED", CAUSE_CANCELLED);
}

static void test_slurm_pilot__a_preempted_one_displaces_it(void **state)
{
    check_signalled(*state, "PREEMPTED", CAUSE_PREEMPTED);
}

/* Slurm's word comes first, and the agent's last message after it. */
static void test_slurm_pilot__its_last_words_are_of_a_cancelled_one(
    void **state)
{
    const struct attempt_exit said = {
        .attempt = 1, .cause = CAUSE_CANCELLED, .signal = 15};
    struct drill *drill = *state;
    const struct attempt_exit *end;
    int fd;

    begin(drill);
    fd = claim(drill, 1);
    say_started(drill, 1);
    WAIT_FOR(drill, drill->pilots->first->flights.first->has_started);
    list(drill, drill->slurm.submits[0].name, 17, "CANCELLED");
    agent_put(spool_out(&drill->out), AGENT_ENDED, &said, sizeof(said));
    assert_int_equal(spool_write(&drill->out, NULL), 0);
    WAIT_FOR(drill, fake_end(&drill->slurm, 1) != NULL);
    end = fake_end(&drill->slurm, 1);
    assert_int_equal(end->cause, CAUSE_CANCELLED);
    assert_int_equal(end->signal, 15);
    assert_true(end->is_outside);
    close(fd);
}

static void test_slurm_pilot__one_cancelled_in_the_queue_is_not_replaced(
    void **state)
{
    struct drill *drill = *state;

    start(drill, 1);
    start(drill, 2);
    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    fake_answer(&drill->slurm, 0, SLURM_DONE, 17);
    list(drill, drill->slurm.submits[0].name, 17, "CANCELLED");
    WAIT_FOR(drill, drill->slurm.end_count == 2);
    assert_int_equal(fake_end(&drill->slurm, 2)->cause, CAUSE_CANCELLED);
    assert_true(fake_end(&drill->slurm, 2)->is_outside);
    turn(drill);
    assert_int_equal(drill->slurm.submit_count, 1);
}

static void test_slurm_pilot__sick_nodes_are_reported(void **state)
{
    struct drill *drill = *state;
    char *path;

    start(drill, 1);
    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    fake_answer(&drill->slurm, 0, SLURM_DONE, 17);
    path = fs_join(drill->pilots->first->folder, "unhealthy");
    fs_write_atomic(path, "no disk\n", 8, 0600, NULL);
    free(path);
    list(drill, drill->slurm.submits[0].name, 17, "FAILED");
    assert_string_equal(drill->slurm.reported, "n1");
    assert_int_equal(drill->slurm.trouble, NODE_UNHEALTHY);
    drill->slurm.avoided[0] = "n1";
    WAIT_FOR(drill, drill->slurm.submit_count == 2);
    assert_string_equal(drill->slurm.submits[1].avoid, "n1");
    assert_int_equal(drill->slurm.end_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DRILL(test_slurm_pilot__a_cancelled_one_ends_what_ran_in_it),
        DRILL(test_slurm_pilot__a_preempted_one_displaces_it),
        DRILL(test_slurm_pilot__its_last_words_are_of_a_cancelled_one),
        DRILL(test_slurm_pilot__one_cancelled_in_the_queue_is_not_replaced),
        DRILL(test_slurm_pilot__a_dead_nodes_attempts_end_by_their_files),
        DRILL(test_slurm_pilot__silence_is_found_before_slurm_says_so),
        DRILL(test_slurm_pilot__the_end_of_its_time_is_no_fault),
        DRILL(test_slurm_pilot__sick_nodes_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
