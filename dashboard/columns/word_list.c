/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/columns/word_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 16 };

struct word_list {
    char **words;
    size_t count, capacity, max;
    /* [slot_count], a power of two: a place + 1, or 0. At most half are used.
     */
    uint32_t *slots;
    size_t slot_count;
};

struct word_list *word_list_create(size_t max)
{
    struct word_list *list = mem_zero(sizeof(*list));

    list->max = max;
    list->slot_count = FIRST_SLOTS;
    list->slots = mem_array(list->slot_count, sizeof(*list->slots));
    return list;
}

void word_list_destroy(struct word_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        free(list->words[i]);
    free(list->words);
    free(list->slots);
    free(list);
}

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *word)
{
    uint64_t sum = 0xcbf29ce484222325;

    for (; *word != '\0'; word++)
        sum = (sum ^ (unsigned char)*word) * 0x100000001b3;
    return sum;
}

/* The slot that holds the word, or is free for it. */
static uint32_t *find_slot(const struct word_list *list, const char *word)
{
    size_t mask = list->slot_count - 1;
    size_t slot = (size_t)hash(word) & mask;

    while (list->slots[slot] != 0 &&
           strcmp(list->words[list->slots[slot] - 1], word) != 0)
        slot = (slot + 1) & mask;
    return &list->slots[slot];
}

static void double_slots(struct word_list *list)
{
    free(list->slots);
    list->slot_count *= 2;
    list->slots = mem_array(list->slot_count, sizeof(*list->slots));
    for (size_t i = 0; i < list->count; i++)
        *find_slot(list, list->words[i]) = (uint32_t)i + 1;
}

size_t word_list_place(struct word_list *list, const char *word)
{
    uint32_t *slot = find_slot(list, word);

    if (*slot != 0)
        return *slot - 1;
    if (list->count == list->max)
        return list->max - 1;
    if (list->count == list->max - 1)
        word = "(others)";
    if (2 * (list->count + 1) > list->slot_count)
        double_slots(list);
    slot = find_slot(list, word);
    list->words =
        mem_grow(list->words, list->count, &list->capacity, sizeof(char *));
    list->words[list->count++] = mem_copy_string(word);
    *slot = (uint32_t)list->count;
    return list->count - 1;
}

size_t word_list_count(const struct word_list *list)
{
    return list->count;
}

const char *word_list_get(const struct word_list *list, size_t place)
{
    return list->words[place];
}
