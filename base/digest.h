/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_DIGEST_H
#define SMTUNE_BASE_DIGEST_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * SHA-256 of a series of texts, numbers and contents. Each goes in with its
 * length, so that no two series read the same.
 */

enum { DIGEST_HEX_SIZE = 65 };

struct digest;

struct digest *digest_create(void);
void digest_add(struct digest *digest, const void *bytes, size_t length);
void digest_add_text(struct digest *digest, const char *text);
void digest_add_number(struct digest *digest, int64_t number);
/* The digest so far in hexadecimal with a final NUL; starts anew. */
void digest_hex(struct digest *digest, char hex[DIGEST_HEX_SIZE]);
void digest_destroy(struct digest *digest);

/* That of a series of one, in hexadecimal. */
void digest_of(const void *bytes, size_t length, char hex[DIGEST_HEX_SIZE]);

/* The SHA-256 of bytes as they are. */
enum { DIGEST_BYTES = 32 };
void digest_bytes(const void *bytes, size_t length,
                  unsigned char digest[DIGEST_BYTES]);

/* The SHA-256 of a file's bytes, as sha256sum prints it. Errors name the
 * path: ERR_NOT_FOUND, or ERR_FAILED, also once another thread has set *stop
 * (NULL: nobody will). */
int digest_file(const char *path, const atomic_bool *stop,
                char hex[DIGEST_HEX_SIZE], struct err *err);

#endif
