/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/rest_link.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/mem.h"
#include "executors/slurm/talk/rest_impl.h"
#include "executors/slurm/talk/trace.h"

enum {
    LIMIT_MS = 60000,
    ACTIVE_MAX = 4,
    HEADERS_MAX = 5,
    TOKEN_MAX_BYTES = 64 << 10,
    ANSWER_MAX_BYTES = 512 << 20 /* of 100,000 jobs and more */
};

struct exchange {
    TAILQ_ENTRY(exchange) entry;
    struct rest_link *link;
    struct slurm_trace trace;
    enum fetch_method method;
    bool is_for_database;
    char *path;
    json_t *body;
    json_t *(*adapt)(json_t *body, int version);
    bool is_nothing;
    rest_done_fn *done;
    void *user;
};

TAILQ_HEAD(exchanges, exchange);

struct rest_link {
    uv_loop_t *loop;
    struct log *log;
    struct fetcher *fetcher;
    char *url;    /* as it was given */
    char *base;   /* "http://host:port" */
    char *socket; /* path, or NULL */
    char *user;
    uid_t uid; /* of that user */
    bool has_token;
    int64_t *requests;
    int version; /* 0: not known */
    bool is_probing;
    struct slurm_trace probe; /* if it is_probing */
    int active;
    struct exchanges waiting, sent;
    uv_timer_t turn; /* what waits is sent from the loop */
    bool is_destroyed;
    void (*destroyed)(void *user);
    void *destroyed_user;
};

/* -- Who and where --------------------------------------------------------*/

static void find_user(struct rest_link *link)
{
    const char *name = getenv("SLURM_USER_NAME");
    const struct passwd *entry =
        name != NULL ? getpwnam(name) : getpwuid(geteuid());

    link->uid = entry != NULL ? entry->pw_uid : geteuid();
    if (name == NULL && entry != NULL)
        name = entry->pw_name;
    link->user = mem_copy_string(name != NULL ? name : "");
    link->has_token = getenv("SLURM_JWT") != NULL ||
                      getenv("SMTUNE_SLURM_TOKEN_FILE") != NULL;
}

/* 1: there is one, 0: none is needed, -1: it cannot be read. */
static int read_token(struct buf *token, struct err *err)
{
    static const char label[] = "SLURM_JWT=";
    const char *path = getenv("SMTUNE_SLURM_TOKEN_FILE");
    const char *given = getenv("SLURM_JWT");

    if (path == NULL) {
        if (given != NULL)
            buf_add_string(token, given);
        return given != NULL;
    }
    if (fs_read_regular(path, TOKEN_MAX_BYTES, token, err) != 0)
        return -1;
    buf_truncate(token, strcspn(buf_text(token), "\r\n"));
    if (strncmp(buf_text(token), label, sizeof(label) - 1) == 0)
        buf_consume(token, sizeof(label) - 1);
    return 1;
}

uid_t rest_link_uid(const struct rest_link *link)
{
    struct stat info;

    if (!link->has_token && link->socket != NULL &&
        stat(link->socket, &info) == 0)
        return info.st_uid;
    return link->uid;
}

char *rest_link_user(const struct rest_link *link)
{
    uid_t uid = rest_link_uid(link);
    const struct passwd *entry = uid != link->uid ? getpwuid(uid) : NULL;

    if (uid == link->uid)
        return mem_copy_string(link->user);
    return mem_copy_string(entry != NULL ? entry->pw_name : "");
}

static int take_url(struct rest_link *link, const char *url, struct err *err)
{
    static const char unix_scheme[] = "unix:";

    if (url == NULL)
        return err_set(
            err, ERR_FILE,
            "missing key 'executor.url', which transport 'rest' requires: "
            "unix:/PATH, http://HOST:PORT or https://HOST:PORT");
    if (strncmp(url, unix_scheme, sizeof(unix_scheme) - 1) == 0 &&
        url[sizeof(unix_scheme) - 1] == '/') {
        link->base = mem_copy_string("http://localhost");
        link->socket = mem_copy_string(url + sizeof(unix_scheme) - 1);
        return 0;
    }
    if ((strncmp(url, "http://", 7) != 0 || url[7] == '\0') &&
        (strncmp(url, "https://", 8) != 0 || url[8] == '\0'))
        return err_set(err, ERR_FILE,
                       "'executor.url' must be unix:/PATH, http://HOST:PORT or "
                       "https://HOST:PORT, not '%s'",
                       url);
    link->base = mem_copy_string(url);
    for (size_t end = strlen(url); url[end - 1] == '/'; end--)
        link->base[end - 1] = '\0';
    return 0;
}

/* -- One request ----------------------------------------------------------*/

