/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HMAC with SHA-256, by Nettle. Notifications are signed with it. */
#include "base/hmac.h"

#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <string.h>

void hmac_sha256_hex(const char *key, const void *bytes, size_t length,
                     char hex[HMAC_HEX_SIZE])
{
    struct hmac_sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];

    hmac_sha256_set_key(&context, strlen(key), (const uint8_t *)key);
    hmac_sha256_update(&context, length, bytes);
    hmac_sha256_digest(&context, sizeof(digest), digest);
    base16_encode_update(hex, sizeof(digest), digest);
    hex[HMAC_HEX_SIZE - 1] = '\0';
}
