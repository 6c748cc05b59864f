/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/word_list.h"

#include <stdlib.h>

#include "base/mem.h"

void word_list_add(struct word_list *list, char *word)
{
    list->items = mem_grow(list->items, list->count + 1, &list->capacity,
                           sizeof(*list->items));
    list->items[list->count++] = word;
    list->items[list->count] = NULL;
}

void word_list_copy(struct word_list *list, const char *word)
{
    word_list_add(list, mem_copy_string(word));
}

void word_list_drop(struct word_list *list)
{
    free(list->items[--list->count]);
    list->items[list->count] = NULL;
}

void words_free(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}
