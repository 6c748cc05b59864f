/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/util/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const size_t MAX_BYTES = (size_t)1 << 31;

enum { CHUNK_BYTES = 1 << 20 };

/* In pieces that double, until the file ends: what was read, or NULL. */
static uint8_t *read_all(gzFile file, const char *path, size_t *length,
                         struct err *err)
{
    size_t capacity = CHUNK_BYTES;
    uint8_t *bytes = malloc(capacity), *larger;
    int got = 0;

    *length = 0;
    while (bytes != NULL) {
        got = gzread(file, bytes + *length, CHUNK_BYTES);
        if (got <= 0)
            break;
        *length += (size_t)got;
        if (*length + CHUNK_BYTES <= capacity)
            continue;
        capacity *= 2;
        larger = capacity <= MAX_BYTES ? realloc(bytes, capacity) : NULL;
        if (larger == NULL)
            free(bytes);
        bytes = larger;
    }
    if (bytes == NULL)
        err_set(err, ERR_FILE, "'%s' is too large for the available memory",
                path);
    if (got < 0)
        *length = 0;
    return bytes;
}

uint8_t *text_file_read(const char *path, size_t *length, struct err *err)
{
    gzFile file = gzopen(path, "rb");
    uint8_t *bytes;

    if (file == NULL) {
        err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_FILE, errno,
                      "cannot read '%s'", path);
        return NULL;
    }
    gzbuffer(file, CHUNK_BYTES);
    bytes = read_all(file, path, length, err);
    if (gzclose(file) == Z_OK && bytes != NULL && *length > 0)
        return bytes;
    if (bytes != NULL)
        err_set(err, ERR_FILE, "'%s' is %s", path,
                *length > 0 ? "cut short" : "empty, damaged or a folder");
    free(bytes);
    return NULL;
}
