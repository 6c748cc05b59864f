/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_WORD_LIST_H
#define SMTUNE_BASE_WORD_LIST_H

#include <stddef.h>

/* The words of a command under way. Embedded; {0} is the empty one. */
struct word_list {
    char **items; /* [count], and a NULL behind them once there is one */
    size_t count, capacity;
};

/* Takes the word, which is on the heap. */
void word_list_add(struct word_list *list, char *word);
/* Adds a copy of it. */
void word_list_copy(struct word_list *list, const char *word);
/* Removes the last word; there is one. */
void word_list_drop(struct word_list *list);
/* Frees a NULL-ended array and its words; NULL is nothing to free. */
void words_free(char **words);

#endif
