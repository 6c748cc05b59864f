/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/agent_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/count.h"
#include "base/mem.h"

/* A string of the caller's own, as in environments. */
#define OWN(text) ((char[]){text})

static void put_some(struct buf *out)
{
    char *argv[] = {OWN("train"), OWN(""), NULL};
    char *envp[] = {OWN("A=1"), NULL};
    struct attempt_pool pools[] = {
        {.directory = OWN("/pools/a"), .amount = 1, .size = 2}};
    const struct attempt_spec spec = {.attempt = 3,
                                      .directory = "/d",
                                      .work_directory = "/w",
                                      .argv = argv,
                                      .envp = envp,
                                      .pools = pools,
                                      .pool_count = ARRAY_LEN(pools)};

    assert_int_equal(agent_put_start(out, &spec, NULL), 0);
}

static struct agent_message next_of(const struct buf *bytes)
{
    struct agent_message message;

    assert_int_equal(agent_next(bytes->data, bytes->length, &message),
                     bytes->length);
    return message;
}

static size_t bytes_of(char *const *strings, size_t *count)
{
    size_t bytes = 0;

    for (; *strings != NULL; strings++, ++*count)
        bytes += strlen(*strings) + 1;
    return bytes;
}

static void test_agent__a_start_says_what_was_put(void **state)
{
    struct buf bytes = BUF_INIT;
    struct agent_message message;
    struct attempt_request *request;

    (void)state;
    put_some(&bytes);
    message = next_of(&bytes);
    assert_int_equal(message.kind, AGENT_START);
    request = agent_get_start(&message);
    assert_non_null(request);
    assert_int_equal(request->spec.attempt, 3);
    assert_string_equal(request->spec.directory, "/d");
    assert_string_equal(request->spec.work_directory, "/w");
    assert_string_equal(request->spec.argv[0], "train");
    assert_string_equal(request->spec.argv[1], "");
    assert_null(request->spec.argv[2]);
    assert_string_equal(request->spec.envp[0], "A=1");
    assert_null(request->spec.envp[1]);
    assert_int_equal(request->spec.pool_count, 1);
    assert_string_equal(request->pools[0].directory, "/pools/a");
    assert_int_equal(request->pools[0].size, 2);
    attempt_request_destroy(request);
    buf_clear(&bytes);
}

static void test_agent__what_is_no_message_is_refused(void **state)
{
    static const struct {
        uint32_t length, kind;
        ptrdiff_t taken;
    } cases[] = {
        {0, AGENT_SETUP, 8},
        {0, AGENT_DRAIN, 8},
        {0, AGENT_SETUP - 1, -1},
        {0, AGENT_DRAIN + 1, -1},
        {AGENT_MESSAGE_MAX_BYTES, AGENT_START, 0}, /* not all of it is there */
        {AGENT_MESSAGE_MAX_BYTES + 1, AGENT_START, -1},
    };
    struct agent_message message;
    uint32_t header[2];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        header[0] = cases[i].length;
        header[1] = cases[i].kind;
        assert_int_equal(
            agent_next((const char *)header, sizeof(header), &message),
            cases[i].taken);
        assert_int_equal(
            agent_next((const char *)header, sizeof(header) - 1, &message), 0);
    }
}

static void test_agent__a_payload_has_its_length(void **state)
{
    const struct agent_cancel sent = {.attempt = 7, .mode = 1};
    struct agent_cancel cancel;
    struct agent_started other;
    struct buf bytes = BUF_INIT;
    struct agent_message message;

    (void)state;
    agent_put(&bytes, AGENT_CANCEL, &sent, sizeof(sent));
    message = next_of(&bytes);
    assert_int_equal(agent_get(&message, &cancel, sizeof(cancel)), 0);
    assert_int_equal(cancel.attempt, 7);
    assert_int_equal(agent_get(&message, &other, sizeof(other) - 1), -1);
    buf_clear(&bytes);
}

static void test_agent__counts_that_cannot_be_are_refused(void **state)
{
    struct agent_ready ready = {.left_ms = COUNT_MAX};
    struct attempt_exit end = {.started_ms = -COUNT_MAX, .ended_ms = COUNT_MAX};
    struct agent_message message = {AGENT_READY, (const char *)&ready,
                                    sizeof(ready)};
    struct agent_ready some_ready;
    struct attempt_exit some_end;

    (void)state;
    assert_int_equal(agent_get_ready(&message, &some_ready), 0);
    ready.left_ms++;
    assert_int_equal(agent_get_ready(&message, &some_ready), -1);
    message =
        (struct agent_message){AGENT_ENDED, (const char *)&end, sizeof(end)};
    assert_int_equal(agent_get_ended(&message, &some_end), 0);
    end.started_ms = INT64_MIN;
    assert_int_equal(agent_get_ended(&message, &some_end), -1);
    message.length--;
    assert_int_equal(agent_get_ended(&message, &some_end), -1);
}

static void test_agent__a_start_that_is_cut_is_none(void **state)
{
    struct buf bytes = BUF_INIT;
    struct agent_message message;

    (void)state;
    put_some(&bytes);
    message = next_of(&bytes);
    while (message.length-- > 0) {
        char *payload = mem_copy_bytes(message.payload, message.length);
        const struct agent_message cut = {AGENT_START, payload, message.length};

        assert_null(agent_get_start(&cut));
        free(payload);
    }
    buf_clear(&bytes);
}

/* Each byte as each other one: none is read beyond the end, and what is taken
 * for a start keeps to its bounds. */
static void test_agent__a_start_that_is_damaged_keeps_its_bounds(void **state)
{
    struct buf bytes = BUF_INIT;
    struct agent_message message;
    char *payload;
    int refused = 0;

    (void)state;
    put_some(&bytes);
    message = next_of(&bytes);
    payload = mem_copy_bytes(message.payload, message.length);
    message.payload = payload;
    for (size_t i = 0; i < message.length; i++) {
        const char sound = payload[i];

        for (int byte = 0; byte < 256; byte++) {
            struct attempt_request *request;
            size_t strings = 0, length;

            payload[i] = (char)byte;
            request = agent_get_start(&message);
            refused += request == NULL;
            if (request == NULL)
                continue;
            length = bytes_of(request->spec.argv, &strings);
            assert_true(strings > 0);
            length += bytes_of(request->spec.envp, &strings);
            assert_true(length <= message.length);
            assert_true(request->spec.pool_count <= ATTEMPT_POOLS_MAX);
            for (size_t j = 0; j < request->spec.pool_count; j++)
                assert_in_range(request->pools[j].size, 0, POOL_SIZE_MAX);
            attempt_request_destroy(request);
        }
        payload[i] = sound;
    }
    assert_true(refused > 1000);
    free(payload);
    buf_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent__a_start_says_what_was_put),
        cmocka_unit_test(test_agent__what_is_no_message_is_refused),
        cmocka_unit_test(test_agent__a_payload_has_its_length),
        cmocka_unit_test(test_agent__counts_that_cannot_be_are_refused),
        cmocka_unit_test(test_agent__a_start_that_is_cut_is_none),
        cmocka_unit_test(test_agent__a_start_that_is_damaged_keeps_its_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
