/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_TOKENIZER_PIECES_H
#define SMTUNE_TRAINING_DATA_TOKENIZER_PIECES_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* What tokenizer.json and vocab.json with merges.txt have in common. Errors are
 * ERR_FILE. */

struct bpe;

/* "WHAT 'TEXT'", where the text is a file's. Always -1. */
int tokenizer_fail(struct err *err, const char *what, const char *text);

/* The number of a token, or -1. */
int tokenizer_number(const json_t *vocabulary, const char *key);
/* One more than its largest number, with those of added tokens; or 0. */
size_t tokenizer_size(json_t *vocabulary, json_t *added, struct err *err);

/* Gives all bytes their tokens. */
int tokenizer_take_bytes(struct bpe *bpe, const json_t *vocabulary,
                         struct err *err);
/* Adds a merge, as "LEFT RIGHT" or ["LEFT", "RIGHT"]. */
int tokenizer_take_merge(struct bpe *bpe, const json_t *vocabulary,
                         const json_t *merge, struct err *err);
/* Adds those of the lines of merges.txt. */
int tokenizer_take_lines(struct bpe *bpe, const json_t *vocabulary,
                         const char *text, struct err *err);

#endif
