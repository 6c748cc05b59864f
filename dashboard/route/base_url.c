/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The path becomes part of a header, that of the cookie. It therefore has none
 * of the characters that end it there (';' and blanks). It is compared byte by
 * byte with what browsers and proxies send, and never decoded. Scheme and host
 * are in lower case, as browsers send them.
 *
 * Some proxies keep the path in their requests, and some remove it. Only the
 * path of a request shows which (target.h). The URL's path must therefore not
 * begin like a path of the dashboard itself.
 */
#include "dashboard/route/base_url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum {
    PORT_MAX = 65535,
    PORT_DIGITS_MAX = 5,
    HTTP_PORT = 80,
    HTTPS_PORT = 443
};

struct base_url {
    char *text;
    size_t origin_length;
    const char *host; /* in text, up to the end of the origin */
    const char *path; /* likewise, what is behind it */
    char *named_host; /* "HOST:PORT" of a path ".../HOST/PORT"; NULL: none */
    bool is_https, has_port;
};

/* How paths of the dashboard begin; the last is a session's (target.h). */
static const char *const own_names[] = {"api", "login", "metrics", "s", NULL};

/* ---- reading: each part appends to the text ---- */

static int refuse(const char *text, const char *why, struct err *err)
{
    return err_set(
        err, ERR_USAGE,
        "expected a base URL such as 'https://host/path', got '%s': %s", text,
        why);
}

/* Past "http://" or "https://"; NULL: neither. */
static const char *take_scheme(struct base_url *base, const char *at,
                               struct buf *out)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (int i = 0; i < 2; i++) {
        size_t length = strlen(schemes[i]);

        if (strncasecmp(at, schemes[i], length) != 0)
            continue;
        buf_add_string(out, schemes[i]);
        base->is_https = i == 1;
        return at + length;
    }
    return NULL;
}

