/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/match.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

enum { ID_DIGITS_MAX = 18 };

/* A whole number over 0 in decimal, as far as digits go; its length, or 0. */
static size_t read_id(const char *text, int64_t *id)
{
    size_t length = strspn(text, "0123456789");

    if (length == 0 || length > ID_DIGITS_MAX || text[0] == '0')
        return 0;
    *id = strtoll(text, NULL, 10);
    return length;
}

/* The path ends where the query begins. */
static bool path_matches(const char *pattern, const char *path,
                         int64_t ids[ROUTE_IDS_MAX])
{
    size_t count = 0, length;

    while (*pattern != '\0') {
        if (*pattern == '{') {
            length = count < ROUTE_IDS_MAX ? read_id(path, &ids[count++]) : 0;
            if (length == 0)
                return false;
            path += length;
            pattern = strchr(pattern, '}') + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0' || *path == '?';
}

int match_query(const struct route *route, const char *name)
{
    for (int i = 0; i < ROUTE_QUERIES_MAX; i++) {
        if (route->queries[i].name == NULL)
            break;
        if (strcmp(route->queries[i].name, name) == 0)
            return i;
    }
    return -1;
}

static int unknown_query(const struct route *route, const char *name,
                         struct err *err)
{
    const char *names[ROUTE_QUERIES_MAX];
    size_t count = 0;

    while (count < ROUTE_QUERIES_MAX && route->queries[count].name != NULL) {
        names[count] = route->queries[count].name;
        count++;
    }
    if (count == 0)
        return err_set(err, ERR_USAGE, "this address takes no query");
    return text_unknown("query", name, names, count, ERR_USAGE, err);
}

/* -1 where it is no two hexadecimal digits. */
static int read_escape(const char *text, const char *end)
{
    const char digits[] = "0123456789abcdef";
    int byte = 0;

    if (end - text < 2)
        return -1;
    for (int i = 0; i < 2; i++) {
        const char *digit = memchr(digits, tolower((unsigned char)text[i]), 16);

        if (digit == NULL)
            return -1;
        byte = byte * 16 + (int)(digit - digits);
    }
    return byte;
}

static bool is_clean(const char *text, size_t length)
{
    while (length > 0) {
        uint32_t rune;
        size_t bytes = text_next_rune(text, length, &rune);

        if (bytes == 0 || rune < ' ' || rune == 0x7f)
            return false;
        text += bytes;
        length -= bytes;
    }
    return true;
}

/* Decoded text without control characters, the caller's to free; or NULL. */
static char *decode(const char *text, const char *end, struct err *err)
{
    struct buf out = BUF_INIT;
    int byte = 0;

    for (; text < end && byte >= 0; text++) {
        byte = *text == '+' ? ' ' : (unsigned char)*text;
        if (byte == '%') {
            byte = read_escape(text + 1, end);
            text += 2;
        }
        buf_add_char(&out, (char)byte);
    }
    if (byte >= 0 && is_clean(buf_text(&out), out.length))
        return buf_take(&out);
    buf_clear(&out);
    err_set(err, ERR_USAGE, "the query is not UTF-8 text escaped with %%");
    return NULL;
}

static int check_int(const struct route_query *query, const char *text,
                     int64_t *value, struct err *err)
{
    char *end;

    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 ||
        isspace((unsigned char)text[0]) || text[0] == '+')
        return err_set(err, ERR_USAGE,
                       "query '%s': expected an integer, got '%s'", query->name,
                       text);
    if (*value < query->min || *value > query->max)
        return err_set(err, ERR_USAGE,
                       "query '%s': %lld is out of range %lld..%lld",
                       query->name, (long long)*value, (long long)query->min,
                       (long long)query->max);
    return 0;
}

/* One name=value, of which both are the caller's. */
static int take_query(struct match *match, const char *name, char **value,
                      struct err *err)
{
    int at = match_query(match->route, name);
    const struct route_query *query;

    if (at < 0)
        return unknown_query(match->route, name, err);
    if (match->texts[at] != NULL)
        return err_set(err, ERR_USAGE, "duplicate query '%s'", name);
    query = &match->route->queries[at];
    if (query->type == QUERY_INT &&
        check_int(query, *value, &match->ints[at], err) < 0)
        return -1;
    match->texts[at] = *value;
    *value = NULL;
    return 0;
}

static int read_query(struct match *match, const char *text, struct err *err)
{
    int status = 0;

    while (status == 0 && *text != '\0') {
        const char *end = text + strcspn(text, "&");
        const char *sign = memchr(text, '=', (size_t)(end - text));
        char *name = decode(text, sign != NULL ? sign : end, err);
        char *value = decode(sign != NULL ? sign + 1 : end, end, err);

        status = name == NULL || value == NULL ? -1 : 0;
        if (status == 0 && end > text)
            status = take_query(match, name, &value, err);
        free(name);
        free(value);
        text = *end == '&' ? end + 1 : end;
    }
    return status;
}

static void fall_back(struct match *match)
{
    for (size_t i = 0; i < ROUTE_QUERIES_MAX; i++) {
        const struct route_query *query = &match->route->queries[i];

        if (query->name == NULL)
            break;
        if (match->texts[i] != NULL || query->fallback == NULL)
            continue;
        match->texts[i] = mem_copy_string(query->fallback);
        if (query->type == QUERY_INT)
            match->ints[i] = strtoll(query->fallback, NULL, 10);
    }
}

static void add_allowed(struct match *match, const struct route *route)
{
    const char *methods =
        strcmp(route->method, "GET") == 0 ? "GET, HEAD" : route->method;
    char *allow = match->allow[0] == '\0'
                      ? mem_copy_string(methods)
                      : mem_printf("%s, %s", match->allow, methods);

    snprintf(match->allow, sizeof(match->allow), "%s", allow);
    free(allow);
}

int match_find(const struct route *const *tables, const char *method,
               const char *target, struct match *match, struct err *err)
{
    const char *query = strchr(target, '?');

    *match = (struct match){0};
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    for (; *tables != NULL && match->route == NULL; tables++) {
        for (const struct route *route = *tables; route->method != NULL;
             route++) {
            if (!path_matches(route->path, target, match->ids))
                continue;
            add_allowed(match, route);
            if (strcmp(route->method, method) == 0) {
                match->route = route;
                break;
            }
        }
    }
    if (match->route == NULL)
        return match->allow[0] == '\0' ? 404 : 405;
    if (query != NULL && read_query(match, query + 1, err) < 0)
        return 400;
    fall_back(match);
    return 200;
}

void match_clear(struct match *match)
{
    for (size_t i = 0; i < ROUTE_QUERIES_MAX; i++)
        free(match->texts[i]);
}
