/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list is names with commas between them. A name may have several brackets,
 * each with numbers and ranges of numbers, and stands for every combination.
 * Numbers keep the width of a range's first one: gpu[08-10] is gpu08, gpu09,
 * gpu10. The expansion goes from the left: the first bracket is replaced by
 * each of its numbers, and the rest of the name is expanded behind it.
 */
#include "base/host_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DIGITS_MAX = 9, DEPTH_MAX = 4 };

struct expansion {
    struct host_list *list;
    const char *text; /* the whole, for messages */
    struct err *err;
};

struct range {
    long first, last;
    int width;
};

static int fail(const struct expansion *expansion, const char *what)
{
    return err_set(expansion->err, ERR_USAGE,
                   "invalid list of nodes: '%.200s' %s (for example n[1-4,7])",
                   expansion->text, what);
}

static int add_name(struct expansion *expansion, const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    struct host_list *list = expansion->list;
    size_t length = strlen(name);

    if (length == 0 || length > HOST_NAME_MAX_LENGTH ||
        strspn(name, allowed) != length)
        return err_set(expansion->err, ERR_USAGE,
                       "invalid name of a node: '%.200s' (up to %d letters, "
                       "digits, '.', '_' and '-')",
                       name, HOST_NAME_MAX_LENGTH);
    if (list->count == HOST_LIST_MAX)
        return err_set(expansion->err, ERR_USAGE,
                       "out of range: '%.200s' has more than %d nodes",
                       expansion->text, HOST_LIST_MAX);
    list->names = mem_grow(list->names, list->count, &list->capacity,
                           sizeof(*list->names));
    list->names[list->count++] = mem_copy_string(name);
    return 0;
}

/* "7", "08-10" at *at, which moves behind it and a comma. */
static int take_range(const char **at, struct range *range)
{
    size_t digits = strspn(*at, "0123456789");

    if (digits == 0 || digits > DIGITS_MAX)
        return -1;
    range->width = (int)digits;
    range->first = range->last = strtol(*at, NULL, 10);
    *at += digits;
    if (**at == '-') {
        digits = strspn(++*at, "0123456789");
        if (digits == 0 || digits > DIGITS_MAX)
            return -1;
        range->last = strtol(*at, NULL, 10);
        *at += digits;
    }
    if (**at == ',')
        return range->last >= range->first && *++*at != ']' ? 0 : -1;
    return range->last >= range->first && **at == ']' ? 0 : -1;
}

static int expand(struct expansion *expansion, const char *name, int depth);

/* The first `length` bytes of the name, each number, and the rest. */
static int add_range(struct expansion *expansion, const char *name,
                     const struct range *range, int depth)
{
    int length = (int)strcspn(name, "[");
    const char *rest = strchr(name, ']') + 1;
    int result = 0;

    for (long i = range->first; i <= range->last && result == 0; i++) {
        char *one =
            mem_printf("%.*s%0*ld%s", length, name, range->width, i, rest);

        result = expand(expansion, one, depth + 1);
        free(one);
    }
    return result;
}

static int expand(struct expansion *expansion, const char *name, int depth)
{
    const char *at = strchr(name, '[');
    struct range range;

    if (at == NULL)
        return add_name(expansion, name);
    if (strchr(at, ']') == NULL)
        return fail(expansion, "lacks a ']'");
    if (depth == DEPTH_MAX)
        return fail(expansion, "has too many brackets");
    for (at++; *at != ']';) {
        if (take_range(&at, &range) != 0)
            return fail(expansion, "has something else than numbers and "
                                   "ranges of numbers in brackets");
        if (add_range(expansion, name, &range, depth) != 0)
            return -1;
    }
    return at[-1] != '[' ? 0 : fail(expansion, "has empty brackets");
}

/* Up to the next comma outside of brackets. */
static size_t length_of(const char *text)
{
    size_t length = 0;

    for (int depth = 0;
         text[length] != '\0' && (text[length] != ',' || depth > 0); length++)
        depth += (text[length] == '[') - (text[length] == ']');
    return length;
}

int host_list_add(struct host_list *list, const char *text, struct err *err)
{
    struct expansion expansion = {list, text, err};
    int result = 0;

    do {
        size_t length = length_of(text);
        char *name = mem_copy_bytes(text, length);

        result = expand(&expansion, name, 0);
        free(name);
        text += length;
    } while (result == 0 && *text++ == ',');
    return result;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void host_list_sort(struct host_list *list)
{
    size_t count = 0;

    if (list->count > 0)
        qsort(list->names, list->count, sizeof(*list->names), compare);
    for (size_t i = 0; i < list->count; i++) {
        if (count > 0 && strcmp(list->names[count - 1], list->names[i]) == 0)
            free(list->names[i]);
        else
            list->names[count++] = list->names[i];
    }
    list->count = count;
}

bool host_list_has(const struct host_list *list, const char *name)
{
    return list->count > 0 && bsearch(&name, list->names, list->count,
                                      sizeof(*list->names), compare) != NULL;
}

void host_list_clear(struct host_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    memset(list, 0, sizeof(*list));
}
