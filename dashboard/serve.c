/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/serve.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/digest.h"
#include "base/mem.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/http/blob.h"
#include "dashboard/page.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/request.h"
#include "dashboard/route/sessions.h"

/*
 * A request is refused at the first check that it does not pass: before its
 * route is known, whether it was sent to us; then whether there is such a
 * thing, who asks, and, because a browser sends its cookie along with what
 * another page asks for, whether it was our own page that asked.
 *
 * A page asks below "/s/KEY" of its session, where alone its cookie counts;
 * programs ask without that, with a token, where no cookie counts.
 *
 * Viewers, and who has neither session nor token, share bounds of requests,
 * streams, threads and bytes (guests.h), and only an operator's connection is
 * protected, so that nobody but an operator can keep an operator out. What the
 * loop answers at once and without memory does not count, least of all the page
 * and /login: there an operator's browser is like any other.
 */

enum { RETRY_AFTER_S = 2 };

/* ---- answers ---- */

static bool has_etag(const char *list, const char *etag)
{
    return list != NULL &&
           (strcmp(list, "*") == 0 || strstr(list, etag) != NULL);
}

/* What the client has already is not sent again; what has an ETag is a 200. */
static void leave_out_known(struct request *request)
{
    struct answer *answer = &request->answer;

    if (request->etag == NULL ||
        !has_etag(http_header(request->exchange, "If-None-Match"),
                  request->etag))
        return;
    blob_release(answer->bytes);
    answer->bytes = NULL;
    answer->status = 304;
}

/* Sends what the request's answer holds, and takes it over. */
static void reply(struct request *request)
{
    struct answer *answer = &request->answer;
    struct http_reply reply = {.status =
                                   answer->status == 0 ? 200 : answer->status,
                               .type = answer->type,
                               .bytes = answer->bytes};

    if (answer->is_piece) {
        answer_header(answer, "X-Smtune-From", "%lld",
                      (long long)answer->from_byte);
        answer_header(answer, "X-Smtune-Size", "%lld",
                      (long long)answer->size_bytes);
    }
    for (size_t i = 0; i < ANSWER_HEADERS_MAX; i++)
        reply.headers[i] = (struct http_header){answer->headers[i].name,
                                                answer->headers[i].value};
    reply.headers[ANSWER_HEADERS_MAX] = (struct http_header){
        "Cache-Control",
        request->etag != NULL ? "private, no-cache" : "no-store"};
    if (request->etag != NULL)
        reply.headers[ANSWER_HEADERS_MAX + 1] =
            (struct http_header){"ETag", request->etag};
    answer->bytes = NULL;
    http_reply(request->exchange, &reply);
}

static void refuse(struct request *request, int status, const char *text)
{
    answer_clear(&request->answer);
    free(request->etag);
    request->etag = NULL;
    answer_error(&request->answer, status, text);
    if (status == 503)
        answer_header(&request->answer, "Retry-After", "%d", RETRY_AFTER_S);
    if (status == 401)
        answer_header(&request->answer, "WWW-Authenticate", "Bearer");
    if (status == 405)
        answer_header(&request->answer, "Allow", "%s", request->match.allow);
    reply(request);
}

/* To the page at the path, whose addresses are relative to it. */
static void redirect(struct request *request, const char *path)
{
    request->answer.status = 308;
    answer_header(&request->answer, "Location", "%s/", path);
    reply(request);
}

static int status_of(const struct err *err)
{
    static const struct {
        enum err_kind kind;
        int status;
    } statuses[] = {{ERR_NOT_FOUND, 404},
                    {ERR_USAGE, 400},
                    {ERR_BUSY, 409},
                    {ERR_SHORTAGE, 503}};

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        if (statuses[i].kind == err->kind)
            return statuses[i].status;
    }
    return 500;
}

/* Whether it is no guest's, or one more of those; else it is refused. */
static bool is_let_in(struct request *request)
{
    if (!request_is_guests(request) ||
        guests_enter(dashboard_guests(request->dashboard), &request->guest,
                     &request->err) == 0)
        return true;
    refuse(request, 503, request->err.text);
    return false;
}

