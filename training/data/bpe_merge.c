/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The merges of a word: again and again of all its pairs the one that was
 * learned first, of several such ones the leftmost.
 *
 * Words are short, so the next merge is searched in all of the word. One of
 * GPT-2's may be as long as the text, for example without any space. A long
 * word has its pairs in a heap by (merge, place). A pair whose tokens have been
 * merged since stays there until it is first, and is then left out.
 */
#include "training/data/bpe_merge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "training/data/bpe_impl.h"

enum { SHORT_TOKENS = 64 };

static const size_t NONE = SIZE_MAX;

static size_t merge_short(const struct bpe *bpe, uint16_t *tokens, size_t count)
{
    for (;;) {
        uint32_t first = PAIR_MAP_NONE;
        size_t best = count;

        for (size_t i = 0; i + 1 < count; i++) {
            uint32_t rank =
                pair_map_get(&bpe->ranks, pair_key(tokens[i], tokens[i + 1]));

            if (rank < first) {
                first = rank;
                best = i;
            }
        }
        if (best == count)
            return count;
        tokens[best] = bpe->merges[first].token;
        memmove(tokens + best + 1, tokens + best + 2,
                (count - best - 2) * sizeof(*tokens));
        count--;
    }
}

struct pair {
    uint32_t rank;
    size_t at; /* of its left token */
};

/* A long word: its tokens stay where they are, and are linked. */
struct long_word {
    const struct bpe *bpe;
    uint16_t *tokens;
    size_t *before, *behind; /* the neighbours, or NONE */
    bool *is_merged;         /* into the one before it */
    struct pair *heap;
    size_t pairs;
};

static bool is_first(const struct pair *one, const struct pair *other)
{
    return one->rank < other->rank ||
           (one->rank == other->rank && one->at < other->at);
}

static void swap(struct pair *one, struct pair *other)
{
    struct pair pair = *one;

    *one = *other;
    *other = pair;
}

static void push(struct long_word *word, size_t at)
{
    size_t next = word->behind[at], i = word->pairs;
    uint32_t rank = PAIR_MAP_NONE;

    if (next != NONE)
        rank = pair_map_get(&word->bpe->ranks,
                            pair_key(word->tokens[at], word->tokens[next]));
    if (rank == PAIR_MAP_NONE)
        return;
    word->heap[word->pairs++] = (struct pair){rank, at};
    for (; i > 0 && is_first(&word->heap[i], &word->heap[(i - 1) / 2]);
         i = (i - 1) / 2)
        swap(&word->heap[i], &word->heap[(i - 1) / 2]);
}

static struct pair pop(struct long_word *word)
{
    struct pair first = word->heap[0];
    size_t i = 0, child;

    word->heap[0] = word->heap[--word->pairs];
    while ((child = 2 * i + 1) < word->pairs) {
        if (child + 1 < word->pairs &&
            is_first(&word->heap[child + 1], &word->heap[child]))
            child++;
        if (!is_first(&word->heap[child], &word->heap[i]))
            break;
        swap(&word->heap[i], &word->heap[child]);
        i = child;
    }
    return first;
}

/* Whether the tokens of the pair are still those of its merge. */
static bool holds(const struct long_word *word, const struct pair *pair)
{
    const struct bpe_merge *merge = &word->bpe->merges[pair->rank];
    size_t next = word->behind[pair->at];

    return !word->is_merged[pair->at] && next != NONE &&
           word->tokens[pair->at] == merge->left &&
           word->tokens[next] == merge->right;
}

static void merge_pair(struct long_word *word, const struct pair *pair)
{
    size_t at = pair->at, next = word->behind[at];

    word->tokens[at] = word->bpe->merges[pair->rank].token;
    word->is_merged[next] = true;
    word->behind[at] = word->behind[next];
    if (word->behind[at] != NONE)
        word->before[word->behind[at]] = at;
    if (word->before[at] != NONE)
        push(word, word->before[at]);
    push(word, at);
}

/* A merge takes a pair away and adds at most two. */
static size_t merge_long(const struct bpe *bpe, uint16_t *tokens, size_t count)
{
    struct long_word word = {bpe,
                             tokens,
                             mem_array(count, sizeof(size_t)),
                             mem_array(count, sizeof(size_t)),
                             mem_array(count, sizeof(bool)),
                             mem_array(3 * count, sizeof(struct pair)),
                             0};
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        word.before[i] = i > 0 ? i - 1 : NONE;
        word.behind[i] = i + 1 < count ? i + 1 : NONE;
    }
    for (size_t i = 0; i < count; i++)
        push(&word, i);
    while (word.pairs > 0) {
        struct pair pair = pop(&word);

        if (holds(&word, &pair))
            merge_pair(&word, &pair);
    }
    for (size_t i = 0; i < count; i++)
        if (!word.is_merged[i])
            tokens[left++] = tokens[i];
    free(word.before);
    free(word.behind);
    free(word.is_merged);
    free(word.heap);
    return left;
}

size_t bpe_merge_word(const struct bpe *bpe, uint16_t *tokens, size_t count)
{
    return count <= SHORT_TOKENS ? merge_short(bpe, tokens, count)
                                 : merge_long(bpe, tokens, count);
}
