/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_BPE_H
#define SMTUNE_TRAINING_DATA_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;

/*
 * Byte-pair encoding on bytes (Sennrich, Haddow and Birch, "Neural machine
 * translation of rare words with subword units", ACL 2016, algorithm 1;
 * Radford et al., 2019, section 2.2). Of the vocabularies of smtrain tokens
 * 0 .. 255 are the bytes, and token 256 + i is the i-th merge of two tokens
 * before it. Others number their tokens in other ways, and have special tokens,
 * as GPT-2's <|endoftext|>. Every string of bytes has tokens, and these spell
 * it.
 *
 * No token but a special one goes past a word, which enum bpe_words defines.
 */
struct bpe;

enum {
    BPE_BYTES = 256,
    BPE_SIZE_MAX = 65536,
    BPE_WORD_MAX = 32,    /* bytes of a word of BPE_WORDS_SMTRAIN */
    BPE_TOKEN_MAX = 1024, /* bytes that merges spell */
    BPE_SPECIAL_MAX = 256 /* bytes of a special token's text */
};

enum bpe_words {
    BPE_WORDS_SMTRAIN, /* a run of letters, of digits, of white space or of
                          other bytes, with the one space before it if any, cut
                          after BPE_WORD_MAX bytes */
    BPE_WORDS_GPT2     /* gpt2_words.h */
};

/* The bytes alone. */
struct bpe *bpe_create(void);
/* Learns from a text so many tokens, those of bytes included; fewer where no
 * pair comes twice. A function of both alone. size: at most BPE_SIZE_MAX. */
struct bpe *bpe_learn(const uint8_t *text, size_t length, size_t size);
/* The same of a file: ERR_NOT_FOUND, or ERR_FILE for what bpe_save did not
 * write. */
struct bpe *bpe_load(const char *path, struct err *err);
int bpe_save(const struct bpe *bpe, const char *path, struct err *err);
/* All of it as text: of a vocabulary of smtrain its merges as "LEFT RIGHT",
 * each with a separator behind it. */
void bpe_print(const struct bpe *bpe, char separator, struct buf *out);
/* Of what bpe_print appended, up to `end`; NULL where it is something else. */
struct bpe *bpe_parse(const char *text, const char *end, char separator);
void bpe_destroy(struct bpe *bpe); /* takes NULL */

/* Tokens are 0 .. size - 1; of another's vocabulary some may be unused. */
size_t bpe_size(const struct bpe *bpe);
/* Adds a merge of two tokens that there are: the new token. */
uint16_t bpe_add(struct bpe *bpe, uint16_t left, uint16_t right);
/* How many tokens the text comes to; tokens[length] holds them all. */
size_t bpe_encode(const struct bpe *bpe, const uint8_t *text, size_t length,
                  uint16_t *tokens);
/* Appends what a token spells. */
void bpe_decode(const struct bpe *bpe, uint16_t token, struct buf *out);

/* The length of the word that a text begins with, by BPE_WORDS_SMTRAIN;
 * length > 0. */
size_t bpe_word(const uint8_t *text, size_t length);

/* Vocabularies of others, piece by piece. */

/* Begins one of so many tokens, all of them unused. */
struct bpe *bpe_begin(enum bpe_words words, size_t size);
/* The following give a meaning to a token. -1: it has another one, or is not
 * below the size. */
int bpe_set_byte(struct bpe *bpe, uint8_t byte, uint16_t token);
/* Merges count in the order in which they are set. -1 too where a part has no
 * meaning yet, the two have been merged already, or they spell more than
 * BPE_TOKEN_MAX bytes. */
int bpe_set_merge(struct bpe *bpe, uint16_t left, uint16_t right,
                  uint16_t token);
/* A text of its own, which is found before words are, and is in no merge. -1
 * too where it is empty or too long. */
int bpe_set_special(struct bpe *bpe, uint16_t token, const char *text);

/* Unused tokens up to a size; nothing where it has that already. Models often
 * have more tokens than their vocabulary. */
void bpe_widen(struct bpe *bpe, size_t size);

enum bpe_words bpe_words(const struct bpe *bpe);
uint16_t bpe_byte_token(const struct bpe *bpe, uint8_t byte);
size_t bpe_merge_count(const struct bpe *bpe);
/* The i-th merge: its parts and its token. */
void bpe_merge(const struct bpe *bpe, size_t i, uint16_t parts[2],
               uint16_t *token);
/* Whether a token spells something, and whether it is a special one. */
bool bpe_is_used(const struct bpe *bpe, uint16_t token);
bool bpe_is_special(const struct bpe *bpe, uint16_t token);

#endif
