/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "dashboard/http/http_impl.h"

/* A request and its answer. */

enum { STREAM_BLOCK_BYTES = 4096 };

/* On every answer: a browser is to run, load, show and tell nothing else. */
static const struct http_header fixed_headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; "
     "connect-src 'self'; img-src 'self' data: blob:; worker-src 'self'; "
     "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

/* ---- what a request holds ---- */

const char *http_method(const struct http_exchange *exchange)
{
    return exchange->method;
}

const char *http_target(const struct http_exchange *exchange)
{
    return exchange->target;
}

const char *http_header(const struct http_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->mhd, MHD_HEADER_KIND, name);
}

struct header_count {
    const char *name;
    int count;
};

static mhd_answer count_header(void *user, enum MHD_ValueKind kind,
                               const char *name, const char *value)
{
    struct header_count *count = user;

    (void)kind;
    (void)value;
    if (strcasecmp(name, count->name) == 0)
        count->count++;
    return MHD_YES;
}

bool http_header_repeats(const struct http_exchange *exchange, const char *name)
{
    struct header_count count = {name, 0};

    MHD_get_connection_values(exchange->mhd, MHD_HEADER_KIND, count_header,
                              &count);
    return count.count > 1;
}

const char *http_body(const struct http_exchange *exchange, size_t *length)
{
    *length = exchange->body.length;
    return buf_text(&exchange->body);
}

void http_keep(struct http_exchange *exchange, void *kept,
               void (*release)(void *kept))
{
    exchange->kept = kept;
    exchange->release = release;
}

/* ---- exchanges ---- */

void *http_on_target(void *user, const char *target, struct MHD_Connection *mhd)
{
    struct http_exchange *exchange = mem_zero(sizeof(*exchange));

    exchange->http = user;
    exchange->mhd = mhd;
    exchange->target = mem_copy_string(target);
    exchange->connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
            ->socket_context;
    exchange->connection->exchange = exchange;
    return exchange;
}

void http_on_completed(void *user, struct MHD_Connection *mhd, void **context,
                       enum MHD_RequestTerminationCode code)
{
    struct http_exchange *exchange = *context;
    struct http *http = user;

    (void)mhd;
    (void)code;
    *context = NULL;
    exchange->connection->exchange = NULL;
    exchange->connection->is_asked = false;
    exchange->connection->is_protected = false;
    exchange->connection->waits_since_ms = uv_now(http->loop);
    exchange->connection->deadline_ms =
        exchange->connection->waits_since_ms + HTTP_IDLE_MAX_MS;
    if (exchange->is_stream)
        exchange->source.ended(exchange->source.user);
    if (exchange->release != NULL)
        exchange->release(exchange->kept);
    if (exchange->response != NULL)
        MHD_destroy_response(exchange->response);
    buf_clear(&exchange->body);
    free(exchange->target);
    free(exchange->method);
    free(exchange);
}

/* 0, or the status of a body that is not wanted. */
static int check_length(const struct http_exchange *exchange)
{
    const char *text = http_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);

    if (http_header(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL)
        return MHD_HTTP_LENGTH_REQUIRED;
    if (text == NULL)
        return 0;
    if (http_header_repeats(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH))
        return MHD_HTTP_BAD_REQUEST;
    /* It is a number, or the library had refused it. */
    return strtoull(text, NULL, 10) > HTTP_BODY_MAX_BYTES
               ? MHD_HTTP_CONTENT_TOO_LARGE
               : 0;
}

static void ask(struct http_exchange *exchange, int status)
{
    struct http *http = exchange->http;

    exchange->connection->is_asked = true;
    exchange->connection->deadline_ms = 0;
    http->answering++;
    http->handler.asked(http->handler.user, exchange, status);
    if (exchange->response != NULL)
        return;
    exchange->is_suspended = true;
    MHD_suspend_connection(exchange->mhd);
}

static mhd_answer take_body(struct http_exchange *exchange, const char *bytes,
                            size_t *length)
{
    if (exchange->body.length + *length > HTTP_BODY_MAX_BYTES)
        return MHD_NO;
    buf_add(&exchange->body, bytes, *length);
    *length = 0;
    return MHD_YES;
}

