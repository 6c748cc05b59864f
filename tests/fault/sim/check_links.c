/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "tests/fault/sim/check.h"

enum { IDLE_MAX = 2 };

/* A chain as far as it has come. */
struct chain {
    int64_t links, used_ms;
    int64_t held; /* whose checkpoint there is; 0: nobody's */
    int idle;     /* links in a row that left it as it was */
};

static const struct scenario_chain *chain_of(
    const struct history *history, const struct record *record,
    const struct record_attempt *attempt)
{
    const struct record_job *job = record_job(record, attempt->trial);

    if (job == NULL || job->step < 0 ||
        history->scenario.steps[job->step].chain.max == 0)
        return NULL;
    return &history->scenario.steps[job->step].chain;
}

static int64_t length_ms(const struct record_attempt *attempt)
{
    bool is_known = strcmp(attempt->cause, "lost") != 0;

    return is_known && attempt->started_ms > 0 &&
                   attempt->ended_ms > attempt->started_ms
               ? attempt->ended_ms - attempt->started_ms
               : 0;
}

/* By its limit, or by itself after the warning before that. */
static bool is_by_time(const struct scenario_chain *rule,
                       const struct record_attempt *attempt)
{
    static const char *const by_itself[] = {"exit", "signal", "oom"};

    if (strcmp(attempt->cause, "timeout") == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(by_itself); i++) {
        if (strcmp(attempt->cause, by_itself[i]) == 0)
            return rule->before_ms > 0 && attempt->started_ms > 0 &&
                   attempt->ended_ms - attempt->started_ms + 1 >=
                       rule->time_ms - rule->before_ms;
    }
    return false;
}

bool check_is_link(const struct history *history, const struct record *record,
                   const struct record_attempt *attempt)
{
    const struct scenario_chain *rule = chain_of(history, record, attempt);

    return rule != NULL && is_by_time(rule, attempt);
}

/* Whether the next link may follow, which it then does. */
static bool follow(struct chain *chain, const struct history *history,
                   const struct scenario_chain *rule,
                   const struct record_attempt *attempt)
{
    const struct site_attempt *truth =
        site_find(history->world->site, attempt->id);
    bool may_follow;

    chain->used_ms += length_ms(attempt);
    if (attempt->started_ms > 0 && truth->held != chain->held)
        chain->idle = 0;
    else
        chain->idle += is_by_time(rule, attempt);
    if (attempt->started_ms > 0)
        chain->held = truth->held;
    if (!is_by_time(rule, attempt))
        return true;
    may_follow = chain->idle < IDLE_MAX && chain->links < rule->max &&
                 (rule->total_ms == 0 || chain->used_ms < rule->total_ms);
    chain->links += may_follow;
    return may_follow;
}

/* Who told it to end may have been obeyed in another way. */
static bool is_told_to_end(const struct history *history,
                           const struct record_attempt *attempt)
{
    const struct site_attempt *truth =
        site_find(history->world->site, attempt->id);

    return truth != NULL && truth->cancelled_engine != 0;
}

/* The attempts of one job, from the first on; how many they are. */
static size_t check_job(const struct history *history,
                        const struct record *record, size_t first)
{
    const struct record_attempt *attempts = record->attempts + first;
    const struct scenario_chain *rule = chain_of(history, record, attempts);
    const struct record_job *job = record_job(record, attempts->trial);
    size_t count = record->attempt_count - first, i;
    struct chain chain = {0};

    for (i = 0; i < count && attempts[i].trial == attempts[0].trial; i++) {
        bool is_last =
            i + 1 == count || attempts[i + 1].trial != attempts[0].trial;
        bool may_follow =
            rule == NULL || follow(&chain, history, rule, &attempts[i]);
        bool is_reopened =
            reopenings_are_at(history, attempts[i].trial, attempts[i].number);

        if (rule == NULL)
            continue;
        if (is_reopened)
            chain = (struct chain){0};
        if (is_reopened || !is_by_time(rule, &attempts[i]) ||
            is_told_to_end(history, &attempts[i]))
            continue;
        if (!is_last && !may_follow)
            world_fail("attempt %" PRId64 " of job %" PRId64
                       " was followed by another link, and was the last",
                       attempts[i].id, job->number);
        if (is_last && may_follow && strcmp(job->state, "failed") == 0)
            world_fail("job %" PRId64 " was given up after %" PRId64
                       " links, and might go on",
                       job->number, chain.links - 1);
    }
    return i;
}

void check_links(const struct history *history, const struct record *record)
{
    for (size_t i = 0; i < record->attempt_count;)
        i += check_job(history, record, i);
}
