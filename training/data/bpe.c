/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A vocabulary of byte pairs, its use and its file; training/data/bpe_learn.c
 * learns one.
 *
 * Encoding repeats the merges in the order in which they were learned, word by
 * word. A word has at most BPE_WORD_MAX bytes, so the quadratic search for the
 * next merge stays cheap. A file is only accepted if each merge joins two
 * tokens that exist before it and no pair comes twice. Decoding recurses, and
 * this order is what ends it.
 */
#include "training/data/bpe.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "training/util/pair_map.h"

enum { FILE_MAX_BYTES = 1 << 20 };

static const char HEADER[] = "smtrain vocabulary 1\n";

struct merge {
    uint16_t left, right;
};

struct bpe {
    struct merge *merges;
    size_t merge_count, merge_capacity;
    struct pair_map tokens; /* of a pair: what it is merged into */
};

struct bpe *bpe_create(void)
{
    return mem_zero(sizeof(struct bpe));
}

void bpe_destroy(struct bpe *bpe)
{
    if (bpe == NULL)
        return;
    free(bpe->merges);
    pair_map_clear(&bpe->tokens);
    free(bpe);
}

size_t bpe_size(const struct bpe *bpe)
{
    return BPE_BYTES + bpe->merge_count;
}

uint16_t bpe_add(struct bpe *bpe, uint16_t left, uint16_t right)
{
    uint16_t token = (uint16_t)bpe_size(bpe);

    bpe->merges = mem_grow(bpe->merges, bpe->merge_count, &bpe->merge_capacity,
                           sizeof(*bpe->merges));
    bpe->merges[bpe->merge_count++] = (struct merge){left, right};
    pair_map_add(&bpe->tokens, pair_key(left, right), token);
    return token;
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

/* Of the pairs in a word, the one that was merged first: its place, or
 * `count`. */
static size_t first_merge(const struct bpe *bpe, const uint16_t *tokens,
                          size_t count, uint32_t *merged)
{
    size_t best = count;

    *merged = PAIR_MAP_NONE;
    for (size_t i = 0; i + 1 < count; i++) {
        uint32_t token =
            pair_map_get(&bpe->tokens, pair_key(tokens[i], tokens[i + 1]));

        if (token < *merged) {
            *merged = token;
            best = i;
        }
    }
    return best;
}

static size_t encode_word(const struct bpe *bpe, const uint8_t *word,
                          size_t length, uint16_t *tokens)
{
    size_t count = length, at;
    uint32_t merged;

    for (size_t i = 0; i < length; i++)
        tokens[i] = word[i];
    while ((at = first_merge(bpe, tokens, count, &merged)) < count) {
        tokens[at] = (uint16_t)merged;
        memmove(tokens + at + 1, tokens + at + 2,
                (count - at - 2) * sizeof(*tokens));
        count--;
    }
    return count;
}

size_t bpe_encode(const struct bpe *bpe, const uint8_t *text, size_t length,
                  uint16_t *tokens)
{
    size_t count = 0, word;

    for (size_t at = 0; at < length; at += word) {
        word = bpe_word(text + at, length - at);
        count += encode_word(bpe, text + at, word, tokens + count);
    }
    return count;
}

void bpe_decode(const struct bpe *bpe, uint16_t token, struct buf *out)
{
    const struct merge *merge;

    if (token < BPE_BYTES) {
        buf_add_char(out, (char)token);
        return;
    }
    merge = &bpe->merges[token - BPE_BYTES];
    bpe_decode(bpe, merge->left, out);
    bpe_decode(bpe, merge->right, out);
}

void bpe_print(const struct bpe *bpe, char separator, struct buf *out)
{
    for (size_t i = 0; i < bpe->merge_count; i++)
        buf_printf(out, "%d %d%c", bpe->merges[i].left, bpe->merges[i].right,
                   separator);
}

int bpe_save(const struct bpe *bpe, const char *path, struct err *err)
{
    struct buf out = BUF_INIT;
    int status;

    buf_add_string(&out, HEADER);
    bpe_print(bpe, '\n', &out);
    status = fs_write_atomic(path, buf_text(&out), out.length, 0666, err);
    buf_clear(&out);
    return status;
}

/* Of two tokens that there are and were never merged; behind it, or NULL. */
static const char *read_merge(struct bpe *bpe, const char *text, char separator)
{
    unsigned long pair[2];

    for (int i = 0; i < 2; i++) {
        char *end;

        if (!isdigit((unsigned char)*text))
            return NULL;
        pair[i] = strtoul(text, &end, 10);
        if (pair[i] >= bpe_size(bpe) || *end != (i == 0 ? ' ' : separator))
            return NULL;
        text = end + 1;
    }
    if (bpe_size(bpe) == BPE_SIZE_MAX ||
        pair_map_get(&bpe->tokens,
                     pair_key((uint16_t)pair[0], (uint16_t)pair[1])) !=
            PAIR_MAP_NONE)
        return NULL;
    bpe_add(bpe, (uint16_t)pair[0], (uint16_t)pair[1]);
    return text;
}

struct bpe *bpe_parse(const char *text, const char *end, char separator)
{
    struct bpe *bpe = bpe_create();

    while (text != NULL && text < end)
        text = read_merge(bpe, text, separator);
    if (text != NULL)
        return bpe;
    bpe_destroy(bpe);
    return NULL;
}

struct bpe *bpe_load(const char *path, struct err *err)
{
    struct buf file = BUF_INIT;
    struct bpe *bpe = NULL;

    if (fs_read_regular(path, FILE_MAX_BYTES, &file, err) != 0) {
        buf_clear(&file);
        return NULL;
    }
    if (strncmp(buf_text(&file), HEADER, strlen(HEADER)) == 0)
        bpe = bpe_parse(file.data + strlen(HEADER), file.data + file.length,
                        '\n');
    if (bpe == NULL)
        err_set(err, ERR_FILE,
                "'%s' is not a vocabulary of `smtrain vocabulary`", path);
    buf_clear(&file);
    return bpe;
}
