/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/buf.h"
#include "executors/slurm/talk/rest_impl.h"

/* Text is walked through as far as needed to tell where a value ends; what it
 * is made of is for the JSON parser. NULL: it does not end. */

static const char *skip_blank(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at) != NULL && *at != '\0')
        at++;
    return at;
}

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : NULL;
}

static const char *skip_nested(const char *at, const char *end)
{
    size_t depth = 0;

    do {
        if (*at == '"') {
            at = skip_string(at, end);
            if (at == NULL)
                return NULL;
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    } while (depth > 0 && at < end);
    return depth == 0 ? at : NULL;
}

static const char *skip_value(const char *at, const char *end)
{
    const char *start = at;

    if (at < end && *at == '"')
        return skip_string(at, end);
    if (at < end && (*at == '{' || *at == '['))
        return skip_nested(at, end);
    while (at < end && (strchr(",]} \t\r\n", *at) == NULL || *at == '\0'))
        at++;
    return at > start && at < end ? at : NULL;
}

/* at is behind the '['; the result behind the ']'. */
static const char *walk(const char *at, const char *end,
                        const struct slurm_rest_part *part)
{
    for (;;) {
        const char *item = skip_blank(at, end);

        if (item < end && *item == ']')
            return item + 1;
        at = skip_value(item, end);
        if (at == NULL ||
            part->each(part->user, item, (size_t)(at - item)) != 0)
            return NULL;
        at = skip_blank(at, end);
        if (at < end && *at == ',')
            at++;
    }
}

static bool is_name(const char *key, const char *end, const char *name)
{
    size_t length = strlen(name);

    return (size_t)(end - key) == length + 2 &&
           memcmp(key + 1, name, length) == 0;
}

int slurm_rest_cut(const char *text, size_t length,
                   const struct slurm_rest_part *part, struct buf *rest)
{
    const char *end = text + length, *at = skip_blank(text, end);

    if (at == end || *at != '{')
        return -1;
    for (at = skip_blank(at + 1, end); at < end && *at == '"';) {
        const char *key = at, *key_end = skip_string(at, end), *value;

        if (key_end == NULL)
            return -1;
        value = skip_blank(key_end, end);
        if (value == end || *value != ':')
            return -1;
        value = skip_blank(value + 1, end);
        buf_add_string(rest, rest->length == 0 ? "{" : ",");
        buf_add(rest, key, (size_t)(key_end - key));
        buf_add_char(rest, ':');
        if (value < end && *value == '[' && is_name(key, key_end, part->name)) {
            at = walk(value + 1, end, part);
            buf_add_string(rest, "[]");
        } else {
            at = skip_value(value, end);
            if (at != NULL)
                buf_add(rest, value, (size_t)(at - value));
        }
        if (at == NULL)
            return -1;
        at = skip_blank(at, end);
        if (at < end && *at == ',')
            at = skip_blank(at + 1, end);
    }
    buf_add_string(rest, rest->length == 0 ? "{}" : "}");
    return at < end && *at == '}' && skip_blank(at + 1, end) == end ? 0 : -1;
}
