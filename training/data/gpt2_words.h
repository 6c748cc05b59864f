/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_GPT2_WORDS_H
#define SMTUNE_TRAINING_DATA_GPT2_WORDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The words that GPT-2's tokens stay in, by the regular expression of its
 * published code:
 *
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 * So white space before a word leaves its last character to it. A byte that is
 * no UTF-8 is a character of its own, and neither letter, number nor space.
 */

/* The length of the word that a text begins with; length > 0. */
size_t gpt2_word(const uint8_t *text, size_t length);

#endif
