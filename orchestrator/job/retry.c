/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/retry.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "base/buf.h"
#include "base/count.h"
#include "base/regex.h"
#include "base/rng.h"
#include "base/units.h"
#include "orchestrator/job/job.h"

/* Ends that say nothing of the trial: it did not start, or was taken away. */
#define ELSEWHERE                                                              \
    (1u << CAUSE_NODE_FAIL | 1u << CAUSE_PREEMPTED | 1u << CAUSE_LOST |        \
     1u << CAUSE_LAUNCH_ERROR | 1u << CAUSE_CANCELLED)

/* The generator's stream for jitter; search methods use lower ones. */
enum { STREAM_JITTER = 1 << 20 };

static const struct exit_range tempfail_exits[] = {{75, 75}};

const struct retry_rule retry_default = {
    .causes = 1u << CAUSE_NODE_FAIL | 1u << CAUSE_PREEMPTED | 1u << CAUSE_LOST,
    .exits = tempfail_exits,
    .exit_count = 1,
    .max = 3,
    .delay_ms = 1000,
    .backoff = 1.0,
};

enum retry_free retry_free_start(const struct attempt_exit *end,
                                 struct free_starts *counts)
{
    if (job_had_no_chance(end))
        return ++counts->shortages <= RETRY_SHORTAGE_MAX ? FREE_SHORTAGE
                                                         : FREE_NONE;
    if (end->is_displaced)
        return ++counts->displaced <= RETRY_DISPLACED_MAX ? FREE_DISPLACED
                                                          : FREE_NONE;
    return FREE_NONE;
}

void retry_print_free(const struct attempt_exit *end,
                      const struct free_starts *counts, struct buf *out)
{
    if (job_had_no_chance(end))
        buf_printf(out, "shortage %" PRId64 " of %d", counts->shortages,
                   RETRY_SHORTAGE_MAX);
    else if (end->is_displaced)
        buf_printf(out, "infrastructure failure %" PRId64 " of %d",
                   counts->displaced, RETRY_DISPLACED_MAX);
}

static bool matches_exit(const struct retry_rule *rule, int code)
{
    for (size_t i = 0; i < rule->exit_count; i++) {
        if (code >= rule->exits[i].first && code <= rule->exits[i].last)
            return true;
    }
    return false;
}

static bool matches_end(const struct retry_rule *rule,
                        const struct attempt_exit *end)
{
    if (rule->causes & (1u << end->cause))
        return true;
    if (end->cause == CAUSE_EXIT)
        return matches_exit(rule, end->exit_code);
    return end->cause == CAUSE_SIGNAL && end->signal >= 1 &&
           end->signal <= 64 &&
           (rule->signals & (UINT64_C(1) << (end->signal - 1))) != 0;
}

static bool looks_at_log(const struct retry_rule *rule,
                         const struct attempt_exit *end)
{
    return rule->log_count > 0 && ((1u << end->cause) & ELSEWHERE) == 0;
}

static bool matches_log(const struct retry_rule *rule,
                        const struct retry_evidence *evidence)
{
    if (evidence->log == NULL || !looks_at_log(rule, evidence->end))
        return false;
    for (size_t i = 0; i < rule->log_count; i++) {
        if (regex_find(rule->logs[i], evidence->log, evidence->log_length) > 0)
            return true;
    }
    return false;
}

bool retry_wants_log(const struct retry_rule *rules, size_t rule_count,
                     const struct attempt_exit *end)
{
    for (size_t i = 0; i < rule_count && end->cause != CAUSE_OK; i++) {
        if (matches_end(&rules[i], end))
            return false;
        if (looks_at_log(&rules[i], end))
            return true;
    }
    return false;
}

int retry_match(const struct job_spec *spec,
                const struct retry_evidence *evidence)
{
    if (evidence->end->cause == CAUSE_OK || spec->is_tried_once)
        return -1;
    for (size_t i = 0; i < spec->retry_count; i++) {
        if (matches_end(&spec->retries[i], evidence->end) ||
            matches_log(&spec->retries[i], evidence))
            return (int)i;
    }
    return matches_end(&retry_default, evidence->end) ? (int)spec->retry_count
                                                      : -1;
}

