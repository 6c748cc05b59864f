/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_SEARCH_SESSION_H
#define SMTUNE_CLI_DRIVE_SEARCH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/cmd.h"

struct ask_tell;
struct experiment;

/* A search for other programs (orchestrator/ask_tell/): `suggest` and
 * `serve-search`. */

struct search_order {
    const char *file;            /* NULL: that of the run */
    const struct opt_texts *set; /* of the file */
    const char *record; /* the run that it is recorded as, a new one or one to
                           continue; NULL: nothing is recorded */
    int64_t trials;     /* of the run in all, from now on; 0: as it has */
    bool has_no_budget; /* that of the file does not count */
    const char *socket; /* where clients connect; NULL: standard input and
                           output are the one client */
};

struct search_session;

/* Reads the file. 0, or 3 with what is wrong printed, or -1 with err. The
 * caller ends *session in every case. */
int search_session_load(const struct cli *cli, const struct search_order *order,
                        struct search_session **session, struct err *err);
/* Begins: a new run, or one from the record. 0, or -1. */
int search_session_open(struct search_session *session, struct err *err);
/* Valid once the session has begun; that of a file, from the beginning on. */
const struct experiment *search_session_experiment(
    const struct search_session *session);
struct ask_tell *search_session_ask_tell(const struct search_session *session);
/* 0, or -1 where the end of a run cannot be recorded. NULL is none. */
int search_session_end(struct search_session *session, struct err *err);

/* Serves clients until they, or a signal, end the session. The exit status, or
 * -1 with err. */
int search_session_run(const struct cli *cli, const struct search_order *order,
                       struct err *err);

#endif
