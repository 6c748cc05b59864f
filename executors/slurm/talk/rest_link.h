/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_REST_LINK_H
#define SMTUNE_EXECUTORS_SLURM_TALK_REST_LINK_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "base/err.h"
#include "base/json.h"
#include "base/net/fetch.h"
#include "executors/executor.h"

/*
 * The way to slurmrestd: where it is, who we are, and which version of its
 * interface is spoken. That is asked for before the first request, and again
 * after one that the other side did not know. A few requests are on their way
 * at once, the others wait for their turn.
 *
 * Who we are: over TCP, and wherever SLURM_JWT is set or
 * SMTUNE_SLURM_TOKEN_FILE names a file with a token (read anew for each
 * request), the user SLURM_USER_NAME, or of this login; otherwise whom the
 * other side of the unix socket takes us for.
 */
struct rest_link;

/* X(version) of those whose answers are understood. In 36, 39 and 40 no request
 * names one task of an array; each slurmrestd that has one of them has 37, 38
 * or 41 as well. */
#define REST_VERSIONS(X) X(37) X(38) X(41) X(42) X(43) X(44) X(45)

struct rest_request {
    enum fetch_method method;
    bool is_for_database; /* /slurmdb/ */
    const char *path;     /* "jobs", behind the version; copied */
    /* Written in the version's words; the link's now. NULL: no body. */
    json_t *body;
    json_t *(*adapt)(json_t *body, int version); /* NULL: as it is */
    bool is_nothing; /* nothing is sent: `done` comes, with the version */
};

/* version: 0 where that is not known, and there is no answer. */
typedef void rest_done_fn(void *user, int version,
                          const struct fetch_answer *answer);

/* options->url: "unix:/PATH", "http://HOST:PORT", "https://..."; ERR_FILE for
 * any other. *requests counts what is sent. */
struct rest_link *rest_link_create(uv_loop_t *loop,
                                   const struct slurm_options *options,
                                   int64_t *requests, struct err *err);
/* Requests are given up without a call of `done`. */
void rest_link_destroy(struct rest_link *link, void (*done)(void *user),
                       void *user);

/* `done` comes once, from the loop. */
void rest_link_send(struct rest_link *link, const struct rest_request *request,
                    rest_done_fn *done, void *user);

/* Whose jobs ours are; his name is the caller's to free, "": not known. */
uid_t rest_link_uid(const struct rest_link *link);
char *rest_link_user(const struct rest_link *link);

#endif
