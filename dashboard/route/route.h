/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ROUTE_ROUTE_H
#define SMTUNE_DASHBOARD_ROUTE_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/json.h"
#include "dashboard/http/blob.h"

struct dashboard;
struct request;
struct store;

/*
 * The one table of what can be asked over HTTP. The server finds a route,
 * checks who asks and what; the route's function makes the answer; the OpenAPI
 * description and its test walk over the same table. A route is one entry in
 * the table of an *.c file, and such a file is one line in routes.c.
 */

/* Who may: each may what those before it may. */
enum role { ROLE_ANYONE, ROLE_VIEWER, ROLE_OPERATOR };

enum { ROUTE_IDS_MAX = 3, ROUTE_QUERIES_MAX = 10 };

enum query_type { QUERY_TEXT, QUERY_INT };

/* What may stand behind the question mark. */
struct route_query {
    const char *name; /* NULL ends */
    enum query_type type;
    int64_t min, max;     /* QUERY_INT */
    const char *fallback; /* what holds when it is left out; NULL: nothing */
    const char *doc;
};

/* The largest number up to which all whole ones are exact in a browser. */
#define QUERY_INT_MAX (INT64_C(1) << 53)

/* A place to go on from, 0 being the start; and how long a page may be. */
#define QUERY_PLACE(place, what)                                               \
    {                                                                          \
        .name = (place), .type = QUERY_INT, .max = QUERY_INT_MAX,              \
        .fallback = "0", .doc = (what)                                         \
    }
#define QUERY_LIMIT(most, otherwise, what)                                     \
    {                                                                          \
        .name = "limit", .type = QUERY_INT, .min = 1, .max = (most),           \
        .fallback = (otherwise), .doc = (what)                                 \
    }

enum { ANSWER_HEADERS_MAX = 4, ANSWER_HEADER_SIZE = 512 };

struct answer {
    int status;         /* 200 */
    const char *type;   /* "application/json" */
    struct blob *bytes; /* the answer's to release */
    bool may_be_kept;   /* a 200 with bytes: it has an ETag and may be asked for
                         * with it */
    /* A piece of something longer: where it begins, and how long all is, go
     * into the headers X-Smtune-From and X-Smtune-Size. */
    bool is_piece;
    int64_t from_byte, size_bytes;
    int64_t next; /* the "next" of a page; 0: it is the last one */
    struct {
        const char *name;
        char value[ANSWER_HEADER_SIZE];
    } headers[ANSWER_HEADERS_MAX];
};

struct route {
    const char *method; /* "GET", "POST" */
    /* "/api/v1/runs/{run}/trials/{trial}": what stands in braces is a whole
     * number over 0, found in request_id() in this order. */
    const char *path;
    enum role role;
    const char *summary; /* one sentence, for the description */
    struct route_query queries[ROUTE_QUERIES_MAX];
    const char *answers; /* what it answers with, a name of api_schemas.c */
    const char *takes;   /* POST: what its body is, likewise; NULL: nothing */

    /*
     * In a worker thread, with a store that is open for reading; or (on_loop)
     * in the loop, at once, without one (NULL), for what is in memory. 0 with
     * the answer filled, or -1 with err: ERR_NOT_FOUND is 404, ERR_USAGE 400,
     * ERR_BUSY 409, ERR_SHORTAGE 503, others 500.
     */
    int (*answer)(const struct request *request, struct store *store,
                  struct answer *answer, struct err *err);
    bool on_loop;
    bool is_long; /* answer takes tenths of a second (workers.h) */
    /* In place of answer, in the loop: the connection becomes one that is sent
     * events (stream.h). */
    int (*stream)(const struct request *request, struct err *err);
};

/* Who asks. */
enum role request_role(const struct request *request);
/* Whether that is no operator: all such share bounds that leave room for those
 * who are (guests.h). */
bool request_is_guests(const struct request *request);
/* The i-th of the path's ids. */
int64_t request_id(const struct request *request, size_t i);
/* NULL where it was left out and has no fallback. */
const char *request_text(const struct request *request, const char *name);
/* 0 likewise. Within the bounds: what is not was answered with 400 already. */
int64_t request_int(const struct request *request, const char *name);
/* The body of a POST, an object; borrowed. */
const json_t *request_body(const struct request *request);
struct dashboard *request_dashboard(const struct request *request);

/* Fills the answer with JSON, which it takes over (NULL: -1, err stands). */
int answer_json(struct answer *answer, json_t *json, struct err *err);
/* The same with columns, as column_encode makes them. */
int answer_block(struct answer *answer, struct blob *block);
/* With bytes of a type, which it takes over. */
int answer_bytes(struct answer *answer, const char *type, struct blob *bytes);

/* With an error of a status that no err stands for (501): 0. */
int answer_error(struct answer *answer, int status, const char *text);
/* One more header, of which there may be ANSWER_HEADERS_MAX. */
void answer_header(struct answer *answer, const char *name, const char *format,
                   ...) PRINTF_LIKE(3, 4);

/* The tables, NULL-ended; of each the last route has no method. */
extern const struct route *const route_tables[];

#endif
