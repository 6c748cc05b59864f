/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "executors/slurm/pilot/pilot_impl.h"
#include "executors/slurm/script.h"
#include "tests/unit/executors/slurm/pilot/fake_slurm.h"

enum { SILENCE_MS = 200, WAIT_MS = 10000 };

/* The mode on a made-up cluster of nodes with 4 CPUs; the test is the agent. */
struct drill {
    struct slurm slurm;
    struct slurm_partition partition;
    char root[64];
    struct pilots *pilots;
    struct spool_writer out; /* the agent's */
    struct spool_reader in;
};

static int set_up(void **state)
{
    struct drill *drill = mem_zero(sizeof(*drill));
    struct slurm *slurm = &drill->slurm;

    snprintf(drill->root, sizeof(drill->root), "/tmp/smtune-pilot-XXXXXX");
    if (mkdtemp(drill->root) == NULL)
        return -1;
    drill->partition = (struct slurm_partition){
        .name = mem_copy_string("batch"), .is_default = true, .node_cpus = 4};
    slurm->site = (struct slurm_site){.partitions = &drill->partition,
                                      .partition_count = 1};
    slurm->options.silence_ms = SILENCE_MS;
    slurm->transport.type = &fake_transport;
    slurm->parallel = 6;
    snprintf(slurm->folder, sizeof(slurm->folder), "%s/slurm", drill->root);
    uv_loop_init(&slurm->loop);
    drill->pilots = slurm_pilot.create(slurm, NULL);
    drill->out.fd = -1;
    *state = drill;
    return 0;
}

static void leave(struct drill *drill)
{
    spool_writer_close(&drill->out);
    spool_reader_clear(&drill->in);
}

/* Returns whether it has left something in the queue. */
static bool close_mode(struct drill *drill)
{
    bool has_left;

    if (drill->pilots == NULL)
        return false;
    has_left = slurm_pilot.destroy(drill->pilots);
    drill->pilots = NULL;
    uv_run(&drill->slurm.loop, UV_RUN_DEFAULT);
    return has_left;
}

static int tear_down(void **state)
{
    struct drill *drill = *state;

    close_mode(drill);
    while (drill->slurm.flight_count > 0)
        fake_destroy_flight(&drill->slurm, drill->slurm.flights[0]);
    uv_loop_close(&drill->slurm.loop);
    leave(drill);
    fs_remove_tree(drill->root, NULL);
    free(drill->partition.name);
    free(drill);
    return 0;
}

/* -- Steps ----------------------------------------------------------------*/

static void turn(struct drill *drill)
{
    slurm_pilot.tick(drill->pilots, clock_monotonic_ms());
    uv_run(&drill->slurm.loop, UV_RUN_ONCE);
}

#define WAIT_FOR(drill, condition)                                             \
    do {                                                                       \
        int64_t until_ms = clock_monotonic_ms() + WAIT_MS;                     \
                                                                               \
        while (!(condition) && clock_monotonic_ms() < until_ms)                \
            turn(drill);                                                       \
        assert_true(condition);                                                \
    } while (0)

static char *attempt_folder(const struct drill *drill, int64_t attempt)
{
    return mem_printf("%s/%" PRId64, drill->root, attempt);
}

/* A flight whose memory ends with its request. */
static struct slurm_flight *make_flight(struct drill *drill, int64_t attempt,
                                        bool is_adopted)
{
    static char word[] = "true", *argv[] = {word, NULL}, *envp[] = {NULL};
    enum { PATH_BYTES = 128 };
    struct slurm_flight *flight = mem_zero(sizeof(*flight));
    struct attempt_request *request = mem_zero(sizeof(*request) + PATH_BYTES);
    char *folder = attempt_folder(drill, attempt);
    char *path = (char *)(request + 1);

    snprintf(path, PATH_BYTES, "%s", folder);
    mkdir(folder, 0700);
    free(folder);
    request->spec = (struct attempt_spec){.attempt = attempt,
                                          .cpus = 1,
                                          .directory = path,
                                          .work_directory = path};
    if (!is_adopted) {
        request->spec.argv = argv;
        request->spec.envp = envp;
    }
    flight->request = request;
    assert_true(drill->slurm.flight_count < FAKE_FLIGHTS_MAX);
    drill->slurm.flights[drill->slurm.flight_count++] = flight;
    return flight;
}

static struct slurm_flight *start(struct drill *drill, int64_t attempt)
{
    struct slurm_flight *flight = make_flight(drill, attempt, false);
    struct err err;

    assert_int_equal(slurm_pilot.start(drill->pilots, flight, &err), START_OK);
    return flight;
}

/* Begins to be the agent of the pilot, in its talk of that number. */
static void become_agent(struct drill *drill, const char *name, int talk)
{
    char *folder = fs_join(drill->slurm.folder, name);
    char *in = mem_printf("%s/inbox.%d", folder, talk);
    char *out = mem_printf("%s/outbox.%d", folder, talk);
    struct agent_ready ready = {.cpus = 4, .node = "n1"};
    struct err err;

    leave(drill);
    assert_int_equal(spool_writer_open(&drill->out, out, &err), 0);
    spool_reader_init(&drill->in, in);
    pulse_beat(folder, NULL);
    agent_put(spool_out(&drill->out), AGENT_READY, &ready, sizeof(ready));
    assert_int_equal(spool_write(&drill->out, &err), 0);
    free(out);
    free(in);
    free(folder);
}

