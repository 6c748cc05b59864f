/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fetch.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"

/*
 * libcurl is not linked but loaded, since it and the thirty libraries that it
 * needs would make each start of smtune slower, and few runs fetch anything.
 *
 * Its multi interface says which sockets it waits for (on_socket) and for how
 * long (on_timeout); the loop watches them and tells it.
 */

/* X(name, as libcurl calls it) */
#define CURL_FUNCTIONS(X)                                                      \
    X(easy_init, curl_easy_init)                                               \
    X(easy_setopt, curl_easy_setopt)                                           \
    X(easy_getinfo, curl_easy_getinfo)                                         \
    X(easy_cleanup, curl_easy_cleanup)                                         \
    X(easy_strerror, curl_easy_strerror)                                       \
    X(multi_init, curl_multi_init)                                             \
    X(multi_setopt, curl_multi_setopt)                                         \
    X(multi_assign, curl_multi_assign)                                         \
    X(multi_add_handle, curl_multi_add_handle)                                 \
    X(multi_remove_handle, curl_multi_remove_handle)                           \
    X(multi_socket_action, curl_multi_socket_action)                           \
    X(multi_info_read, curl_multi_info_read)                                   \
    X(multi_cleanup, curl_multi_cleanup)                                       \
    X(slist_append, curl_slist_append)                                         \
    X(slist_free_all, curl_slist_free_all)

struct fetcher {
#define X(name, symbol) __typeof__(symbol) *name;
    CURL_FUNCTIONS(X)
#undef X
    void *library;
    CURLM *multi;
    uv_loop_t *loop;
    uv_timer_t timer;
    struct transfer *transfers;
    struct watched *sockets;
};

struct transfer {
    struct transfer *next;
    struct fetcher *fetcher;
    CURL *easy;
    struct curl_slist *headers;
    fetch_done_fn *done;
    void *user;
    struct buf answer;
    size_t answer_max_bytes;
    bool is_too_long;
    char error[CURL_ERROR_SIZE];
};

/* A socket that libcurl waits for. */
struct watched {
    uv_poll_t poll;
    struct watched *next;
    struct fetcher *fetcher;
    curl_socket_t socket;
};

/* ---- transfers ---- */

/* One that is in no list. */
static void transfer_destroy(struct transfer *transfer)
{
    struct fetcher *fetcher = transfer->fetcher;

    fetcher->multi_remove_handle(fetcher->multi, transfer->easy);
    fetcher->easy_cleanup(transfer->easy);
    fetcher->slist_free_all(transfer->headers);
    buf_clear(&transfer->answer);
    free(transfer);
}

/* What is said of a transfer that gave no answer. */
static const char *failure(const struct transfer *transfer, CURLcode code)
{
    if (transfer->is_too_long)
        return "the answer is too long";
    if (transfer->error[0] != '\0')
        return transfer->error;
    return transfer->fetcher->easy_strerror(code);
}

static void finish(struct fetcher *fetcher, CURL *easy, CURLcode code)
{
    struct transfer *transfer = NULL, **link = &fetcher->transfers;
    struct fetch_answer answer = {0, "", "", 0};
    long status = 0;

    fetcher->easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    while (*link != transfer)
        link = &(*link)->next;
    *link = transfer->next;
    if (code == CURLE_OK) {
        fetcher->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        answer.status = (int)status;
        answer.body = buf_text(&transfer->answer);
        answer.body_bytes = transfer->answer.length;
    } else {
        answer.text = failure(transfer, code);
    }
    transfer->done(transfer->user, &answer);
    transfer_destroy(transfer);
}

static void finish_all(struct fetcher *fetcher)
{
    CURLMsg *message;
    int left;

    while ((message = fetcher->multi_info_read(fetcher->multi, &left)) != NULL)
        if (message->msg == CURLMSG_DONE)
            finish(fetcher, message->easy_handle, message->data.result);
}

/* More than the bound ends the transfer. */
static size_t on_answer(const char *bytes, size_t size, size_t count,
                        void *user)
{
    struct transfer *transfer = user;

    if (size * count > transfer->answer_max_bytes - transfer->answer.length) {
        transfer->is_too_long = true;
        return 0;
    }
    buf_add(&transfer->answer, bytes, size * count);
    return size * count;
}

/* ---- the loop ---- */

static void on_ready(uv_poll_t *handle, int status, int events)
{
    struct watched *watched = handle->data;
    struct fetcher *fetcher = watched->fetcher;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    int running;

    if ((events & UV_READABLE) != 0)
        flags |= CURL_CSELECT_IN;
    if ((events & UV_WRITABLE) != 0)
        flags |= CURL_CSELECT_OUT;
    fetcher->multi_socket_action(fetcher->multi, watched->socket, flags,
                                 &running);
    finish_all(fetcher);
}

static void on_due(uv_timer_t *handle)
{
    struct fetcher *fetcher = handle->data;
    int running;

    fetcher->multi_socket_action(fetcher->multi, CURL_SOCKET_TIMEOUT, 0,
                                 &running);
    finish_all(fetcher);
}

static void free_watched(uv_handle_t *handle)
{
    free(handle->data);
}

static struct watched *watch(struct fetcher *fetcher, curl_socket_t socket)
{
    struct watched *watched = mem_zero(sizeof(*watched));

    watched->fetcher = fetcher;
    watched->socket = socket;
    watched->poll.data = watched;
    if (uv_poll_init(fetcher->loop, &watched->poll, socket) == 0) {
        uv_unref((uv_handle_t *)&watched->poll);
        watched->next = fetcher->sockets;
        fetcher->sockets = watched;
        fetcher->multi_assign(fetcher->multi, socket, watched);
        return watched;
    }
    free(watched);
    return NULL;
}

