/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executors/attempt/agent_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_strings(char *const *strings)
{
    size_t count = 0;

    while (strings[count] != NULL)
        count++;
    return count;
}

/* What was understood says the same when it is said again. */
static void say_again(const struct attempt_request *request)
{
    struct buf out = BUF_INIT;
    struct agent_message message;
    struct attempt_request *again;

    assert(agent_put_start(&out, &request->spec, NULL) == 0);
    assert(agent_next(out.data, out.length, &message) == (ptrdiff_t)out.length);
    again = agent_get_start(&message);
    assert(again != NULL);
    assert(strcmp(again->spec.directory, request->spec.directory) == 0);
    assert(count_strings(again->spec.argv) ==
           count_strings(request->spec.argv));
    assert(count_strings(again->spec.envp) ==
           count_strings(request->spec.envp));
    assert(again->spec.pool_count == request->spec.pool_count);
    attempt_request_destroy(again);
    buf_clear(&out);
}

/* What a spool, an order or a socket may hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = mem_copy_bytes(data, size);
    struct agent_message message;
    size_t at = 0;
    ptrdiff_t taken;

    while ((taken = agent_next(bytes + at, size - at, &message)) > 0) {
        struct attempt_request *request = NULL;

        if (message.kind == AGENT_START)
            request = agent_get_start(&message);
        if (request != NULL)
            say_again(request);
        attempt_request_destroy(request);
        at += (size_t)taken;
        assert(at <= size);
    }
    free(bytes);
    return 0;
}
