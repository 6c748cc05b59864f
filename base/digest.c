/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { READ_BYTES = 256 << 10 };

struct digest {
    struct sha256_ctx context;
};

struct digest *digest_create(void)
{
    struct digest *digest = mem_alloc(sizeof(*digest));

    sha256_init(&digest->context);
    return digest;
}

void digest_add_number(struct digest *digest, int64_t number)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)((uint64_t)number >> (8 * i));
    sha256_update(&digest->context, sizeof(bytes), bytes);
}

void digest_add(struct digest *digest, const void *bytes, size_t length)
{
    digest_add_number(digest, (int64_t)length);
    sha256_update(&digest->context, length, bytes);
}

void digest_add_text(struct digest *digest, const char *text)
{
    digest_add(digest, text, strlen(text));
}

void digest_hex(struct digest *digest, char hex[DIGEST_HEX_SIZE])
{
    uint8_t bytes[SHA256_DIGEST_SIZE];

    sha256_digest(&digest->context, sizeof(bytes), bytes);
    base16_encode_update(hex, sizeof(bytes), bytes);
    hex[DIGEST_HEX_SIZE - 1] = '\0';
}

void digest_destroy(struct digest *digest)
{
    free(digest);
}

void digest_of(const void *bytes, size_t length, char hex[DIGEST_HEX_SIZE])
{
    struct digest *digest = digest_create();

    digest_add(digest, bytes, length);
    digest_hex(digest, hex);
    digest_destroy(digest);
}

void digest_bytes(const void *bytes, size_t length,
                  unsigned char digest[DIGEST_BYTES])
{
    struct sha256_ctx context;

    sha256_init(&context);
    sha256_update(&context, length, bytes);
    sha256_digest(&context, DIGEST_BYTES, digest);
}

static bool goes_on(const atomic_bool *stop)
{
    return stop == NULL || !atomic_load(stop);
}

int digest_file(const char *path, const atomic_bool *stop,
                char hex[DIGEST_HEX_SIZE], struct err *err)
{
    struct digest digest;
    uint8_t *bytes;
    ssize_t length = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error;

    if (fd < 0)
        return err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
                             errno, "cannot read '%s'", path);
    sha256_init(&digest.context);
    bytes = mem_alloc(READ_BYTES);
    while (length > 0 && goes_on(stop)) {
        length = read(fd, bytes, READ_BYTES);
        if (length > 0)
            sha256_update(&digest.context, (size_t)length, bytes);
    }
    error = length < 0 ? errno : ECANCELED;
    free(bytes);
    close(fd);
    if (length != 0)
        return err_set_errno(err, ERR_FAILED, error, "cannot read '%s'", path);
    digest_hex(&digest, hex);
    return 0;
}
