/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "training/data/bpe.h"
#include "training/data/tokenizer_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPELLED_BYTES = 2000 };

/* All bytes come back from their tokens. */
static void spell(const struct bpe *bpe, const uint8_t *text, size_t length)
{
    uint16_t *tokens = calloc(length + 1, sizeof(*tokens));
    struct buf spelled = BUF_INIT;
    size_t count = bpe_encode(bpe, text, length, tokens);

    assert(count <= length);
    for (size_t i = 0; i < count; i++) {
        assert(bpe_is_used(bpe, tokens[i]));
        bpe_decode(bpe, tokens[i], &spelled);
    }
    assert(spelled.length == length);
    assert(memcmp(buf_text(&spelled), text, length) == 0);
    buf_clear(&spelled);
    free(tokens);
}

/* It is the same from the text that a checkpoint has of it. */
static void print_again(const struct bpe *bpe)
{
    struct buf text = BUF_INIT, again = BUF_INIT;
    struct bpe *other;

    bpe_print(bpe, ',', &text);
    other = bpe_parse(buf_text(&text), buf_text(&text) + text.length, ',');
    assert(other != NULL);
    bpe_print(other, ',', &again);
    assert(strcmp(buf_text(&text), buf_text(&again)) == 0);
    bpe_destroy(other);
    buf_clear(&text);
    buf_clear(&again);
}

/* A tokenizer.json, or what a checkpoint has of a vocabulary. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct bpe *bpe;

    buf_add(&text, data, size);
    bpe = tokenizer_parse(buf_text(&text), size, &err);
    assert((bpe == NULL) == (err.kind != ERR_NONE));
    if (bpe != NULL) {
        spell(bpe, data, size < SPELLED_BYTES ? size : SPELLED_BYTES);
        print_again(bpe);
    }
    bpe_destroy(bpe);
    bpe = bpe_parse(buf_text(&text), buf_text(&text) + size, ',');
    if (bpe != NULL)
        print_again(bpe);
    bpe_destroy(bpe);
    buf_clear(&text);
    return 0;
}
