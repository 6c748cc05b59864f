/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/net/fetch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/net/libcurl.h"

/*
 * libcurl's multi interface says which sockets it waits for (on_socket) and for
 * how long (on_timeout); the loop watches them and tells it.
 */

struct fetcher {
    struct libcurl curl;
    struct certificates certificates;
    bool has_certificates;
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

    fetcher->curl.multi_remove_handle(fetcher->multi, transfer->easy);
    fetcher->curl.easy_cleanup(transfer->easy);
    fetcher->curl.slist_free_all(transfer->headers);
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
    return transfer->fetcher->curl.easy_strerror(code);
}

static void finish(struct fetcher *fetcher, CURL *easy, CURLcode code)
{
    struct transfer *transfer = NULL, **link = &fetcher->transfers;
    struct fetch_answer answer = {0, "", "", 0};
    long status = 0;

    fetcher->curl.easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    while (*link != transfer)
        link = &(*link)->next;
    *link = transfer->next;
    if (code == CURLE_OK) {
        fetcher->curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
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

    while ((message = fetcher->curl.multi_info_read(fetcher->multi, &left)) !=
           NULL)
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
    fetcher->curl.multi_socket_action(fetcher->multi, watched->socket, flags,
                                      &running);
    finish_all(fetcher);
}

static void on_due(uv_timer_t *handle)
{
    struct fetcher *fetcher = handle->data;
    int running;

    fetcher->curl.multi_socket_action(fetcher->multi, CURL_SOCKET_TIMEOUT, 0,
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
        fetcher->curl.multi_assign(fetcher->multi, socket, watched);
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

struct fetcher *fetcher_create(uv_loop_t *loop, struct err *err)
{
    struct fetcher *fetcher = mem_zero(sizeof(*fetcher));

    fetcher->loop = loop;
    if (libcurl_load(&fetcher->curl, err) != 0) {
        free(fetcher);
        return NULL;
    }
    fetcher->has_certificates =
        libcurl_certificates(&fetcher->curl, &fetcher->certificates);
    fetcher->multi = fetcher->curl.multi_init();
    if (fetcher->multi == NULL)
        abort();
    uv_timer_init(loop, &fetcher->timer);
    uv_unref((uv_handle_t *)&fetcher->timer);
    fetcher->timer.data = fetcher;
    fetcher->curl.multi_setopt(fetcher->multi, CURLMOPT_SOCKETFUNCTION,
                               on_socket);
    fetcher->curl.multi_setopt(fetcher->multi, CURLMOPT_SOCKETDATA, fetcher);
    fetcher->curl.multi_setopt(fetcher->multi, CURLMOPT_TIMERFUNCTION,
                               on_timeout);
    fetcher->curl.multi_setopt(fetcher->multi, CURLMOPT_TIMERDATA, fetcher);
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
    fetcher->curl.multi_cleanup(fetcher->multi);
    while (fetcher->sockets != NULL)
        unwatch(fetcher->sockets);
    uv_close((uv_handle_t *)&fetcher->timer, free_fetcher);
}

/* Whether the host of a URL is this machine's loopback. */
static bool is_loopback(const char *url)
{
    static const char *const hosts[] = {"localhost", "[::1]"};
    const char *host = strstr(url, "://");
    size_t length, at;

    host = host != NULL ? host + strlen("://") : url;
    at = strcspn(host, "@/?#");
    if (host[at] == '@')
        host += at + 1;
    length = *host == '[' ? strcspn(host, "]/?#") + 1 : strcspn(host, ":/?#");
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        if (length == strlen(hosts[i]) &&
            strncasecmp(host, hosts[i], length) == 0)
            return true;
    }
    return strncmp(host, "127.", 4) == 0 &&
           strspn(host, "0123456789.") == length;
}

static void set_options(struct transfer *transfer,
                        const struct fetch_request *request)
{
    struct fetcher *fetcher = transfer->fetcher;
    CURL *easy = transfer->easy;

#define SET(option, value) fetcher->curl.easy_setopt(easy, option, value)
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
    if (request->socket != NULL)
        SET(CURLOPT_UNIX_SOCKET_PATH, request->socket);
    if (request->socket != NULL || is_loopback(request->url))
        SET(CURLOPT_NOPROXY, "*");
#undef SET
    if (fetcher->has_certificates)
        libcurl_check_with(&fetcher->curl, easy, &fetcher->certificates);
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
    transfer->easy = fetcher->curl.easy_init();
    if (transfer->easy == NULL) {
        free(transfer);
        return err_set(err, ERR_FAILED, "libcurl gave no handle");
    }
    for (size_t i = 0; request->headers != NULL && request->headers[i] != NULL;
         i++)
        transfer->headers =
            fetcher->curl.slist_append(transfer->headers, request->headers[i]);
    set_options(transfer, request);
    transfer->next = fetcher->transfers;
    fetcher->transfers = transfer;
    fetcher->curl.multi_add_handle(fetcher->multi, transfer->easy);
    return 0;
}

int fetch_describe(struct fetch_facts *facts, struct err *err)
{
    const curl_version_info_data *info;
    struct libcurl curl;

    if (libcurl_load(&curl, err) != 0)
        return -1;
    info = curl.version_info(CURLVERSION_NOW);
    facts->version = info->version;
    facts->tls = info->ssl_version;
    facts->has_certificates = libcurl_certificates(&curl, &facts->certificates);
    return 0;
}
