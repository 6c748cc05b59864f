/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/agent_message.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/mem.h"

struct header {
    uint32_t length; /* of the payload */
    uint32_t kind;
};

/* Before the strings of a start: directory, work directory, directories of
 * pools, arguments, environment, each with its NUL. */
struct start {
    int64_t attempt;
    int64_t memory_bytes, time_ms, grace_ms, warn_before_ms;
    struct exit_set link_exits;
    int64_t amounts[ATTEMPT_POOLS_MAX], sizes[ATTEMPT_POOLS_MAX];
    uint64_t gpu_set;
    int32_t cpus, gpus, gpu_permille, warn_signal;
    uint32_t pins; /* 0 or 1 */
    uint32_t pool_count, argument_count, variable_count;
};

void agent_put(struct buf *out, enum agent_message_kind kind,
               const void *payload, size_t length)
{
    struct header header = {(uint32_t)length, kind};

    buf_add(out, &header, sizeof(header));
    buf_add(out, payload, length);
}

static uint32_t add_strings(struct buf *out, char *const *strings)
{
    uint32_t count = 0;

    for (; strings[count] != NULL; count++)
        buf_add(out, strings[count], strlen(strings[count]) + 1);
    return count;
}

static void add_pools(struct buf *out, const struct attempt_spec *spec,
                      struct start *start)
{
    start->pool_count = (uint32_t)spec->pool_count;
    for (size_t i = 0; i < spec->pool_count; i++) {
        const struct attempt_pool *pool = &spec->pools[i];

        start->amounts[i] = pool->amount;
        start->sizes[i] = pool->size;
        buf_add(out, pool->directory, strlen(pool->directory) + 1);
    }
}

int agent_put_start(struct buf *out, const struct attempt_spec *spec,
                    struct err *err)
{
    struct start start = {.attempt = spec->attempt,
                          .memory_bytes = spec->memory_bytes,
                          .time_ms = spec->time_ms,
                          .grace_ms = spec->grace_ms,
                          .warn_before_ms = spec->warn_before_ms,
                          .link_exits = spec->link_exits,
                          .cpus = spec->cpus,
                          .pins = spec->pins,
                          .gpus = spec->gpus,
                          .gpu_permille = spec->gpu_permille,
                          .gpu_set = spec->gpu_set,
                          .warn_signal = spec->warn_signal};
    struct header header = {0, AGENT_START};
    size_t at = out->length, length;

    buf_add(out, &header, sizeof(header));
    buf_add(out, &start, sizeof(start));
    buf_add(out, spec->directory, strlen(spec->directory) + 1);
    buf_add(out, spec->work_directory, strlen(spec->work_directory) + 1);
    add_pools(out, spec, &start);
    start.argument_count = add_strings(out, spec->argv);
    start.variable_count = add_strings(out, spec->envp);
    length = out->length - at - sizeof(header);
    if (length > AGENT_MESSAGE_MAX_BYTES) {
        buf_truncate(out, at);
        return err_set(err, ERR_FAILED,
                       "the command and its environment take %zu bytes, "
                       "more than any system accepts",
                       length);
    }
    header.length = (uint32_t)length;
    memcpy(out->data + at, &header, sizeof(header));
    memcpy(out->data + at + sizeof(header), &start, sizeof(start));
    return 0;
}

ptrdiff_t agent_next(const char *bytes, size_t length,
                     struct agent_message *message)
{
    struct header header;

    if (length < sizeof(header))
        return 0;
    memcpy(&header, bytes, sizeof(header));
    if (header.length > AGENT_MESSAGE_MAX_BYTES || header.kind < AGENT_SETUP ||
        header.kind > AGENT_DRAIN)
        return -1;
    if (length - sizeof(header) < header.length)
        return 0;
    message->kind = (enum agent_message_kind)header.kind;
    message->payload = bytes + sizeof(header);
    message->length = header.length;
    return (ptrdiff_t)(sizeof(header) + header.length);
}

int agent_get(const struct agent_message *message, void *payload, size_t size)
{
    if (message->length != size)
        return -1;
    memcpy(payload, message->payload, size);
    return 0;
}

int agent_get_ready(const struct agent_message *message,
                    struct agent_ready *ready)
{
    return agent_get(message, ready, sizeof(*ready)) == 0 &&
                   count_is_sound(ready->left_ms)
               ? 0
               : -1;
}