static void exchange_destroy(struct exchange *exchange)
{
    json_decref(exchange->body);
    free(exchange->path);
    free(exchange);
}

static void on_turn(uv_timer_t *timer);

static void turn_soon(struct rest_link *link)
{
    if (!link->is_destroyed)
        uv_timer_start(&link->turn, on_turn, 0, 0);
}

/* To one that is in no list. */
static void answer(struct exchange *exchange, int version,
                   const struct fetch_answer *found)
{
    exchange->done(exchange->user, version, found);
    exchange_destroy(exchange);
}

static int put_out(struct rest_link *link, const struct fetch_request *what,
                   fetch_done_fn *done, void *user, struct err *err)
{
    struct fetch_request request = *what;
    struct buf token = BUF_INIT;
    int found = read_token(&token, err), result = -1;
    char *name = NULL, *pass = NULL;
    const char *headers[HEADERS_MAX + 1] = {"Content-Type: application/json",
                                            "Accept: application/json",
                                            "Expect:"};

    if (found > 0) {
        log_hide(link->log, "SLURM_JWT", buf_text(&token));
        name = mem_printf("X-SLURM-USER-NAME: %s", link->user);
        pass = mem_printf("X-SLURM-USER-TOKEN: %s", buf_text(&token));
        headers[3] = name;
        headers[4] = pass;
    }
    request.socket = link->socket;
    request.headers = headers;
    request.timeout_ms = LIMIT_MS;
    request.answer_max_bytes = ANSWER_MAX_BYTES;
    if (found >= 0)
        result = fetch(link->fetcher, &request, done, user, err);
    if (result == 0)
        ++*link->requests;
    buf_clear(&token);
    free(name);
    free(pass);
    return result;
}

/* libcurl knows a socket as "localhost" alone. Only the text of a failure is
 * used. The caller frees *text. */
static struct fetch_answer named(const struct rest_link *link,
                                 const struct fetch_answer *found, char **text)
{
    struct fetch_answer answer = *found;
    struct buf shown = BUF_INIT;

    *text = NULL;
    if (found->status != 0)
        return answer;
    mask_add(NULL, link->url, strlen(link->url), &shown);
    buf_printf(&shown, ": %s", found->text);
    answer.text = *text = buf_take(&shown);
    return answer;
}

/* A version that it has no more is asked for anew. */
static void on_answer(void *user, const struct fetch_answer *found)
{
    enum { HTTP_NOT_FOUND = 404 };
    struct exchange *exchange = user;
    struct rest_link *link = exchange->link;
    int version = link->version;
    struct fetch_answer told;
    char *text;

    if (link->is_destroyed)
        return;
    slurm_trace_answer(link->log, &exchange->trace, found);
    TAILQ_REMOVE(&link->sent, exchange, entry);
    link->active--;
    if (found->status == HTTP_NOT_FOUND)
        link->version = 0;
    turn_soon(link);
    told = named(link, found, &text);
    answer(exchange, version, &told);
    free(text);
}

static int exchange_send(struct exchange *exchange, struct err *err)
{
    struct rest_link *link = exchange->link;
    struct buf body = BUF_INIT;
    char *url = mem_printf("%s/%s/v0.0.%d/%s", link->base,
                           exchange->is_for_database ? "slurmdb" : "slurm",
                           link->version, exchange->path);
    int result;

    if (exchange->body != NULL) {
        if (exchange->adapt != NULL)
            exchange->body = exchange->adapt(exchange->body, link->version);
        json_print(exchange->body, &body);
    }
    slurm_trace_request(link->log, &exchange->trace, *link->requests + 1,
                        exchange->method, url);
    result = put_out(link,
                     &(struct fetch_request){.method = exchange->method,
                                             .url = url,
                                             .body = body.data,
                                             .body_bytes = body.length},
                     on_answer, exchange, err);
    if (result != 0)
        slurm_trace_failure(link->log, &exchange->trace, err->text);
    buf_clear(&body);
    free(url);
    return result;
}

/* -- The version, and whose turn it is ------------------------------------*/

/* What waits is told that it is not known whom to ask. */
static void fail_waiting(struct rest_link *link, const char *text)
{
    const struct fetch_answer none = {.text = text, .body = ""};
    struct exchanges failed = TAILQ_HEAD_INITIALIZER(failed);
    struct exchange *exchange;

    TAILQ_CONCAT(&failed, &link->waiting, entry);
    while (!link->is_destroyed && (exchange = TAILQ_FIRST(&failed)) != NULL) {
        TAILQ_REMOVE(&failed, exchange, entry);
        answer(exchange, 0, &none);
    }
    TAILQ_CONCAT(&link->waiting, &failed, entry);
}

