/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/env_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void append(struct env_list *list, char *item)
{
    list->items = mem_grow(list->items, list->count + 1, &list->capacity,
                           sizeof(*list->items));
    list->items[list->count++] = item;
    list->items[list->count] = NULL;
}

static char **find(const struct env_list *list, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i][0] == name[0] &&
            strncmp(list->items[i], name, length) == 0 &&
            list->items[i][length] == '=')
            return &list->items[i];
    }
    return NULL;
}

void env_list_inherit(struct env_list *list, char *const *environment)
{
    for (; *environment != NULL; environment++)
        append(list, mem_copy_string(*environment));
}

static char *join(const char *name, const char *value)
{
    size_t name_length = strlen(name), value_length = strlen(value);
    char *item = mem_alloc(name_length + value_length + 2);

    memcpy(item, name, name_length);
    item[name_length] = '=';
    memcpy(item + name_length + 1, value, value_length + 1);
    return item;
}

void env_list_set(struct env_list *list, const char *name, const char *value)
{
    char *item = join(name, value);
    char **old = find(list, name);

    if (old != NULL) {
        free(*old);
        *old = item;
    } else {
        append(list, item);
    }
}

void env_list_printf(struct env_list *list, const char *name,
                     const char *format, ...)
{
    va_list args;
    char *value;

    va_start(args, format);
    value = mem_vprintf(format, args);
    va_end(args);
    env_list_set(list, name, value);
    free(value);
}

void env_list_unset(struct env_list *list, const char *name)
{
    char **item = find(list, name);

    if (item == NULL)
        return;
    free(*item);
    *item = list->items[--list->count];
    list->items[list->count] = NULL;
}

const char *env_list_get(const struct env_list *list, const char *name)
{
    char **item = find(list, name);

    return item != NULL ? *item + strlen(name) + 1 : NULL;
}

void env_list_clear(struct env_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct env_list){0};
}
