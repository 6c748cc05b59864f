/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/util/text_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const size_t MAX_BYTES = (size_t)1 << 31;

enum { CHUNK_BYTES = 1 << 20 };

/* In pieces that double, until the file ends: what was read, or NULL. Reports
 * in *is_damaged what must not be used. zlib before 1.3.2 keeps the news of a
 * file that is cut short until gzclose(); later ones until the next read. */
static uint8_t *read_all(gzFile file, const char *path, size_t *length,
                         bool *is_damaged, struct err *err)
{
    size_t capacity = CHUNK_BYTES;
    uint8_t *bytes = malloc(capacity), *larger;
    int got = 0, status;

    *length = 0;
    *is_damaged = false;
    while (bytes != NULL && !*is_damaged) {
        got = gzread(file, bytes + *length, CHUNK_BYTES);
        gzerror(file, &status);
        *is_damaged = status != Z_OK;
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
    bool is_damaged;

    if (file == NULL) {
        err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_FILE, errno,
                      "cannot read '%s'", path);
        return NULL;
    }
    gzbuffer(file, CHUNK_BYTES);
    bytes = read_all(file, path, length, &is_damaged, err);
    gzclose(file);
    if (bytes != NULL && *length > 0 && !is_damaged)
        return bytes;
    if (bytes != NULL)
        err_set(err, ERR_FILE, "'%s' is %s", path,
                *length > 0 ? "cut short or damaged"
                            : "empty, damaged or a folder");
    free(bytes);
    return NULL;
}
