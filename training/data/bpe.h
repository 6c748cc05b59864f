/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_BPE_H
#define SMTUNE_TRAINING_DATA_BPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;

/*
 * Byte-pair encoding on bytes (Sennrich, Haddow and Birch, "Neural machine
 * translation of rare words with subword units", ACL 2016, algorithm 1;
 * Radford et al., 2019, section 2.2). Tokens 0 .. 255 are the bytes; token
 * 256 + i is the i-th merge of two tokens before it. So every string of bytes
 * has tokens, and these spell it.
 *
 * No token goes past a word: a run of letters, of digits, of white space or of
 * other bytes, with the one space before it if any, cut after BPE_WORD_MAX
 * bytes.
 */
struct bpe;

enum { BPE_BYTES = 256, BPE_SIZE_MAX = 65536, BPE_WORD_MAX = 32 };

/* The bytes alone. */
struct bpe *bpe_create(void);
/* Learns from a text so many tokens, those of bytes included; fewer where no
 * pair comes twice. A function of both alone. size: at most BPE_SIZE_MAX. */
struct bpe *bpe_learn(const uint8_t *text, size_t length, size_t size);
/* The same of a file: ERR_NOT_FOUND, or ERR_FILE for what bpe_save did not
 * write. */
struct bpe *bpe_load(const char *path, struct err *err);
int bpe_save(const struct bpe *bpe, const char *path, struct err *err);
/* Its merges as "LEFT RIGHT", each with a separator behind it. */
void bpe_print(const struct bpe *bpe, char separator, struct buf *out);
/* Of what bpe_print appended, up to `end`; NULL where it is something else. */
struct bpe *bpe_parse(const char *text, const char *end, char separator);
void bpe_destroy(struct bpe *bpe);

size_t bpe_size(const struct bpe *bpe);
/* Adds a merge of two tokens that there are: the new token. */
uint16_t bpe_add(struct bpe *bpe, uint16_t left, uint16_t right);
/* How many tokens the text comes to; tokens[length] holds them all. */
size_t bpe_encode(const struct bpe *bpe, const uint8_t *text, size_t length,
                  uint16_t *tokens);
/* Appends what a token spells. */
void bpe_decode(const struct bpe *bpe, uint16_t token, struct buf *out);

/* The length of the word that a text begins with; length > 0. */
size_t bpe_word(const uint8_t *text, size_t length);

#endif