static void unwatch(struct watched *watched)
{
    struct watched **link = &watched->fetcher->sockets;

    while (*link != watched)
        link = &(*link)->next;
    *link = watched->next;
    uv_close((uv_handle_t *)&watched->poll, free_watched);
}

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *user,
                     void *assigned)
{
    struct fetcher *fetcher = user;
    struct watched *watched = assigned;
    int events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watched != NULL)
            unwatch(watched);
        return 0;
    }
    if (watched == NULL)
        watched = watch(fetcher, socket);
    if (watched == NULL)
        return -1;
    if (what != CURL_POLL_OUT)
        events |= UV_READABLE;
    if (what != CURL_POLL_IN)
        events |= UV_WRITABLE;
    return uv_poll_start(&watched->poll, events, on_ready);
}

static int on_timeout(CURLM *multi, long timeout_ms, void *user)
{
    struct fetcher *fetcher = user;

    (void)multi;
    if (timeout_ms < 0)
        return uv_timer_stop(&fetcher->timer);
    return uv_timer_start(&fetcher->timer, on_due, (uint64_t)timeout_ms, 0);
}

/* ---- the interface ---- */

static const char library_name[] = "libcurl.so.4";

static int load(struct fetcher *fetcher, struct err *err)
{
    fetcher->library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (fetcher->library == NULL)
        return err_set(err, ERR_FAILED, "cannot load '%s': %s", library_name,
                       dlerror());
#define X(name, symbol)                                                        \
    *(void **)&fetcher->name = dlsym(fetcher->library, #symbol);               \
    if (fetcher->name == NULL)                                                 \
        return err_set(err, ERR_FAILED, "'%s' has no %s", library_name,        \
                       #symbol);
    CURL_FUNCTIONS(X)
#undef X
    return 0;
}

struct fetcher *fetcher_create(uv_loop_t *loop, struct err *err)
{
    struct fetcher *fetcher = mem_zero(sizeof(*fetcher));

    fetcher->loop = loop;
    if (load(fetcher, err) != 0) {
        free(fetcher);
        return NULL;
    }
    fetcher->multi = fetcher->multi_init();
    if (fetcher->multi == NULL)
        abort();
    uv_timer_init(loop, &fetcher->timer);
    uv_unref((uv_handle_t *)&fetcher->timer);
    fetcher->timer.data = fetcher;
    fetcher->multi_setopt(fetcher->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    fetcher->multi_setopt(fetcher->multi, CURLMOPT_SOCKETDATA, fetcher);
    fetcher->multi_setopt(fetcher->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    fetcher->multi_setopt(fetcher->multi, CURLMOPT_TIMERDATA, fetcher);
    return fetcher;
}

static void free_fetcher(uv_handle_t *handle)
{
    free(handle->data);
}

void fetcher_destroy(struct fetcher *fetcher)
{
    struct transfer *transfer;

    if (fetcher == NULL)
        return;
    while ((transfer = fetcher->transfers) != NULL) {
        fetcher->transfers = transfer->next;
        transfer_destroy(transfer);
    }
    fetcher->multi_cleanup(fetcher->multi);
    while (fetcher->sockets != NULL)
        unwatch(fetcher->sockets);
    uv_close((uv_handle_t *)&fetcher->timer, free_fetcher);
}

static void set_options(struct transfer *transfer,
                        const struct fetch_request *request)
{
    struct fetcher *fetcher = transfer->fetcher;
    CURL *easy = transfer->easy;

#define SET(option, value) fetcher->easy_setopt(easy, option, value)
    SET(CURLOPT_PRIVATE, (void *)transfer);
    SET(CURLOPT_URL, request->url);
#if LIBCURL_VERSION_NUM >= 0x075500
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_USERAGENT, "smtune/" SMTUNE_VERSION);
    SET(CURLOPT_ERRORBUFFER, transfer->error);
    SET(CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)request->timeout_ms / 3);
    SET(CURLOPT_WRITEFUNCTION, on_answer);
    SET(CURLOPT_WRITEDATA, (void *)transfer);
    SET(CURLOPT_HTTPHEADER, transfer->headers);
    if (request->method == FETCH_POST || request->body != NULL) {
        SET(CURLOPT_POSTFIELDSIZE, (long)request->body_bytes);
        SET(CURLOPT_COPYPOSTFIELDS, request->body != NULL ? request->body : "");
    }
    if (request->method == FETCH_DELETE)
        SET(CURLOPT_CUSTOMREQUEST, "DELETE");
    if (request->socket != NULL) {
        SET(CURLOPT_UNIX_SOCKET_PATH, request->socket);
        SET(CURLOPT_NOPROXY, "*");
    }
#undef SET
}

int fetch(struct fetcher *fetcher, const struct fetch_request *request,
          fetch_done_fn *done, void *user, struct err *err)
{
    struct transfer *transfer = mem_zero(sizeof(*transfer));

    transfer->fetcher = fetcher;
    transfer->done = done;
    transfer->user = user;
    transfer->answer_max_bytes = request->answer_max_bytes > 0
                                     ? request->answer_max_bytes
                                     : FETCH_ANSWER_MAX_BYTES;
    transfer->easy = fetcher->easy_init();
    if (transfer->easy == NULL) {
        free(transfer);
        return err_set(err, ERR_FAILED, "libcurl gave no handle");
    }
    for (size_t i = 0; request->headers != NULL && request->headers[i] != NULL;
         i++)
        transfer->headers =
            fetcher->slist_append(transfer->headers, request->headers[i]);
    set_options(transfer, request);
    transfer->next = fetcher->transfers;
    fetcher->transfers = transfer;
    fetcher->multi_add_handle(fetcher->multi, transfer->easy);
    return 0;
}
