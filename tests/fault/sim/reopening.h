/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_REOPENING_H
#define SMTUNE_TESTS_FAULT_SIM_REOPENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/fault/sim/record.h"

/*
 * `smtune retry`: trials that are over are put back, by their numbers, or all
 * that failed, or both, by an engine or between two. What one request asks for
 * is done wholly or not at all, and with an engine's answer or not at all.
 */

struct history;

enum {
    REOPENING_REQUESTS = 3, /* that are done, in one history */
    REOPENING_NUMBERS = 4   /* that one names, at most */
};

/* A trial that was over and was put back. */
struct reopening_done {
    int64_t trial;
    int64_t attempts; /* which it had by then */
    size_t ends;      /* of trials that the history had by then */
};

struct reopening_request {
    int64_t numbers[REOPENING_NUMBERS];
    size_t count;
    bool all_failed, even_succeeded;
    bool is_wrong; /* it names what cannot be put back */
    size_t ends;   /* of trials that the history has by then */
    struct record before;
};

struct reopenings {
    struct reopening_request asked;
    struct reopening_done *all;
    size_t count, capacity;
    int request_count;
    int64_t answered_count; /* requests that an engine did */
};

void reopenings_clear(struct history *history);

/* ---- of an engine ---- */

/* What it is to be asked for; false: there is nothing. */
bool reopenings_draw(struct history *history);
/* It says that it put so many back, */
void reopenings_acknowledge(struct history *history, int64_t count);
/* that it did not, by such an exit status, */
void reopenings_refuse(struct history *history, int64_t status);
/* or nothing. */
void reopenings_doubt(struct history *history);

/* ---- without an engine ---- */

/* What `smtune retry` does then; whether it put back any. */
bool reopenings_apply(struct history *history);

/* ---- checks ---- */

/* Whether the trial was ever put back; when more than so many ends of trials
 * had been told, which its own need not have been; or when it had so many
 * attempts. */
bool reopenings_are_of(const struct history *history, int64_t trial);
bool reopenings_are_after(const struct history *history, int64_t trial,
                          size_t end);
bool reopenings_are_at(const struct history *history, int64_t trial,
                       int64_t attempts);
/* The record has these, no others, and engines' answers to them. */
void reopenings_check(const struct history *history,
                      const struct record *record);

#endif