static void say_started(struct drill *drill, int64_t attempt)
{
    const struct agent_started started = {attempt, 4711};

    agent_put(spool_out(&drill->out), AGENT_STARTED, &started, sizeof(started));
    assert_int_equal(spool_write(&drill->out, NULL), 0);
}

static void say_ended(struct drill *drill, int64_t attempt)
{
    const struct attempt_exit end = {.attempt = attempt, .cause = CAUSE_OK};

    agent_put(spool_out(&drill->out), AGENT_ENDED, &end, sizeof(end));
    assert_int_equal(spool_write(&drill->out, NULL), 0);
}

/* How many messages of a kind have come to the agent since the last time. */
static int count_come(struct drill *drill, enum agent_message_kind kind)
{
    struct agent_message message;
    int count = 0;

    spool_read(&drill->in, NULL);
    while (spool_next(&drill->in, &message) == 1)
        count += message.kind == kind;
    return count;
}

static void list(struct drill *drill, const char *name, int64_t id,
                 const char *word)
{
    const struct slurm_job job = {.id = id,
                                  .task = -1,
                                  .name = name,
                                  .state = slurm_state_find(word),
                                  .word = word,
                                  .reason = "",
                                  .nodes = "n1",
                                  .partition = "batch"};

    slurm_pilot.listed(drill->pilots, &job);
}

/* A first pilot that is ready, its job 17, and has attempts 1 and 2. */
static void begin(struct drill *drill)
{
    start(drill, 1);
    start(drill, 2);
    WAIT_FOR(drill, drill->slurm.submit_count == 1);
    fake_answer(&drill->slurm, 0, SLURM_DONE, 17);
    become_agent(drill, drill->slurm.submits[0].name, 1);
    WAIT_FOR(drill, drill->pilots->waiting.count == 0);
    assert_int_equal(count_come(drill, AGENT_START), 2);
}

/* As whoever starts the command does; the descriptor holds its lock. */
static int claim(struct drill *drill, int64_t attempt)
{
    char *folder = attempt_folder(drill, attempt);
    struct claim claim = {.attempt = attempt, .pid = 1 << 23};
    char line[CLAIM_LINE_MAX];
    int fd = claim_create(folder, NULL);
    size_t length;

    claim_identify(&claim);
    length = claim_format(&claim, line);
    assert_int_equal(write(fd, line, length), length);
    free(folder);
    return fd;
}

static bool is_revoked(const struct drill *drill, int64_t attempt)
{
    char *folder = attempt_folder(drill, attempt);
    bool result = pulse_is_marked(folder, PULSE_REVOKED);

    free(folder);
    return result;
}

/* -- Tests ----------------------------------------------------------------*/

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

#define DRILL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DRILL(test_slurm_pilot__runs_attempts),
        DRILL(test_slurm_pilot__as_many_as_parallel_attempts_need),
        DRILL(test_slurm_pilot__learns_the_default_partition),
        DRILL(test_slurm_pilot__cancels_at_once),
        DRILL(test_slurm_pilot__a_cancelled_one_ends_what_ran_in_it),
        DRILL(test_slurm_pilot__a_preempted_one_displaces_it),
        DRILL(test_slurm_pilot__one_cancelled_in_the_queue_is_not_replaced),
        DRILL(test_slurm_pilot__a_dead_nodes_attempts_end_by_their_files),
        DRILL(test_slurm_pilot__silence_is_found_before_slurm_says_so),
        DRILL(test_slurm_pilot__the_end_of_its_time_is_no_fault),
        DRILL(test_slurm_pilot__what_it_gives_back_goes_to_another),
        DRILL(test_slurm_pilot__refused_ends_those_who_wait),
        DRILL(test_slurm_pilot__put_off_comes_again),
        DRILL(test_slurm_pilot__silent_is_looked_for_by_its_name),
        DRILL(test_slurm_pilot__a_second_engine_takes_over),
        DRILL(test_slurm_pilot__strangers_are_taken_over_or_ended),
        DRILL(test_slurm_pilot__sick_nodes_are_reported),
        DRILL(test_slurm_pilot__an_idle_one_ends_for_what_does_not_fit_it),
        DRILL(test_slurm_pilot__an_idle_one_ends_for_jobs_that_wait),
        DRILL(test_slurm_pilot__the_end_drains_what_nobody_has_met),
        DRILL(test_slurm_pilot__the_end_passes_one_that_cannot_be_told),
        DRILL(test_slurm_pilot__too_long_for_one_starts_again_as_a_job),
        DRILL(test_slurm_pilot__on_avoided_nodes_take_no_more),
        DRILL(test_slurm_pilot__an_attempt_has_the_executors_time),
        DRILL(test_slurm_pilot__that_never_speak_are_not_tried_for_ever),
        DRILL(test_slurm_pilot__unwanted_ones_are_withdrawn),
        DRILL(test_slurm_pilot__the_end_drains_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
