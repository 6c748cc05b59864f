/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_SOURCE_H
#define SMTUNE_DASHBOARD_SOURCE_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct run_row;
struct store;

/*
 * What the dashboard cannot know by itself, because it reads the store and
 * nothing else: documents that need an experiment's file read and checked, and
 * what is done to a run. Given by cli/, so that the page shows what the
 * commands print with -o json.
 *
 * All are called in worker threads, several at once. A document is a new
 * reference; NULL with err, ERR_NOT_FOUND where there is no such run, trial or
 * step. The store is open for reading and is the caller's.
 */
struct dashboard_source {
    void *user;

    /* A run's state for people: its row's, or "paused", "interrupted",
     * "unknown". It lives as long as the program. */
    const char *(*run_state)(void *user, const struct store *store,
                             const struct run_row *row);
    /* All about a run but its trials: what `smtune show` says, and "space", the
     * parameters' kinds, scales and bounds. */
    json_t *(*run)(void *user, struct store *store, int64_t run,
                   struct err *err);
    /* What it was started from: its file with the words of --set, as they are
     * and as settings by key, the directory and the code; without secrets. */
    json_t *(*origin)(void *user, struct store *store, int64_t run,
                      struct err *err);
    /* One trial, or one job of a workflow by its number: `smtune show RUN N`.
     */
    json_t *(*job)(void *user, struct store *store, int64_t run, int64_t number,
                   struct err *err);
    /* `smtune why RUN N`. */
    json_t *(*why)(void *user, struct store *store, int64_t run, int64_t number,
                   struct err *err);
    /* The Pareto front of a run with several objectives: {"trials": n,
     * "hypervolume": x or null}. NULL function: nobody knows. */
    json_t *(*front)(void *user, struct store *store, int64_t run,
                     struct err *err);
    /* {"results": n, "needed": n, "importance": [{metric, param, importance}]}
     */
    json_t *(*importance)(void *user, struct store *store, int64_t run,
                          struct err *err);
    /* A workflow's graph with its steps' states, counts and places. */
    json_t *(*graph)(void *user, struct store *store, int64_t run,
                     struct err *err);
    /* Masks the secrets in an event's detail, an object, in place. NULL: the
     * texts of files are left out. */
    void (*mask_detail)(void *user, json_t *detail);
    /* What runs on this machine and how much of it is in use. */
    json_t *(*machine)(void *user, struct store *store, struct err *err);

    /*
     * Does something to a run: `verb` is one of dashboard_verbs, `body` the
     * request's JSON object, checked by the verb itself. The reply is an
     * object. NULL with err: ERR_USAGE where the body is wrong, ERR_BUSY where
     * the run is in no state for it (no engine). NULL function: --read-only.
     */
    json_t *(*act)(void *user, int64_t run, const char *verb,
                   const json_t *body, struct err *err);
};

/* X(word): what may be done to a run. Those up to `enqueue` go to its engine.
 */
#define DASHBOARD_VERBS(X)                                                     \
    X(stop) X(pause) X(resume) X(retry) X(enqueue) X(note) X(tag)

#endif