/* A guest's, if there is room for it. */
static void reply_if_room(struct request *request)
{
    leave_out_known(request);
    if (guests_hold(dashboard_guests(request->dashboard), &request->guest,
                    request->answer.bytes, &request->err) == 0)
        reply(request);
    else
        refuse(request, 503, request->err.text);
}

static void reply_or_refuse(struct request *request)
{
    if (request->status == 0)
        reply_if_room(request);
    else
        refuse(request, status_of(&request->err), request->err.text);
}

/* ---- the route's function ---- */

static void tag(struct request *request)
{
    char hex[DIGEST_HEX_SIZE];

    if (!request->answer.may_be_kept)
        return;
    digest_of(request->answer.bytes->data, request->answer.bytes->length, hex);
    request->etag = mem_printf("\"%s\"", hex);
}

static void call(struct request *request, struct store *store)
{
    request->status = request->match.route->answer(
        request, store, &request->answer, &request->err);
    if (request->status == 0)
        tag(request);
}

static struct request *task_request(struct task *task)
{
    return (struct request *)((char *)task - offsetof(struct request, task));
}

static void run(struct task *task)
{
    struct request *request = task_request(task);
    struct store *store =
        dashboard_take_store(request->dashboard, &request->err);

    request->status = -1;
    if (store == NULL)
        return;
    call(request, store);
    dashboard_give_back_store(request->dashboard, store);
}

static void on_done(struct task *task)
{
    struct request *request = task_request(task);

    if (task->is_dropped)
        request->status =
            err_set(&request->err, ERR_SHORTAGE, "the dashboard is stopping");
    reply_or_refuse(request);
}

static void open_stream(struct request *request)
{
    const struct route *route = request->match.route;

    if (strcmp(http_method(request->exchange), "HEAD") == 0) {
        request->answer.type = "text/event-stream";
        reply(request);
    } else if (route->stream(request, &request->err) < 0) {
        refuse(request, status_of(&request->err), request->err.text);
    }
}

static void make_answer(struct request *request)
{
    const struct route *route = request->match.route;

    if (route->stream != NULL) {
        open_stream(request);
    } else if (route->on_loop) {
        call(request, NULL);
        reply_or_refuse(request);
    } else if (is_let_in(request)) {
        request->task.run = run;
        request->task.done = on_done;
        request->task.is_guests = request_is_guests(request);
        request->task.is_long = route->is_long;
        workers_add(dashboard_workers(request->dashboard), &request->task);
    }
}

/* ---- checks: each returns a status, 0 where there is nothing amiss ---- */

static int check_host(const struct request *request, const char **text)
{
    static const char *const single[] = {"Host", "Origin", "Authorization",
                                         "Content-Type"};
    const char *host = http_header(request->exchange, "Host");

    for (size_t i = 0; i < ARRAY_LEN(single); i++) {
        if (http_header_repeats(request->exchange, single[i])) {
            *text = "duplicate header";
            return 400;
        }
    }
    *text = "the host name in the request is not the dashboard's own (behind a "
            "reverse proxy: --base-url)";
    return host != NULL &&
                   auth_host_is_ours(dashboard_auth(request->dashboard), host)
               ? 0
               : 421;
}

static int check_role(struct request *request, const char **text)
{
    enum role needed = request->match.route->role;

    if (request->role >= needed)
        return 0;
    if (request->role == ROLE_ANYONE) {
        *text =
            "not logged in: open an address that 'smtune dashboard --login' "
            "prints; a program sends a token in 'Authorization: Bearer'";
        return 401;
    }
    *text = "a viewer cannot act: open the address for the operator";
    return 403;
}

/* A browser says which page has it ask. Old ones do not; for them, that the
 * path has the session's key says that our page asked. Programs say nothing. */
