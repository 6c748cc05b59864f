/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/states.h"

#include <inttypes.h>
#include <string.h>

#define X(symbol, word) [symbol] = (word),
const char *const run_state_names[] = {RUN_STATES(X)[RUN_STATE_COUNT] = NULL};
const char *const job_state_names[] = {JOB_STATES(X)[JOB_STATE_COUNT] = NULL};
const char *const job_event_names[] = {JOB_EVENTS(X)[JOB_EVENT_COUNT] = NULL};
const char *const step_event_names[] = {STEP_EVENTS(X)[STEP_EVENT_COUNT] =
                                            NULL};
#undef X

const char *const step_state_names[] = {
    [FLOW_WAITING] = "waiting",     [FLOW_ACTIVE] = "active",
    [FLOW_SUCCEEDED] = "succeeded", [FLOW_FAILED] = "failed",
    [FLOW_SKIPPED] = "skipped",     [FLOW_SKIPPED + 1] = NULL};

/* A next state is kept as 1 + its number, so that an empty cell is 0. */
#define TO(state) (1 + (state))

static const unsigned char transitions[JOB_STATE_COUNT][JOB_EVENT_COUNT] = {
    [JOB_WAITING] =
        {
            [EVENT_DUE] = TO(JOB_READY),
            [EVENT_INTERRUPTED] = TO(JOB_WAITING),
            [EVENT_STOPPED] = TO(JOB_STOPPED),
            [EVENT_SKIPPED] = TO(JOB_SKIPPED),
            [EVENT_CANCELLED] = TO(JOB_CANCELLED),
        },
    [JOB_READY] =
        {
            [EVENT_STARTED] = TO(JOB_RUNNING),
            [EVENT_REUSED] = TO(JOB_SUCCEEDED),
            [EVENT_FAILED] = TO(JOB_FAILED),
            [EVENT_RETRY] = TO(JOB_WAITING),
            [EVENT_DISPLACED] = TO(JOB_READY),
            [EVENT_INTERRUPTED] = TO(JOB_READY),
            [EVENT_STOPPED] = TO(JOB_STOPPED),
            [EVENT_SKIPPED] = TO(JOB_SKIPPED),
            [EVENT_CANCELLED] = TO(JOB_CANCELLED),
        },
    [JOB_RUNNING] =
        {
            [EVENT_SUCCEEDED] = TO(JOB_SUCCEEDED),
            [EVENT_FAILED] = TO(JOB_FAILED),
            [EVENT_PAUSED] = TO(JOB_PAUSED),
            [EVENT_RETRY] = TO(JOB_WAITING),
            [EVENT_LINKED] = TO(JOB_READY),
            [EVENT_DISPLACED] = TO(JOB_READY),
            [EVENT_INTERRUPTED] = TO(JOB_READY),
            [EVENT_STOPPED] = TO(JOB_STOPPED),
            [EVENT_CANCELLED] = TO(JOB_CANCELLED),
        },
    [JOB_PAUSED] =
        {
            [EVENT_PROMOTED] = TO(JOB_READY),
            [EVENT_STOPPED] = TO(JOB_STOPPED),
        },
    [JOB_SUCCEEDED] = {[EVENT_REOPENED] = TO(JOB_READY)},
    [JOB_FAILED] = {[EVENT_REOPENED] = TO(JOB_READY)},
    [JOB_STOPPED] = {[EVENT_REOPENED] = TO(JOB_READY)},
    [JOB_CANCELLED] = {[EVENT_REOPENED] = TO(JOB_READY)},
};

bool job_next(enum job_state state, enum job_event event, enum job_state *next)
{
    unsigned char to = transitions[state][event];

    if (to == 0)
        return false;
    *next = (enum job_state)(to - 1);
    return true;
}

bool job_is_final(enum job_state state)
{
    for (int event = 0; event < JOB_EVENT_COUNT; event++) {
        if (event != EVENT_REOPENED && transitions[state][event] != 0)
            return false;
    }
    return true;
}

static int find(const char *const *names, const char *word)
{
    for (int state = 0; names[state] != NULL; state++) {
        if (strcmp(names[state], word) == 0)
            return state;
    }
    return -1;
}

int job_state_find(const char *word)
{
    return find(job_state_names, word);
}

int run_state_find(const char *word)
{
    return find(run_state_names, word);
}

#define BIT(state) (1U << (state))

/* From which states an event may come, and to which it may lead. */
static const struct {
    unsigned from, to;
} step_moves[STEP_EVENT_COUNT] = {
    [STEP_BEGAN] = {BIT(FLOW_WAITING), BIT(FLOW_ACTIVE)},
    [STEP_ENDED] = {BIT(FLOW_ACTIVE), BIT(FLOW_SUCCEEDED) | BIT(FLOW_FAILED)},
    [STEP_SKIPPED] = {BIT(FLOW_WAITING), BIT(FLOW_SKIPPED)},
    [STEP_REOPENED] = {BIT(FLOW_ACTIVE) | BIT(FLOW_SUCCEEDED) |
                           BIT(FLOW_FAILED) | BIT(FLOW_SKIPPED),
                       BIT(FLOW_ACTIVE) | BIT(FLOW_WAITING)},
};

bool step_may(enum flow_state from, enum step_event event, enum flow_state to)
{
    return (step_moves[event].from & BIT(from)) != 0 &&
           (step_moves[event].to & BIT(to)) != 0;
}

int step_state_find(const char *word)
{
    return find(step_state_names, word);
}

int job_state_read(int64_t number, const char *word, enum job_state *state,
                   struct err *err)
{
    int found = job_state_find(word);

    if (found < 0)
        return err_set(err, ERR_FAILED,
                       "trial %" PRId64
                       " has the unknown state '%s' (a newer smtune may have "
                       "recorded it)",
                       number, word);
    *state = (enum job_state)found;
    return 0;
}

int step_state_read(const char *name, const char *word, enum flow_state *state,
                    struct err *err)
{
    int found = step_state_find(word);

    if (found < 0)
        return err_set(
            err, ERR_FAILED,
            "step '%s' has the unknown state '%s' (a newer smtune may "
            "have recorded it)",
            name, word);
    *state = (enum flow_state)found;
    return 0;
}
