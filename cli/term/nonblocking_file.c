/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/term/nonblocking_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

enum { PENDING_MAX = 256 * 1024, FRAME_BYTES = 16 * 1024 };

struct nonblocking_file {
    int fd;
    struct buf pending;
};

static void flush(struct nonblocking_file *file)
{
    struct buf *pending = &file->pending;
    ssize_t written;

    while (pending->length > 0) {
        written = write(file->fd, pending->data, pending->length);
        if (written > 0)
            buf_consume(pending, (size_t)written);
        else if (errno != EINTR)
            break;
    }
    if (pending->length > PENDING_MAX ||
        (pending->length > 0 && errno != EAGAIN))
        buf_truncate(pending, 0);
}

static ssize_t on_write(void *cookie, const char *bytes, size_t length)
{
    struct nonblocking_file *file = cookie;

    buf_add(&file->pending, bytes, length);
    flush(file);
    return (ssize_t)length;
}

static int on_close(void *cookie)
{
    struct nonblocking_file *file = cookie;

    flush(file);
    close(file->fd);
    buf_clear(&file->pending);
    free(file);
    return 0;
}

/* Opened anew: O_NONBLOCK on the descriptor itself would be there for every
 * process that has it from the same shell. */
static int open_anew(int fd)
{
    char path[32];
    struct stat about;

    if (fstat(fd, &about) != 0 ||
        (!S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode)))
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

FILE *nonblocking_file_open(int fd)
{
    cookie_io_functions_t functions = {.write = on_write, .close = on_close};
    int anew = open_anew(fd);
    struct nonblocking_file *patient;
    FILE *file;

    if (anew < 0)
        return NULL;
    patient = mem_zero(sizeof(*patient));
    patient->fd = anew;
    file = fopencookie(patient, "w", functions);
    if (file == NULL)
        on_close(patient);
    else
        setvbuf(file, NULL, _IOFBF, FRAME_BYTES);
    return file;
}
