/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/states.h"

#include <string.h>

#define X(symbol, word) [symbol] = (word),
const char *const run_state_names[] = {RUN_STATES(X)[RUN_STATE_COUNT] = NULL};
const char *const job_state_names[] = {JOB_STATES(X)[JOB_STATE_COUNT] = NULL};
const char *const job_event_names[] = {JOB_EVENTS(X)[JOB_EVENT_COUNT] = NULL};
#undef X

/* A next state is kept as 1 + its number, so that an empty cell is 0. */
#define TO(state) (1 + (state))

static const unsigned char transitions[JOB_STATE_COUNT][JOB_EVENT_COUNT] = {
    [JOB_WAITING] =
        {
            [EVENT_DUE] = TO(JOB_READY),
            [EVENT_INTERRUPTED] = TO(JOB_WAITING),
            [EVENT_STOPPED] = TO(JOB_STOPPED),
            [EVENT_CANCELLED] = TO(JOB_CANCELLED),
        },
    [JOB_READY] =
        {
            [EVENT_STARTED] = TO(JOB_RUNNING),
            [EVENT_REUSED] = TO(JOB_SUCCEEDED),
            [EVENT_FAILED] = TO(JOB_FAILED),
            [EVENT_RETRY] = TO(JOB_WAITING),
            [EVENT_INTERRUPTED] = TO(JOB_READY),
            [EVENT_STOPPED] = TO(JOB_STOPPED),
            [EVENT_CANCELLED] = TO(JOB_CANCELLED),
        },
    [JOB_RUNNING] =
        {
            [EVENT_SUCCEEDED] = TO(JOB_SUCCEEDED),
            [EVENT_FAILED] = TO(JOB_FAILED),
            [EVENT_PAUSED] = TO(JOB_PAUSED),
            [EVENT_RETRY] = TO(JOB_WAITING),
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

int job_state_find(const char *word)
{
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        if (strcmp(job_state_names[state], word) == 0)
            return state;
    }
    return -1;
}
