/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_BPE_MERGE_H
#define SMTUNE_TRAINING_DATA_BPE_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct bpe;

/* Merges the tokens of a word's bytes in place: how many are left. */
size_t bpe_merge_word(const struct bpe *bpe, uint16_t *tokens, size_t count);

#endif
