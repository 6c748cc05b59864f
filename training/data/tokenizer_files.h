/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_TOKENIZER_FILES_H
#define SMTUNE_TRAINING_DATA_TOKENIZER_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct bpe;

/*
 * Vocabularies in the files of Hugging Face's libraries: `tokenizer.json`, or
 * `vocab.json` with `merges.txt`. In them each byte is a letter
 * (byte_letters.h), and a token is the text of its letters.
 */

/* Whether a path is of such files: a folder, or a file named *.json. */
bool tokenizer_is_at(const char *path);
/* Reads them from a folder, or from a file as `tokenizer.json`. NULL with
 * ERR_NOT_FOUND, or ERR_FILE: names the file, and what of it is not byte-level
 * BPE with the words of GPT-2 or of smtrain. */
struct bpe *tokenizer_read(const char *path, struct err *err);
/* The same of the text of `tokenizer.json`. */
struct bpe *tokenizer_parse(const char *text, size_t length, struct err *err);
/* Writes all of them into a folder that is there, with tokenizer_config.json
 * for texts of so many tokens. */
int tokenizer_write(const struct bpe *bpe, const char *folder, size_t context,
                    struct err *err);

/* The special token that ends a text, or -1. */
int tokenizer_end(const struct bpe *bpe);

#endif