static int check_page(struct request *request, const char **text)
{
    const char *site = http_header(request->exchange, "Sec-Fetch-Site");
    const char *origin = http_header(request->exchange, "Origin");

    *text = "the request is from another page";
    if (site != NULL && strcmp(site, "same-origin") != 0 &&
        strcmp(site, "none") != 0)
        return 403;
    if (origin != NULL &&
        !auth_origin_is_ours(dashboard_auth(request->dashboard), origin))
        return 403;
    return 0;
}

static bool is_json(const char *type)
{
    const char json[] = "application/json";
    size_t length = sizeof(json) - 1;

    return type != NULL && strncasecmp(type, json, length) == 0 &&
           (type[length] == '\0' || type[length] == ';' || type[length] == ' ');
}

/* What changes something: a browser has to say that our own page sends it. */
static int check_write(struct request *request, const char **text)
{
    struct http_exchange *exchange = request->exchange;
    size_t length;
    const char *body = http_body(exchange, &length);

    if (strcmp(request->match.route->method, "GET") == 0) {
        *text = "a GET request takes no body";
        return length > 0 ? 400 : 0;
    }
    *text = "missing header 'Origin'";
    if (http_header(exchange, "Origin") == NULL &&
        (request->target.session_key != NULL ||
         http_header(exchange, "Authorization") == NULL))
        return 403;
    *text = "type mismatch: the body must be application/json";
    if (!is_json(http_header(exchange, "Content-Type")))
        return 415;
    request->body = json_parse(body, length, &request->err);
    *text = request->body == NULL
                ? request->err.text
                : "type mismatch: the body must be a JSON object";
    return json_is_object(request->body) ? 0 : 400;
}

static void find_role(struct request *request)
{
    const struct dashboard *dashboard = request->dashboard;
    struct http_exchange *exchange = request->exchange;

    request->role = request->target.session_key != NULL
                        ? sessions_role(dashboard_sessions(dashboard),
                                        request->target.session_key,
                                        request->target.session_key_length,
                                        http_header(exchange, "Cookie"))
                        : auth_role(dashboard_auth(dashboard),
                                    http_header(exchange, "Authorization"));
    if (!request_is_guests(request))
        http_protect(exchange);
}

static void serve(struct request *request)
{
    static int (*const checks[])(struct request * request,
                                 const char **text) = {check_role, check_page,
                                                       check_write};
    struct http_exchange *exchange = request->exchange;
    const char *base_path = dashboard_base_path(request->dashboard);
    const char *text = "";
    int status = check_host(request, &text);

    if (status != 0) {
        refuse(request, status, text);
        return;
    }
    request->target = target_read(http_target(exchange), base_path);
    if (request->target.lacks_slash) {
        redirect(request, base_path);
        return;
    }
    find_role(request);
    status = match_find(route_tables, http_method(exchange),
                        request->target.asked, &request->match, &request->err);
    if ((status == 404 || status == 405) &&
        page_answer(dashboard_page(request->dashboard), exchange,
                    request->target.file, &request->answer,
                    &request->etag) == 0) {
        /* Compressed, as every browser takes it, it is the program's. */
        if (blob_is_static(request->answer.bytes) || is_let_in(request))
            reply_if_room(request);
        return;
    }
    if (status != 200) {
        refuse(request, status,
               status == 400   ? request->err.text
               : status == 405 ? "this address does not support the method"
                               : "no such address");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        status = checks[i](request, &text);
        if (status != 0) {
            refuse(request, status, text);
            return;
        }
    }
    make_answer(request);
}

static void release(void *kept)
{
    struct request *request = kept;

    guests_leave(dashboard_guests(request->dashboard), &request->guest);
    match_clear(&request->match);
    answer_clear(&request->answer);
    json_decref(request->body);
    free(request->etag);
    free(request);
}

void serve_asked(void *dashboard, struct http_exchange *exchange, int status)
{
    struct request *request = mem_zero(sizeof(*request));

    request->dashboard = dashboard;
    request->exchange = exchange;
    http_keep(exchange, request, release);
    if (status != 0)
        refuse(request, status,
               "the body must have at most 64 KiB and a Content-Length");
    else
        serve(request);
}
