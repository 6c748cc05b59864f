/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_TEXT_H
#define SMTUNE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;

/*
 * The candidate nearest to `word` (Damerau-Levenshtein, optimal string
 * alignment, case apart), if near enough to be what was meant: at most 2 edits,
 * and fewer than half of its letters. NULL when none is.
 */
const char *text_nearest(const char *word, const char *const *candidates,
                         size_t count);

/* "unknown WHAT 'WORD'", with the nearest of the words there are, or else all
 * of them. Always -1. */
int text_unknown(const char *what, const char *word, const char *const *words,
                 size_t count, enum err_kind kind, struct err *err);

/*
 * The length in bytes of the UTF-8 character at text (length > 0), and itself
 * in *rune (which may be NULL); 0 where the bytes are not valid UTF-8.
 */
size_t text_next_rune(const char *text, size_t length, uint32_t *rune);

/* Whether the text (length > 0) is the beginning of a character of UTF-8, of
 * which the rest may follow. */
bool text_is_cut(const char *text, size_t length);

/* Writes the character in UTF-8; its length in bytes. */
size_t text_put_rune(uint32_t rune, char out[4]);

/*
 * The length in bytes of the escape of JSON that begins at text, "\u00e9" or
 * the two of a surrogate pair, "\ud83d\ude00", and in *rune the character that
 * it is for; 0: none begins there, or half of a pair, which is no character.
 */
size_t text_escaped_rune(const char *text, size_t length, uint32_t *rune);

/* Behind so many characters of UTF-8 text, or at its end. */
const char *text_skip_runes(const char *text, int count);

/* How many bytes remain of UTF-8 text that is cut to at most max bytes, before
 * a character and not within one. */
size_t text_cut(const char *text, size_t length, size_t max);

/* How many terminal columns a UTF-8 string takes (control bytes take 1). */
size_t text_columns(const char *text);

/* Whether a terminal or a browser would obey the character in place of showing
 * it: control characters (C0, C1), and those that change the direction of the
 * text around them (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069). */
bool text_is_control(uint32_t rune);

/* Appends text with control characters and invalid UTF-8 shown as \xHH. */
void text_escape(const char *text, size_t length, struct buf *out);

/* Whether two texts are equal; each may be NULL, which equals only NULL. */
bool text_same(const char *a, const char *b);

/* Whether a run, a step or a parameter may be called so: [A-Za-z0-9_] first,
 * then also '.' and '-'; at most 128 bytes. */
bool text_is_name(const char *text);

/* The length of the shell variable's name that the text begins with
 * ([A-Za-z_][A-Za-z0-9_]*); 0: it begins with none. */
size_t text_variable_length(const char *text);

/* Whether `word` is among words with blanks between them; NULL has none. */
bool text_has_word(const char *words, const char *word);

/* Whether `length` bytes are a word of the list of so many, in any case. */
bool text_is_word_among(const char *word, size_t length,
                        const char *const *list, size_t count);
/* Whether `text` is one of the list of so many. */
bool text_is_among(const char *text, const char *const *list, size_t count);
/* The same of a list that NULL ends; NULL is an empty list. */
bool text_list_has(const char *const *list, const char *text);

/* Past a byte order mark at the beginning, if there is one. */
void text_skip_mark(const char **text, size_t *length);

/* Whether there is nothing but blanks, tabs and carriage returns. */
bool text_is_blank(const char *text, size_t length);

/* Whether the text begins so, or ends so. */
bool text_begins_with(const char *text, const char *beginning);
bool text_ends_with(const char *text, const char *ending);

/* FNV-1a, of 32 bits, not 0 for no bytes: to find texts sooner, or to see that
 * bytes were damaged; it does not tell texts apart. */
uint32_t text_hash(const char *text, size_t length);

#endif