int agent_get_ended(const struct agent_message *message,
                    struct attempt_exit *end)
{
    return agent_get(message, end, sizeof(*end)) == 0 &&
                   count_is_sound(end->started_ms) &&
                   count_is_sound(end->ended_ms) && count_is_sound(end->cpu_ms)
               ? 0
               : -1;
}

/* Points `strings` at the `count` strings in the bytes from *at on, and moves
 * *at behind them; -1 when there are fewer. */
static int point_at_strings(struct attempt_request *request, size_t length,
                            size_t *at, char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *end;

        if (*at >= length)
            return -1;
        end = memchr(request->bytes + *at, '\0', length - *at);
        if (end == NULL)
            return -1;
        strings[i] = request->bytes + *at;
        *at = (size_t)(end - request->bytes) + 1;
    }
    return 0;
}

static void fill_spec(struct attempt_request *request,
                      const struct start *start)
{
    struct attempt_spec *spec = &request->spec;

    *spec = (struct attempt_spec){.attempt = start->attempt,
                                  .argv = request->strings,
                                  .cpus = start->cpus,
                                  .pins = start->pins != 0,
                                  .gpus = start->gpus,
                                  .gpu_permille = start->gpu_permille,
                                  .gpu_set = start->gpu_set,
                                  .memory_bytes = start->memory_bytes,
                                  .time_ms = start->time_ms,
                                  .grace_ms = start->grace_ms,
                                  .pools = request->pools,
                                  .pool_count = start->pool_count,
                                  .warn_signal = start->warn_signal,
                                  .warn_before_ms = start->warn_before_ms,
                                  .link_exits = start->link_exits};
    spec->envp = request->strings + start->argument_count + 1;
    for (size_t i = 0; i < spec->pool_count; i++) {
        request->pools[i].amount = start->amounts[i];
        request->pools[i].size = start->sizes[i];
    }
}

static int fill_strings(struct attempt_request *request, size_t length,
                        const struct start *start)
{
    char *paths[2], *directories[ATTEMPT_POOLS_MAX];
    char **envp = request->strings + start->argument_count + 1;
    size_t at = 0;

    if (point_at_strings(request, length, &at, paths, 2) != 0 ||
        point_at_strings(request, length, &at, directories,
                         start->pool_count) != 0 ||
        point_at_strings(request, length, &at, request->strings,
                         start->argument_count) != 0 ||
        point_at_strings(request, length, &at, envp, start->variable_count) !=
            0)
        return -1;
    request->spec.directory = paths[0];
    request->spec.work_directory = paths[1];
    for (size_t i = 0; i < start->pool_count; i++)
        request->pools[i].directory = directories[i];
    return 0;
}

static bool is_sound(const struct start *start, size_t length)
{
    if (start->argument_count == 0 || start->argument_count > length ||
        start->variable_count > length || start->pool_count > ATTEMPT_POOLS_MAX)
        return false;
    if (!count_is_sound(start->time_ms) || !count_is_sound(start->grace_ms) ||
        !count_is_sound(start->warn_before_ms))
        return false;
    for (size_t i = 0; i < start->pool_count; i++) {
        if (start->sizes[i] < 0 || start->sizes[i] > POOL_SIZE_MAX ||
            !count_is_sound(start->amounts[i]))
            return false;
    }
    return true;
}

struct attempt_request *agent_get_start(const struct agent_message *message)
{
    struct attempt_request *request;
    struct start start;
    size_t length = message->length - sizeof(start);

    if (message->length < sizeof(start))
        return NULL;
    memcpy(&start, message->payload, sizeof(start));
    if (!is_sound(&start, length))
        return NULL;
    request = mem_zero(sizeof(*request));
    request->bytes = mem_copy_bytes(message->payload + sizeof(start), length);
    request->strings =
        mem_array((size_t)start.argument_count + start.variable_count + 2,
                  sizeof(*request->strings));
    fill_spec(request, &start);
    if (fill_strings(request, length, &start) != 0) {
        attempt_request_destroy(request);
        return NULL;
    }
    return request;
}

void attempt_request_destroy(struct attempt_request *request)
{
    if (request == NULL)
        return;
    free(request->bytes);
    free(request->strings);
    free(request);
}
