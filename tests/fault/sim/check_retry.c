/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "tests/fault/sim/check.h"

/* Clocks are read one after another. */
enum { ROUNDING_MS = 5 };

/* What is tried again without a rule. */
static const struct scenario_rule fallback = {
    .causes = 1u << CAUSE_NODE_FAIL | 1u << CAUSE_PREEMPTED | 1u << CAUSE_LOST,
    .exit_75 = true,
    .max = 3,
    .delay_ms = 1000,
    .backoff = 1.0,
};

static bool matches(const struct scenario_rule *rule,
                    const struct record_attempt *attempt)
{
    int cause = attempt_cause_find(attempt->cause);

    return (rule->causes & (1u << cause)) != 0 ||
           (rule->exit_75 && cause == CAUSE_EXIT && attempt->exit_code == 75);
}

/* Its end counts for no rule: the engine that learnt of it had told it to end.
 */
static bool was_cancelled(const struct history *history,
                          const struct record_attempt *attempt)
{
    const struct site_attempt *truth =
        site_find(history->world->site, attempt->id);

    return strcmp(attempt->cause, "cancelled") == 0 ||
           (truth != NULL && truth->cancelled_engine != 0 &&
            truth->cancelled_engine == truth->told_engine);
}

/* The rule for an attempt's end; rule_count stands for what holds without
 * one; -1: none. */
static int find_rule(const struct scenario *scenario,
                     const struct record_attempt *attempt)
{
    if (strcmp(attempt->cause, "ok") == 0 ||
        strcmp(attempt->cause, "cancelled") == 0)
        return -1;
    for (int i = 0; i < scenario->rule_count; i++) {
        if (matches(&scenario->rules[i], attempt))
            return i;
    }
    return matches(&fallback, attempt) ? scenario->rule_count : -1;
}

static const struct scenario_rule *rule_at(const struct scenario *scenario,
                                           int index)
{
    return index < scenario->rule_count ? &scenario->rules[index] : &fallback;
}

/* How long the nth retry has to wait at least. */
static int64_t least_delay_ms(const struct scenario_rule *rule, int64_t nth)
{
    double delay_ms =
        (double)rule->delay_ms * pow(rule->backoff, (double)(nth - 1));

    if (rule->has_jitter)
        return 0;
    if (rule->max_delay_ms > 0)
        delay_ms = fmin(delay_ms, (double)rule->max_delay_ms);
    return (int64_t)delay_ms;
}

/* Between the end of one attempt and the start of the next. Across engines the
 * wall clock measures it, which must not have jumped for that. */
static void check_delay(const struct history *history,
                        const struct record_attempt *from,
                        const struct record_attempt *to, int64_t least_ms)
{
    const struct site_attempt *a = site_find(history->world->site, from->id);
    const struct site_attempt *b = site_find(history->world->site, to->id);

    if (a == NULL || b == NULL || a->told_ms == 0 || b->handed_ms == 0 ||
        (a->told_engine != b->handed_engine && history->jumps > 0))
        return;
    if (b->handed_ms - a->told_ms + ROUNDING_MS < least_ms)
        world_fail("attempt %" PRId64 " was to wait for %" PRId64
                   " ms after attempt %" PRId64 ", and waited for %" PRId64,
                   b->id, least_ms, a->id, b->handed_ms - a->told_ms);
}

/* The attempts of one trial, from the first on; how many they are. */
static size_t check_trial(const struct history *history,
                          const struct record *record, size_t first)
{
    const struct record_attempt *attempts = record->attempts + first;
    size_t count = record->attempt_count - first;
    const struct scenario *scenario = &history->scenario;
    int64_t used[SCENARIO_MAX_RULES + 1] = {0};
    size_t i;

    for (i = 0; i < count && attempts[i].trial == attempts[0].trial; i++) {
        bool is_last =
            i + 1 == count || attempts[i + 1].trial != attempts[0].trial;
        int index = find_rule(scenario, &attempts[i]);

        if (reopenings_are_at(history, attempts[i].trial, attempts[i].number)) {
            memset(used, 0, sizeof(used));
            continue;
        }
        if (is_last || was_cancelled(history, &attempts[i]) ||
            check_is_link(history, record, &attempts[i]) ||
            check_is_promoted(record, attempts[i].id))
            continue;
        if (index < 0 || ++used[index] > rule_at(scenario, index)->max)
            world_fail(
                "attempt %" PRId64 " was tried again after '%s' (%" PRId64
                "), which no rule allows",
                attempts[i].id, attempts[i].cause, attempts[i].exit_code);
        check_delay(history, &attempts[i], &attempts[i + 1],
                    least_delay_ms(rule_at(scenario, index), used[index]));
    }
    return i;
}

/* What its schedule tells to end may have ended by itself before: whether that
 * counted is not known here, so it is taken to. */
static bool may_be_uncounted(const struct history *history,
                             const struct record_attempt *attempt)
{
    return history->scenario.schedule != NULL
               ? strcmp(attempt->cause, "cancelled") == 0
               : was_cancelled(history, attempt);
}

/* A trial that failed for good had all the retries that it was given. */
static void check_given_up(const struct history *history,
                           const struct record *record,
                           const struct record_job *job)
{
    const struct scenario *scenario = &history->scenario;
    int64_t used[SCENARIO_MAX_RULES + 1] = {0};
    int last = -1;

    for (size_t i = 0; i < record->attempt_count; i++) {
        if (record->attempts[i].trial != job->number)
            continue;
        if (reopenings_are_at(history, job->number,
                              record->attempts[i].number - 1))
            memset(used, 0, sizeof(used));
        last = may_be_uncounted(history, &record->attempts[i]) ||
                       check_is_link(history, record, &record->attempts[i])
                   ? -1
                   : find_rule(scenario, &record->attempts[i]);
        if (last >= 0)
            used[last]++;
    }
    if (last >= 0 && used[last] <= rule_at(scenario, last)->max)
        world_fail("trial %" PRId64 " was given up after %" PRId64
                   " attempts that a rule gives another one",
                   job->number, used[last]);
}

void check_retries(const struct history *history, const struct record *record)
{
    for (size_t i = 0; i < record->attempt_count;)
        i += check_trial(history, record, i);
    for (size_t i = 0; i < record->job_count; i++) {
        if (strcmp(record->jobs[i].state, "failed") == 0)
            check_given_up(history, record, &record->jobs[i]);
    }
}
