/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compression by zlib, whose counters have 32 bits: input is passed in parts.
 * Expansion is only for the program's own files, whose length is known. */
#include "dashboard/http/gzip.h"

#define ZLIB_CONST
#include <zlib.h>

#include "base/buf.h"

enum { GZIP = 16, MEMORY_LEVEL = 8 };

/* Zlib counts in 32 bits: what is longer goes in and out by parts. */
enum { PART_BYTES = 1 << 30 };

static uInt part_of(size_t length)
{
    return length > PART_BYTES ? PART_BYTES : (uInt)length;
}

void gzip_compress(const void *bytes, size_t length, struct buf *out)
{
    z_stream stream = {.next_in = bytes};
    int status = Z_OK;

    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                     GZIP + MAX_WBITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    while (status == Z_OK) {
        size_t room = 64 << 10;

        if (stream.avail_in == 0) {
            stream.avail_in = part_of(length);
            length -= stream.avail_in;
        }
        stream.next_out = (Bytef *)buf_reserve(out, room);
        stream.avail_out = (uInt)room;
        status = deflate(&stream, length == 0 ? Z_FINISH : Z_NO_FLUSH);
        out->length += room - stream.avail_out;
    }
    deflateEnd(&stream);
    out->data[out->length] = '\0';
}

void gzip_expand(const void *bytes, size_t length, size_t full_length,
                 struct buf *out)
{
    z_stream stream = {.next_in = bytes,
                       .avail_in = part_of(length),
                       .next_out = (Bytef *)buf_reserve(out, full_length),
                       .avail_out = part_of(full_length)};

    if (inflateInit2(&stream, GZIP + MAX_WBITS) != Z_OK)
        return;
    inflate(&stream, Z_FINISH);
    out->length += stream.total_out;
    out->data[out->length] = '\0';
    inflateEnd(&stream);
}
