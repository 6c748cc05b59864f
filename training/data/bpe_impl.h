/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_BPE_IMPL_H
#define SMTUNE_TRAINING_DATA_BPE_IMPL_H

#include "training/data/bpe.h"
#include "training/util/pair_map.h"

/* A vocabulary, for the files of bpe.h alone. */

struct bpe_merge {
    uint16_t left, right, token;
};

struct bpe_special {
    uint16_t token;
    char *text;
    size_t length;
};

enum bpe_meaning { MEANS_NOTHING, MEANS_BYTE, MEANS_MERGE, MEANS_SPECIAL };

struct bpe_token {
    enum bpe_meaning meaning;
    uint32_t index; /* the byte, the merge, the special */
    uint32_t bytes; /* that it spells */
};

struct bpe {
    enum bpe_words words;
    uint16_t bytes[BPE_BYTES]; /* their tokens */
    struct bpe_merge *merges;
    size_t merge_count, merge_capacity;
    struct pair_map ranks; /* of a pair: which merge it is */
    struct bpe_special *specials;
    size_t special_count, special_capacity;
    bool begins_special[BPE_BYTES]; /* of a byte: whether one begins with it */
    struct bpe_token *tokens;
    size_t size, token_capacity;
};

#endif
