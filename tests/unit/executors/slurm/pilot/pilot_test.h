/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_PILOT_PILOT_TEST_H
#define SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_PILOT_PILOT_TEST_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/compiler.h"
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

UNUSED static int set_up(void **state)
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

UNUSED static void leave(struct drill *drill)
{
    spool_writer_close(&drill->out);
    spool_reader_clear(&drill->in);
}

/* Returns whether it has left something in the queue. */
UNUSED static bool close_mode(struct drill *drill)
{
    bool has_left;

    if (drill->pilots == NULL)
        return false;
    has_left = slurm_pilot.destroy(drill->pilots);
    drill->pilots = NULL;
    uv_run(&drill->slurm.loop, UV_RUN_DEFAULT);
    return has_left;
}

UNUSED static int tear_down(void **state)
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

UNUSED static void turn(struct drill *drill)
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

UNUSED static char *attempt_folder(const struct drill *drill, int64_t attempt)
{
    return mem_printf("%s/%" PRId64, drill->root, attempt);
}

/* A flight whose memory ends with its request. */
UNUSED static struct slurm_flight *make_flight(struct drill *drill,
                                               int64_t attempt, bool is_adopted)
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

UNUSED static struct slurm_flight *start(struct drill *drill, int64_t attempt)
{
    struct slurm_flight *flight = make_flight(drill, attempt, false);
    struct err err;

    assert_int_equal(slurm_pilot.start(drill->pilots, flight, &err), START_OK);
    return flight;
}

/* Begins to be the agent of the pilot, in its talk of that number. */
UNUSED static void become_agent(struct drill *drill, const char *name, int talk)
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

UNUSED static void say_started(struct drill *drill, int64_t attempt)
{
    const struct agent_started started = {attempt, 4711};

    agent_put(spool_out(&drill->out), AGENT_STARTED, &started, sizeof(started));
    assert_int_equal(spool_write(&drill->out, NULL), 0);
}

UNUSED static void say_ended(struct drill *drill, int64_t attempt)
{
    const struct attempt_exit end = {.attempt = attempt, .cause = CAUSE_OK};

    agent_put(spool_out(&drill->out), AGENT_ENDED, &end, sizeof(end));
    assert_int_equal(spool_write(&drill->out, NULL), 0);
}

/* How many messages of a kind have come to the agent since the last time. */
UNUSED static int count_come(struct drill *drill, enum agent_message_kind kind)
{
    struct agent_message message;
    int count = 0;

    spool_read(&drill->in, NULL);
    while (spool_next(&drill->in, &message) == 1)
        count += message.kind == kind;
    return count;
}

UNUSED static void list(struct drill *drill, const char *name, int64_t id,
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
UNUSED static void begin(struct drill *drill)
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
UNUSED static int claim(struct drill *drill, int64_t attempt)
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

#define DRILL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
