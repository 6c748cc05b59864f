/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/retry.h"

#include <math.h>
#include <stdbool.h>

static const int tempfail_exits[] = {75};

const struct retry_rule retry_default = {
    .causes = 1u << CAUSE_NODE_FAIL | 1u << CAUSE_PREEMPTED | 1u << CAUSE_LOST,
    .exits = tempfail_exits,
    .exit_count = 1,
    .max = 3,
    .delay_ms = 1000,
    .backoff = 1.0,
};

static bool matches(const struct retry_rule *rule,
                    const struct attempt_exit *end)
{
    if (rule->causes & (1u << end->cause))
        return true;
    for (size_t i = 0; end->cause == CAUSE_EXIT && i < rule->exit_count; i++) {
        if (rule->exits[i] == end->exit_code)
            return true;
    }
    return false;
}

int retry_match(const struct retry_rule *rules, size_t rule_count,
                const struct attempt_exit *end)
{
    if (end->cause == CAUSE_OK || end->cause == CAUSE_CANCELLED)
        return -1;
    for (size_t i = 0; i < rule_count; i++) {
        if (matches(&rules[i], end))
            return (int)i;
    }
    return matches(&retry_default, end) ? (int)rule_count : -1;
}

int64_t retry_delay_ms(const struct retry_rule *rule, int64_t nth,
                       double random)
{
    double delay = (double)rule->delay_ms;

    delay *= pow(rule->backoff, (double)(nth - 1));
    if (rule->max_delay_ms > 0)
        delay = fmin(delay, (double)rule->max_delay_ms);
    if (rule->jitter == JITTER_FULL)
        delay *= random;
    return (int64_t)fmin(delay, 1e15);
}
