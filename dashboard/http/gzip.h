/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_GZIP_H
#define SMTUNE_DASHBOARD_HTTP_GZIP_H

#include <stddef.h>

struct buf;

/* Both append. */
void gzip_compress(const void *bytes, size_t length, struct buf *out);
/* full_length: of what was compressed, which is known to be good. */
void gzip_expand(const void *bytes, size_t length, size_t full_length,
                 struct buf *out);

#endif
