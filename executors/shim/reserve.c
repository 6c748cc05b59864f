/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/reserve.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/order_file.h"
#include "executors/attempt/pulse.h"

enum { LOOK_MS = 200 };

enum verdict { WAIT, RUN, OVER };

struct reserve {
    const struct shim_options *options;
    const char *directory;
    struct pulse_watch engine, before; /* `before`: the attempt */
};

static bool was_by_time(const char *directory, const struct attempt_exit *end)
{
    struct attempt_request *order = order_read(directory, NULL);
    bool is_by_time = order != NULL && exit_is_by_time(end, &order->spec);

    attempt_request_destroy(order);
    return is_by_time;
}

/* The attempt before has ended: its job had, before ours began. But a node that
 * only seems dead may still be at it. */
static enum verdict judge_before(struct reserve *reserve)
{
    const struct shim_options *options = reserve->options;
    struct attempt_exit end;
    struct claim claim;
    int found = exit_read_any(options->reserve_of, &end);

    if (found < 0)
        return WAIT;
    if (found > 0)
        return was_by_time(options->reserve_of, &end) ? RUN : OVER;
    switch (claim_judge(options->reserve_of, 0, &claim, NULL)) {
    case CLAIM_VOID:
        return OVER;
    case CLAIM_FREE:
    case CLAIM_ELSEWHERE:
        return pulse_silence_ms(&reserve->before, options->reserve_of,
                                clock_monotonic_ms()) >= options->silence_ms
                   ? RUN
                   : WAIT;
    default:
        return WAIT;
    }
}

static enum verdict look(struct reserve *reserve)
{
    const struct shim_options *options = reserve->options;

    if (claim_exists(reserve->directory))
        return OVER;
    if (pulse_is_marked(reserve->directory, PULSE_GO))
        return RUN;
    if (options->engine == NULL ||
        pulse_silence_ms(&reserve->engine, options->engine,
                         clock_monotonic_ms()) < options->silence_ms)
        return WAIT;
    return judge_before(reserve);
}

bool reserve_await(const struct shim_options *options, const char *directory)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    struct reserve reserve = {.options = options, .directory = directory};
    enum verdict verdict;

    while ((verdict = look(&reserve)) == WAIT)
        nanosleep(&pause, NULL);
    return verdict == RUN;
}
