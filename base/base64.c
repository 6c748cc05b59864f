/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Base64 for bytes within text: an exported page, and the log in an event
 * stream (RFC 4648, section 4). */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
                              "wxyz0123456789+/";

/* Up to three bytes become four letters. */
static void encode_group(const unsigned char *bytes, size_t count, char *to)
{
    uint32_t bits = (uint32_t)bytes[0] << 16;

    bits |= count > 1 ? (uint32_t)bytes[1] << 8 : 0;
    bits |= count > 2 ? (uint32_t)bytes[2] : 0;
    for (size_t i = 0; i < 4; i++)
        to[i] = i <= count ? letters[bits >> (18 - 6 * i) & 63] : '=';
}

void base64_encode(const void *bytes, size_t length, struct buf *out)
{
    const unsigned char *from = bytes;
    char *to = buf_reserve(out, (length + 2) / 3 * 4);

    for (size_t i = 0; i < length; i += 3, to += 4) {
        encode_group(from + i, length - i < 3 ? length - i : 3, to);
        out->length += 4;
    }
    *to = '\0';
}