/* A name, an address, or an address of IPv6 in brackets. */
static size_t host_length(const char *at)
{
    size_t length;

    if (*at != '[')
        return strspn(at, "abcdefghijklmnopqrstuvwxyz"
                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._");
    length = strspn(at + 1, "0123456789abcdefABCDEF:.");
    return length > 0 && at[1 + length] == ']' ? length + 2 : 0;
}

static const char *take_host(const char *at, struct buf *out)
{
    size_t length = host_length(at);

    for (size_t i = 0; i < length; i++)
        buf_add_char(out, (char)tolower((unsigned char)at[i]));
    return length > 0 ? at + length : NULL;
}

/* Browsers leave out the port of the scheme. */
static const char *take_port(struct base_url *base, const char *at,
                             struct buf *out)
{
    size_t digits;
    long port;

    if (*at != ':')
        return at;
    digits = strspn(++at, "0123456789");
    port = strtol(at, NULL, 10);
    if (digits == 0 || digits > PORT_DIGITS_MAX || port < 1 || port > PORT_MAX)
        return NULL;
    base->has_port = port != (base->is_https ? HTTPS_PORT : HTTP_PORT);
    if (base->has_port)
        buf_printf(out, ":%ld", port);
    return at + digits;
}

/* Whether the length bytes are a part of a path that a browser leaves as it
 * is. */
static bool is_part(const char *part, size_t length)
{
    if (length == 0 || (length == 1 && part[0] == '.') ||
        (length == 2 && part[0] == '.' && part[1] == '.'))
        return false;
    for (size_t i = 0; i < length; i++) {
        bool is_escape = part[i] == '%' && length - i > 2 &&
                         isxdigit((unsigned char)part[i + 1]) &&
                         isxdigit((unsigned char)part[i + 2]);

        if (!is_escape && !isalnum((unsigned char)part[i]) &&
            strchr("-._~!$&()*+=:@", part[i]) == NULL)
            return false;
    }
    return true;
}

static int take_path(const char *at, struct buf *out)
{
    size_t length = strlen(at);

    while (length > 0 && at[length - 1] == '/')
        length--;
    for (size_t begin = 0, end; begin < length; begin = end) {
        end = begin + 1;
        while (end < length && at[end] != '/')
            end++;
        if (at[begin] != '/' || !is_part(at + begin + 1, end - begin - 1))
            return -1;
    }
    buf_add(out, at, length);
    return 0;
}

static int check_first(const struct base_url *base, struct err *err)
{
    const char *path = base->path;
    size_t length = path[0] == '/' ? strcspn(path + 1, "/") : 0;

    for (size_t i = 0; own_names[i] != NULL; i++) {
        if (strlen(own_names[i]) == length &&
            memcmp(own_names[i], path + 1, length) == 0)
            return err_set(err, ERR_USAGE,
                           "the path of the base URL '%s' begins with '/%s', a "
                           "path of the dashboard itself: choose another path",
                           base->text, own_names[i]);
    }
    return 0;
}

static int read_text(struct base_url *base, const char *text, struct buf *out,
                     struct err *err)
{
    const char *at = take_scheme(base, text, out);

    if (at == NULL)
        return refuse(text, "it must begin with http:// or https://", err);
    at = take_host(at, out);
    if (at == NULL)
        return refuse(text, "no host name behind '//'", err);
    at = take_port(base, at, out);
    if (at == NULL)
        return refuse(text, "the port must be a number from 1 to 65535", err);
    base->origin_length = out->length;
    if (strpbrk(at, "?#") != NULL)
        return refuse(text, "it must end with the path, without '?' and '#'",
                      err);
    if (*at != '\0' && *at != '/')
        return refuse(text, "invalid character in the host name", err);
    if (take_path(at, out) < 0)
        return refuse(text,
                      "invalid path; escape its special characters with '%', "
                      "as the browser's address bar shows them",
                      err);
    return 0;
}

static char *find_named_host(const char *path)
{
    const char *port = strrchr(path, '/');
    const char *host =
        port != NULL ? memrchr(path, '/', (size_t)(port - path)) : NULL;

    return host != NULL ? mem_printf("%.*s:%s", (int)(port - host - 1),
                                     host + 1, port + 1)
                        : NULL;
}

struct base_url *base_url_parse(const char *text, struct err *err)
{
    struct base_url *base = mem_zero(sizeof(*base));
    struct buf out = BUF_INIT;
    int status = read_text(base, text, &out, err);

    base->text = buf_take(&out);
    if (status == 0) {
        base->host = strstr(base->text, "//") + 2;
        base->path = base->text + base->origin_length;
        base->named_host = find_named_host(base->path);
        status = strlen(base->text) <= BASE_URL_MAX_BYTES
                     ? check_first(base, err)
                     : err_set(err, ERR_USAGE,
                               "the base URL has %zu bytes, at most %d: '%s'",
                               strlen(base->text), BASE_URL_MAX_BYTES, text);
    }
    if (status == 0)
        return base;
    base_url_destroy(base);
    return NULL;
}

void base_url_destroy(struct base_url *base)
{
    if (base == NULL)
        return;
    free(base->text);
    free(base->named_host);
    free(base);
}

/* ---- what it has ---- */

const char *base_url_text(const struct base_url *base)
{
    return base->text;
}

const char *base_url_path(const struct base_url *base)
{
    return base->path;
}

bool base_url_is_https(const struct base_url *base)
{
    return base->is_https;
}

bool base_url_has_origin(const struct base_url *base, const char *origin)
{
    return strlen(origin) == base->origin_length &&
           memcmp(origin, base->text, base->origin_length) == 0;
}

bool base_url_has_host(const struct base_url *base, const char *host)
{
    size_t length = (size_t)(base->path - base->host);
    const char *rest = host + length;

    if (strncasecmp(host, base->host, length) != 0)
        return false;
    return *rest == '\0' ||
           (!base->has_port &&
            strcmp(rest, base->is_https ? ":443" : ":80") == 0);
}

bool base_url_names_host(const struct base_url *base, const char *host,
                         int port)
{
    char ours[PORT_DIGITS_MAX + 2];

    snprintf(ours, sizeof(ours), ":%d", port);
    return base->named_host != NULL &&
           strcmp(strrchr(base->named_host, ':'), ours) == 0 &&
           strcasecmp(base->named_host, host) == 0;
}
