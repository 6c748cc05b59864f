/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_MASK_H
#define SMTUNE_BASE_MASK_H

#include <stddef.h>

struct buf;

/*
 * Replaces secrets in text that is about to be shown or stored. It masks two
 * kinds: values that the caller has named (mask_hide), and text that looks like
 * a secret (secret.h): PASSWORD=..., "token": "...", --api-key ...,
 * Authorization: ..., Bearer ..., https://user:password@host, hf_....
 */
struct mask;

/* What is shown in the place of a secret. */
#define MASKED "***"

/* The caller destroys it. */
struct mask *mask_create(void);
void mask_destroy(struct mask *mask);

enum { MASK_SHORTEST = 4 };

/*
 * From now on `value`, without blanks around it, is shown as "<name>". Both are
 * copied. A value of fewer than MASK_SHORTEST bytes is not masked by itself,
 * because half of any text would match it. A value that was given before keeps
 * its first name.
 */
void mask_hide(struct mask *mask, const char *name, const char *value);

/* Hides the value of each variable of a NULL-ended environment whose name looks
 * like a secret's. */
void mask_hide_environment(struct mask *mask, char *const *environment);

/* A copy of what may be shown of a text, for the caller to free: with its
 * secrets masked, or where mask is NULL as it is. NULL of NULL. */
char *mask_show(const struct mask *mask, const char *text);

/* Appends text with its secrets masked; mask NULL: no values are known. */
void mask_add(const struct mask *mask, const char *text, size_t length,
              struct buf *out);

#endif
