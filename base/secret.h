/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SECRET_H
#define SMTUNE_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Which names and which values are secrets, for all that smtune shows, logs and
 * warns of. Who hides them: mask.h in any text, conf/mask_file.h in the text of
 * a file.
 */

/* Whether a value of this name is a secret: api_key, HF_TOKEN, DB_PASSWORD, but
 * not monkey, max_tokens, pad_token, key_dim or TOKEN_FILE. The case does not
 * matter. */
bool secret_is_name(const char *name, size_t length);

/* Whether value[0..length) shows by its first letters who made it: hf_..., ghp_
 * ..., AKIA.... One word. */
bool secret_is_made(const char *value, size_t length);

/* Whether a text has such a word. */
bool secret_is_in(const char *text);

/* Whether the value of a name is a secret by its form: made as above, a private
 * key, or under a secret's name 32 or more hexadecimal digits. */
bool secret_is_value(const char *name, const char *value);

#endif
