/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_COLUMNS_WORD_LIST_H
#define SMTUNE_DASHBOARD_COLUMNS_WORD_LIST_H

#include <stddef.h>

/* Different texts by their place in a list that only grows. */
struct word_list;

/* Words over `max` are one, "(others)", the last of them. */
struct word_list *word_list_create(size_t max);
void word_list_destroy(struct word_list *list); /* NULL is allowed */
/* The word's place, from 0; it is added if it is new. */
size_t word_list_place(struct word_list *list, const char *word);
size_t word_list_count(const struct word_list *list);
const char *word_list_get(const struct word_list *list, size_t place);

#endif
