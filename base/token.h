/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_TOKEN_H
#define SMTUNE_BASE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

/* Draws so many bytes from the kernel, and writes them in hexadecimal: text has
 * room for TOKEN_SIZE(bytes). Nobody else will draw the same from 16 on. */
#define TOKEN_SIZE(bytes) (2 * (bytes) + 1)

void token_draw(char *text, size_t bytes);

/* Whether given[0..length) is the token, in a time that does not tell how much
 * of it was right. Nothing is an empty token. */
bool token_is_equal(const char *token, const char *given, size_t length);

#endif