const struct retry_rule *retry_rule_at(const struct retry_rule *rules,
                                       size_t rule_count, int index)
{
    return (size_t)index < rule_count ? &rules[index] : &retry_default;
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

int64_t retry_wait_ms(const struct retry_rule *rule, uint64_t seed,
                      int64_t trial, int64_t nth)
{
    struct rng rng;

    rng_init(&rng, seed, (uint64_t)trial, STREAM_JITTER + (uint32_t)nth);
    return retry_delay_ms(rule, nth, rng_uniform(&rng));
}

/* ---- resources ---- */

/* One resource on its way from one attempt to the next. */
struct growth {
    int64_t value; /* before and after */
    double factor;
    int64_t cap;     /* 0: none */
    int64_t machine; /* has so many; 0: that bounds nothing */
    int64_t parts;   /* that share it evenly; 0: it is not shared */
    int64_t ranks;   /* that share it, or several of them one; 0: none */
};

static bool is_even(const struct growth *growth, int64_t value)
{
    if (growth->parts > 1 && value % growth->parts != 0)
        return false;
    return growth->ranks <= 1 || value % growth->ranks == 0 ||
           growth->ranks % value == 0;
}

/* To the next value that can be shared as the old one was. */
static void even_out(struct growth *growth, int64_t old)
{
    int64_t most = COUNT_MAX;

    if (!is_even(growth, old))
        return;
    if (growth->cap > 0 && growth->cap < most)
        most = growth->cap;
    if (growth->machine > 0 && growth->machine < most)
        most = growth->machine;
    while (growth->value < most && !is_even(growth, growth->value))
        growth->value++;
    while (growth->value > old && !is_even(growth, growth->value))
        growth->value--;
}

/* What bounded it, or "". */
static const char *grow(struct growth *growth)
{
    int64_t old = growth->value;
    double grown = ceil((double)old * growth->factor);
    const char *bound = "";

    growth->value = (int64_t)fmin(grown, (double)COUNT_MAX);
    if (growth->cap > 0 && growth->value >= growth->cap) {
        growth->value = growth->cap;
        bound = " (the cap)";
    }
    if (growth->machine > 0 && growth->value > growth->machine) {
        growth->value = growth->machine;
        bound = " (all of the machine)";
    }
    if (growth->value < old)
        growth->value = old;
    even_out(growth, old);
    return bound;
}

static bool is_scaled(double factor, int64_t value)
{
    return factor > 1.0 && value > 0;
}

static void separate(struct buf *text)
{
    if (text->length > 0)
        buf_add_string(text, ", ");
}

static void scale_slots(int *slots, struct growth growth, const char *noun,
                        struct buf *text)
{
    const char *bound;

    growth.value = *slots;
    if (!is_scaled(growth.factor, growth.value))
        return;
    bound = grow(&growth);
    *slots = (int)(growth.value < INT_MAX ? growth.value : INT_MAX);
    separate(text);
    buf_printf(text, "%d %s%s%s", *slots, noun, *slots == 1 ? "" : "s", bound);
}

static void scale_memory(int64_t *bytes, struct growth growth, struct buf *text)
{
    const char *bound;
    char amount[32];

    growth.value = *bytes;
    if (!is_scaled(growth.factor, growth.value))
        return;
    bound = grow(&growth);
    *bytes = growth.value;
    units_format_bytes(*bytes, amount, sizeof(amount));
    separate(text);
    buf_printf(text, "memory %s%s", amount, bound);
}

static void scale_time(int64_t *ms, struct growth growth, struct buf *text)
{
    const char *bound;
    char amount[32];

    growth.value = *ms;
    if (!is_scaled(growth.factor, growth.value))
        return;
    bound = grow(&growth);
    *ms = growth.value;
    units_format_duration(*ms, amount, sizeof(amount));
    separate(text);
    buf_printf(text, "time %s%s", amount, bound);
}

void retry_scale(const struct retry_rule *rule,
                 const struct retry_machine *machine,
                 struct resources *resources, struct buf *text)
{
    const struct resource_scale *scale = &rule->scale;
    const struct resources *cap = &rule->cap;

    scale_slots(&resources->cpus,
                (struct growth){.factor = scale->cpus,
                                .cap = cap->cpus,
                                .machine = machine->cpus,
                                .parts = resources->divides_cpus
                                             ? resources->tasks
                                             : resources->nodes},
                "CPU", text);
    scale_slots(
        &resources->gpus,
        (struct growth){.factor = scale->gpus,
                        .cap = cap->gpus,
                        .machine = machine->gpus,
                        .parts = resources->nodes,
                        .ranks = resources->splits_gpus ? resources->tasks : 0},
        "GPU", text);
    scale_memory(
        &resources->memory_bytes,
        (struct growth){.factor = scale->memory, .cap = cap->memory_bytes},
        text);
    scale_time(&resources->time_ms,
               (struct growth){.factor = scale->time, .cap = cap->time_ms},
               text);
}
