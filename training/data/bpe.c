/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A vocabulary of byte pairs and its use; training/data/bpe_learn.c learns one,
 * training/data/bpe_text.c has its text, training/data/bpe_merge.c its merges.
 *
 * A merge joins two tokens that have a meaning before it, and no pair comes
 * twice. Decoding recurses, and this order is what ends it. Tokens that double
 * the one before them would soon spell more than fits in memory, so there is a
 * limit.
 */
#include "training/data/bpe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "training/data/bpe_impl.h"
#include "training/data/bpe_merge.h"
#include "training/data/gpt2_words.h"

static size_t (*const words[])(const uint8_t *text, size_t length) = {
    [BPE_WORDS_SMTRAIN] = bpe_word, [BPE_WORDS_GPT2] = gpt2_word};

struct bpe *bpe_begin(enum bpe_words how, size_t size)
{
    struct bpe *bpe = mem_zero(sizeof(*bpe));

    bpe->words = how;
    bpe->tokens = mem_array(size, sizeof(*bpe->tokens));
    bpe->size = bpe->token_capacity = size;
    return bpe;
}

struct bpe *bpe_create(void)
{
    struct bpe *bpe = bpe_begin(BPE_WORDS_SMTRAIN, BPE_BYTES);

    for (int i = 0; i < BPE_BYTES; i++)
        bpe_set_byte(bpe, (uint8_t)i, (uint16_t)i);
    return bpe;
}

void bpe_destroy(struct bpe *bpe)
{
    if (bpe == NULL)
        return;
    for (size_t i = 0; i < bpe->special_count; i++)
        free(bpe->specials[i].text);
    free(bpe->specials);
    free(bpe->merges);
    free(bpe->tokens);
    pair_map_clear(&bpe->ranks);
    free(bpe);
}

size_t bpe_size(const struct bpe *bpe)
{
    return bpe->size;
}

static bool is_free(const struct bpe *bpe, uint16_t token)
{
    return token < bpe->size && bpe->tokens[token].meaning == MEANS_NOTHING;
}

int bpe_set_byte(struct bpe *bpe, uint8_t byte, uint16_t token)
{
    if (!is_free(bpe, token))
        return -1;
    bpe->bytes[byte] = token;
    bpe->tokens[token] = (struct bpe_token){MEANS_BYTE, byte, 1};
    return 0;
}

/* Whether merges may have it as a part. */
static bool is_ordinary(const struct bpe *bpe, uint16_t token)
{
    return bpe_is_used(bpe, token) && !bpe_is_special(bpe, token);
}

int bpe_set_merge(struct bpe *bpe, uint16_t left, uint16_t right,
                  uint16_t token)
{
    uint32_t key = pair_key(left, right), bytes;

    if (!is_ordinary(bpe, left) || !is_ordinary(bpe, right))
        return -1;
    bytes = bpe->tokens[left].bytes + bpe->tokens[right].bytes;
    /* Two merges may come to the same token, where both spell it. */
    if (token >= bpe->size || bytes > BPE_TOKEN_MAX ||
        (bpe->tokens[token].meaning != MEANS_NOTHING &&
         bpe->tokens[token].meaning != MEANS_MERGE) ||
        pair_map_get(&bpe->ranks, key) != PAIR_MAP_NONE)
        return -1;
    bpe->merges = mem_grow(bpe->merges, bpe->merge_count, &bpe->merge_capacity,
                           sizeof(*bpe->merges));
    pair_map_add(&bpe->ranks, key, (uint32_t)bpe->merge_count);
    if (bpe->tokens[token].meaning == MEANS_NOTHING)
        bpe->tokens[token] =
            (struct bpe_token){MEANS_MERGE, (uint32_t)bpe->merge_count, bytes};
    bpe->merges[bpe->merge_count++] = (struct bpe_merge){left, right, token};
    return 0;
}

int bpe_set_special(struct bpe *bpe, uint16_t token, const char *text)
{
    struct bpe_special *special;

    if (!is_free(bpe, token) || *text == '\0' ||
        strnlen(text, BPE_SPECIAL_MAX + 1) > BPE_SPECIAL_MAX)
        return -1;
    bpe->specials = mem_grow(bpe->specials, bpe->special_count,
                             &bpe->special_capacity, sizeof(*bpe->specials));
    special = &bpe->specials[bpe->special_count];
    *special = (struct bpe_special){token, mem_copy_string(text), strlen(text)};
    bpe->begins_special[(unsigned char)*text] = true;
    bpe->tokens[token] =
        (struct bpe_token){MEANS_SPECIAL, (uint32_t)bpe->special_count++,
                           (uint32_t)special->length};
    return 0;
}