mhd_answer http_on_request(void *user, struct MHD_Connection *mhd,
                           const char *url, const char *method,
                           const char *version, const char *bytes,
                           size_t *length, void **context)
{
    struct http_exchange *exchange = *context;
    int status;

    (void)user;
    (void)url;
    (void)version;
    if (exchange->http->is_closing && exchange->response == NULL)
        return MHD_NO;
    if (*length > 0)
        return take_body(exchange, bytes, length);
    if (exchange->method == NULL) {
        exchange->method = mem_copy_string(method);
        status = check_length(exchange);
        if (status == 0)
            return MHD_YES;
        ask(exchange, status);
    } else if (exchange->response == NULL) {
        ask(exchange, 0);
    }
    if (exchange->response == NULL)
        return MHD_YES;
    return MHD_queue_response(mhd, exchange->status, exchange->response);
}

/* ---- answers ---- */

void http_resume(struct http_exchange *exchange)
{
    if (!exchange->is_suspended)
        return;
    exchange->is_suspended = false;
    MHD_resume_connection(exchange->mhd);
    http_run_soon(exchange->http);
}

/* The response is the exchange's from now on. */
static void answer(struct http_exchange *exchange, unsigned int status,
                   const char *type, struct MHD_Response *response)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed_headers); i++)
        MHD_add_response_header(response, fixed_headers[i].name,
                                fixed_headers[i].value);
    if (type != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    exchange->response = response;
    exchange->status = status;
    exchange->http->answering--;
    http_resume(exchange);
}

static void release_blob(void *blob)
{
    blob_release(blob);
}

#if MHD_VERSION < 0x00097302
static ssize_t read_blob(void *user, uint64_t position, char *bytes,
                         size_t size)
{
    const struct blob *blob = user;
    size_t left = blob->length - (size_t)position;

    if (left < size)
        size = left;
    memcpy(bytes, blob->data + position, size);
    return (ssize_t)size;
}

static struct MHD_Response *response_of_bytes(struct blob *blob)
{
    enum { BLOCK = 65536 };

    return MHD_create_response_from_callback(blob->length, BLOCK, read_blob,
                                             blob, release_blob);
}
#else
static struct MHD_Response *response_of_bytes(struct blob *blob)
{
    return MHD_create_response_from_buffer_with_free_callback_cls(
        blob->length, (void *)(uintptr_t)blob->data, release_blob, blob);
}
#endif

static struct MHD_Response *response_of(struct blob *blob)
{
    if (blob == NULL)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    return response_of_bytes(blob);
}

void http_reply(struct http_exchange *exchange, const struct http_reply *reply)
{
    struct MHD_Response *response = response_of(reply->bytes);
    uint64_t bytes = reply->bytes == NULL ? 0 : reply->bytes->length;

    for (size_t i = 0; i < HTTP_EXTRA_HEADERS_MAX; i++) {
        if (reply->headers[i].name != NULL)
            MHD_add_response_header(response, reply->headers[i].name,
                                    reply->headers[i].value);
    }
    exchange->connection->deadline_ms = uv_now(exchange->http->loop) +
                                        HTTP_REQUEST_MAX_MS +
                                        bytes * 1000 / HTTP_SLOWEST_BYTES_PER_S;
    answer(exchange, (unsigned int)reply->status, reply->type, response);
}

static ssize_t on_read(void *user, uint64_t position, char *bytes, size_t size)
{
    struct http_exchange *exchange = user;
    ssize_t length;

    (void)position;
    if (exchange->http->is_closing || exchange->connection->is_cut)
        return MHD_CONTENT_READER_END_OF_STREAM;
    length = exchange->source.read(exchange->source.user, bytes, size);
    if (length < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (length == 0) {
        exchange->is_suspended = true;
        MHD_suspend_connection(exchange->mhd);
    }
    return length;
}

void http_stream(struct http_exchange *exchange, const char *type,
                 const struct http_source *source)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, on_read, exchange, NULL);

    exchange->is_stream = true;
    exchange->source = *source;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            "no-store");
    /* nginx otherwise holds events back until it has a page of them. */
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    answer(exchange, MHD_HTTP_OK, type, response);
}

void http_stream_wake(struct http_exchange *exchange)
{
    http_resume(exchange);
}

void http_protect(struct http_exchange *exchange)
{
    exchange->connection->is_protected = true;
}

void http_cut(struct http_exchange *exchange)
{
    http_cut_connection(exchange->http, exchange->connection);
    http_resume(exchange);
}
