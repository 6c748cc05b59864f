/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_HMAC_H
#define SMTUNE_BASE_HMAC_H

#include <stddef.h>

enum { HMAC_HEX_SIZE = 65 };

/* HMAC-SHA-256 (RFC 2104) of length bytes under the key, in hexadecimal with a
 * final NUL. */
void hmac_sha256_hex(const char *key, const void *bytes, size_t length,
                     char hex[HMAC_HEX_SIZE]);

#endif