void bpe_widen(struct bpe *bpe, size_t size)
{
    if (size <= bpe->size)
        return;
    bpe->tokens = mem_resize(bpe->tokens, size, sizeof(*bpe->tokens));
    memset(bpe->tokens + bpe->size, 0,
           (size - bpe->size) * sizeof(*bpe->tokens));
    bpe->size = bpe->token_capacity = size;
}

uint16_t bpe_add(struct bpe *bpe, uint16_t left, uint16_t right)
{
    uint16_t token = (uint16_t)bpe->size;

    bpe->tokens = mem_grow(bpe->tokens, bpe->size, &bpe->token_capacity,
                           sizeof(*bpe->tokens));
    bpe->tokens[bpe->size++] = (struct bpe_token){MEANS_NOTHING, 0, 0};
    bpe_set_merge(bpe, left, right, token);
    return token;
}

enum bpe_words bpe_words(const struct bpe *bpe)
{
    return bpe->words;
}

uint16_t bpe_byte_token(const struct bpe *bpe, uint8_t byte)
{
    return bpe->bytes[byte];
}

size_t bpe_merge_count(const struct bpe *bpe)
{
    return bpe->merge_count;
}

void bpe_merge(const struct bpe *bpe, size_t i, uint16_t parts[2],
               uint16_t *token)
{
    parts[0] = bpe->merges[i].left;
    parts[1] = bpe->merges[i].right;
    *token = bpe->merges[i].token;
}

bool bpe_is_used(const struct bpe *bpe, uint16_t token)
{
    return token < bpe->size && bpe->tokens[token].meaning != MEANS_NOTHING;
}

bool bpe_is_special(const struct bpe *bpe, uint16_t token)
{
    return token < bpe->size && bpe->tokens[token].meaning == MEANS_SPECIAL;
}

/* Bytes over 127 are parts of letters in UTF-8. */
static int kind_of(uint8_t byte)
{
    if (byte >= 128 || isalpha(byte))
        return 0;
    if (isdigit(byte))
        return 1;
    return isspace(byte) ? 2 : 3;
}

size_t bpe_word(const uint8_t *text, size_t length)
{
    size_t most = length < BPE_WORD_MAX ? length : BPE_WORD_MAX;
    size_t start = text[0] == ' ' && most > 1 ? 1 : 0;
    int kind = kind_of(text[start]);
    size_t end = start + 1;

    while (end < most && kind_of(text[end]) == kind)
        end++;
    return end;
}

/* The longest special text that begins here, or NULL. */
static const struct bpe_special *special_at(const struct bpe *bpe,
                                            const uint8_t *text, size_t length)
{
    const struct bpe_special *found = NULL;

    if (!bpe->begins_special[*text])
        return NULL;
    for (size_t i = 0; i < bpe->special_count; i++) {
        const struct bpe_special *special = &bpe->specials[i];

        if (special->length <= length &&
            memcmp(text, special->text, special->length) == 0 &&
            (found == NULL || special->length > found->length))
            found = special;
    }
    return found;
}

/* The next special text, or NULL; *before: how many bytes are before it. */
static const struct bpe_special *next_special(const struct bpe *bpe,
                                              const uint8_t *text,
                                              size_t length, size_t *before)
{
    const struct bpe_special *special = NULL;
    size_t at = bpe->special_count > 0 ? 0 : length;

    while (at < length &&
           (special = special_at(bpe, text + at, length - at)) == NULL)
        at++;
    *before = at;
    return special;
}

static size_t encode_words(const struct bpe *bpe, const uint8_t *text,
                           size_t length, uint16_t *tokens)
{
    size_t count = 0, word;

    for (size_t at = 0; at < length; at += word) {
        word = words[bpe->words](text + at, length - at);
        for (size_t i = 0; i < word; i++)
            tokens[count + i] = bpe->bytes[text[at + i]];
        count += bpe_merge_word(bpe, tokens + count, word);
    }
    return count;
}

size_t bpe_encode(const struct bpe *bpe, const uint8_t *text, size_t length,
                  uint16_t *tokens)
{
    size_t count = 0, before;

    while (length > 0) {
        const struct bpe_special *special =
            next_special(bpe, text, length, &before);

        count += encode_words(bpe, text, before, tokens + count);
        if (special != NULL) {
            tokens[count++] = special->token;
            before += special->length;
        }
        text += before;
        length -= before;
    }
    return count;
}

void bpe_decode(const struct bpe *bpe, uint16_t token, struct buf *out)
{
    uint32_t index = bpe->tokens[token].index;

    switch (bpe->tokens[token].meaning) {
    case MEANS_NOTHING:
        return;
    case MEANS_BYTE:
        buf_add_char(out, (char)index);
        return;
    case MEANS_MERGE:
        bpe_decode(bpe, bpe->merges[index].left, out);
        bpe_decode(bpe, bpe->merges[index].right, out);
        return;
    case MEANS_SPECIAL:
        buf_add(out, bpe->specials[index].text, bpe->specials[index].length);
        return;
    }
}
