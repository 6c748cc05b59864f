/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_BASE64_H
#define SMTUNE_BASE_BASE64_H

#include <stddef.h>

struct buf;

/* Appends the bytes as base64 with padding, in one line (RFC 4648, 4). */
void base64_encode(const void *bytes, size_t length, struct buf *out);

#endif