static void on_probe(void *user, const struct fetch_answer *found)
{
    struct rest_link *link = user;
    struct fetch_answer told;
    struct err err;
    char *text;

    if (link->is_destroyed)
        return;
    link->is_probing = false;
    slurm_trace_answer(link->log, &link->probe, found);
    told = named(link, found, &text);
    link->version = slurm_rest_version(&told, &err);
    free(text);
    if (link->version > 0)
        turn_soon(link);
    else
        fail_waiting(link, err.text);
}

static void probe(struct rest_link *link)
{
    char *url = mem_printf("%s/openapi/v3", link->base);
    struct fetch_request request = {.url = url};
    struct err err;

    slurm_trace_request(link->log, &link->probe, *link->requests + 1, FETCH_GET,
                        url);
    link->is_probing = put_out(link, &request, on_probe, link, &err) == 0;
    free(url);
    if (link->is_probing)
        return;
    slurm_trace_failure(link->log, &link->probe, err.text);
    fail_waiting(link, err.text);
}

static void send_next(struct rest_link *link)
{
    struct exchange *exchange = TAILQ_FIRST(&link->waiting);
    struct err err;

    TAILQ_REMOVE(&link->waiting, exchange, entry);
    turn_soon(link);
    if (exchange->is_nothing) {
        answer(exchange, link->version,
               &(struct fetch_answer){.text = "", .body = ""});
    } else if (exchange_send(exchange, &err) != 0) {
        answer(exchange, 0,
               &(struct fetch_answer){.text = err.text, .body = ""});
    } else {
        TAILQ_INSERT_TAIL(&link->sent, exchange, entry);
        link->active++;
    }
}

/* The timer keeps the loop turning as long as an answer is to come. */
static void on_turn(uv_timer_t *timer)
{
    struct rest_link *link = timer->data;
    bool is_busy = link->is_probing || link->active >= ACTIVE_MAX;

    if (!TAILQ_EMPTY(&link->waiting) && !is_busy && link->version > 0)
        send_next(link);
    else if (!TAILQ_EMPTY(&link->waiting) && !is_busy)
        probe(link);
    if ((link->is_probing || link->active > 0) &&
        !uv_is_active((uv_handle_t *)timer) && !link->is_destroyed)
        uv_timer_start(timer, on_turn, LIMIT_MS, 0);
}

void rest_link_send(struct rest_link *link, const struct rest_request *request,
                    rest_done_fn *done, void *user)
{
    struct exchange *exchange = mem_zero(sizeof(*exchange));

    exchange->link = link;
    exchange->method = request->method;
    exchange->is_for_database = request->is_for_database;
    exchange->path = mem_copy_string(request->path);
    exchange->body = request->body;
    exchange->adapt = request->adapt;
    exchange->is_nothing = request->is_nothing;
    exchange->done = done;
    exchange->user = user;
    TAILQ_INSERT_TAIL(&link->waiting, exchange, entry);
    turn_soon(link);
}

/* -- Life -----------------------------------------------------------------*/

static void drop(struct exchanges *exchanges)
{
    struct exchange *exchange;

    while ((exchange = TAILQ_FIRST(exchanges)) != NULL) {
        TAILQ_REMOVE(exchanges, exchange, entry);
        exchange_destroy(exchange);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct rest_link *link = handle->data;

    fetcher_destroy(link->fetcher);
    drop(&link->waiting);
    drop(&link->sent);
    link->destroyed(link->destroyed_user);
    free(link->url);
    free(link->base);
    free(link->socket);
    free(link->user);
    free(link);
}

struct rest_link *rest_link_create(uv_loop_t *loop,
                                   const struct slurm_options *options,
                                   int64_t *requests, struct err *err)
{
    struct rest_link *link = mem_zero(sizeof(*link));

    link->loop = loop;
    link->log = options->log;
    link->requests = requests;
    TAILQ_INIT(&link->waiting);
    TAILQ_INIT(&link->sent);
    if (take_url(link, options->url, err) == 0)
        link->fetcher = fetcher_create(loop, err);
    if (link->fetcher == NULL) {
        free(link->base);
        free(link->socket);
        free(link);
        return NULL;
    }
    link->url = mem_copy_string(options->url);
    find_user(link);
    uv_timer_init(loop, &link->turn);
    link->turn.data = link;
    return link;
}

/* The fetcher may be in the middle of an answer. */
void rest_link_destroy(struct rest_link *link, void (*done)(void *user),
                       void *user)
{
    link->is_destroyed = true;
    link->destroyed = done;
    link->destroyed_user = user;
    uv_close((uv_handle_t *)&link->turn, on_closed);
}
