/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "training/util/pair_map.h"

/*
 * Words are counted once; then the pair of tokens that is most frequent over
 * all words becomes a token, again and again. Each pair remembers in which
 * words it was ever seen, so that a merge touches no others.
 */

struct word {
    uint64_t count;
    uint8_t length; /* tokens left */
    uint16_t tokens[BPE_WORD_MAX];
};

struct pair {
    uint32_t key;
    int64_t count; /* in the whole text */
    uint32_t *words;
    size_t word_count, word_capacity;
};

struct learner {
    struct word *words;
    size_t word_count, word_capacity;
    struct pair *pairs;
    size_t pair_count, pair_capacity;
    struct pair_map index; /* of a pair in `pairs` */
};

struct piece {
    const uint8_t *start;
    size_t length;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *one = a, *other = b;
    size_t shorter = one->length < other->length ? one->length : other->length;
    int order = memcmp(one->start, other->start, shorter);

    if (order != 0)
        return order;
    return (one->length > other->length) - (one->length < other->length);
}

static void add_word(struct learner *learner, const struct piece *piece,
                     size_t count)
{
    struct word *word;

    learner->words = mem_grow(learner->words, learner->word_count,
                              &learner->word_capacity, sizeof(*word));
    word = &learner->words[learner->word_count++];
    word->count = count;
    word->length = (uint8_t)piece->length;
    for (size_t i = 0; i < piece->length; i++)
        word->tokens[i] = piece->start[i];
}

static void count_words(struct learner *learner, const uint8_t *text,
                        size_t length)
{
    struct piece *pieces = NULL;
    size_t count = 0, capacity = 0, same;

    for (size_t at = 0; at < length; at += pieces[count++].length) {
        pieces = mem_grow(pieces, count, &capacity, sizeof(*pieces));
        pieces[count] =
            (struct piece){text + at, bpe_word(text + at, length - at)};
    }
    if (count > 0)
        qsort(pieces, count, sizeof(*pieces), compare_pieces);
    for (size_t i = 0; i < count; i += same) {
        same = 1;
        while (i + same < count &&
               compare_pieces(&pieces[i], &pieces[i + same]) == 0)
            same++;
        add_word(learner, &pieces[i], same);
    }
    free(pieces);
}

static struct pair *pair_of(struct learner *learner, uint32_t key)
{
    uint32_t index = pair_map_get(&learner->index, key);

    if (index == PAIR_MAP_NONE) {
        index = (uint32_t)learner->pair_count++;
        learner->pairs =
            mem_grow(learner->pairs, index, &learner->pair_capacity,
                     sizeof(*learner->pairs));
        learner->pairs[index] = (struct pair){.key = key};
        pair_map_add(&learner->index, key, index);
    }
    return &learner->pairs[index];
}

/* Counts the pairs of a word, or takes them back with sign -1. */
static void count_pairs(struct learner *learner, uint32_t index, int sign)
{
    const struct word *word = &learner->words[index];

    for (int i = 0; i + 1 < word->length; i++) {
        struct pair *pair =
            pair_of(learner, pair_key(word->tokens[i], word->tokens[i + 1]));

        pair->count += sign * (int64_t)word->count;
        if (sign < 0 || (pair->word_count > 0 &&
                         pair->words[pair->word_count - 1] == index))
            continue;
        pair->words = mem_grow(pair->words, pair->word_count,
                               &pair->word_capacity, sizeof(*pair->words));
        pair->words[pair->word_count++] = index;
    }
}

/* Of equals the one whose tokens are older. NULL: no pair comes twice. */
static struct pair *most_frequent(struct learner *learner)
{
    struct pair *best = NULL;

    for (size_t i = 0; i < learner->pair_count; i++) {
        struct pair *pair = &learner->pairs[i];

        if (pair->count < 2)
            continue;
        if (best == NULL || pair->count > best->count ||
            (pair->count == best->count && pair->key < best->key))
            best = pair;
    }
    return best;
}

static void merge_in_word(struct word *word, uint16_t left, uint16_t right,
                          uint16_t token)
{
    int to = 0;

    for (int i = 0; i < word->length; i++) {
        if (i + 1 < word->length && word->tokens[i] == left &&
            word->tokens[i + 1] == right) {
            word->tokens[to++] = token;
            i++;
        } else {
            word->tokens[to++] = word->tokens[i];
        }
    }
    word->length = (uint8_t)to;
}

static void merge(struct learner *learner, struct bpe *bpe, struct pair *pair)
{
    const uint16_t left = (uint16_t)(pair->key >> 16);
    const uint16_t right = (uint16_t)pair->key;
    const uint16_t token = bpe_add(bpe, left, right);
    uint32_t *words = pair->words;
    size_t count = pair->word_count;

    pair->words = NULL; /* pairs may move below */
    pair->word_count = pair->word_capacity = 0;
    for (size_t i = 0; i < count; i++) {
        count_pairs(learner, words[i], -1);
        merge_in_word(&learner->words[words[i]], left, right, token);
        count_pairs(learner, words[i], 1);
    }
    free(words);
}

struct bpe *bpe_learn(const uint8_t *text, size_t length, size_t size)
{
    struct learner learner = {0};
    struct bpe *bpe = bpe_create();
    struct pair *pair;

    count_words(&learner, text, length);
    for (size_t i = 0; i < learner.word_count; i++)
        count_pairs(&learner, (uint32_t)i, 1);
    while (bpe_size(bpe) < size && (pair = most_frequent(&learner)) != NULL)
        merge(&learner, bpe, pair);
    for (size_t i = 0; i < learner.pair_count; i++)
        free(learner.pairs[i].words);
    free(learner.words);
    free(learner.pairs);
    pair_map_clear(&learner.index);
    return bpe;
}
