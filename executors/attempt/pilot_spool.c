/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/pilot_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/text.h"

/*
 * A frame is written at its own offset, again and again until the file system
 * has taken all of it: what is there of an attempt in vain is overwritten with
 * the same bytes. On a network file system it is only the close of a descriptor
 * that sends what was written and says whether there was room.
 */

struct frame {
    uint32_t length; /* of the messages */
    uint32_t checksum;
};

enum {
    FRAME_FULL_BYTES = 1 << 20, /* no message is added to such a one */
    FRAME_MAX_BYTES = FRAME_FULL_BYTES + AGENT_MESSAGE_MAX_BYTES + 64
};

/* -- Writing --------------------------------------------------------------*/

int spool_writer_open(struct spool_writer *writer, const char *path,
                      struct err *err)
{
    *writer = (struct spool_writer){.fd = -1};
    writer->fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (writer->fd < 0)
        return err_set_errno(err, errno == EEXIST ? ERR_BUSY : ERR_FAILED,
                             errno, "cannot create '%s'", path);
    return 0;
}

struct buf *spool_out(struct spool_writer *writer)
{
    return &writer->waiting;
}

/* Moves whole messages from those that wait into a frame. */
static void make_frame(struct spool_writer *writer)
{
    const char *bytes = buf_text(&writer->waiting);
    struct agent_message message;
    struct frame frame;
    ptrdiff_t taken;
    size_t length = 0;

    while (length < FRAME_FULL_BYTES &&
           (taken = agent_next(bytes + length, writer->waiting.length - length,
                               &message)) > 0)
        length += (size_t)taken;
    if (length == 0)
        return;
    frame.length = (uint32_t)length;
    frame.checksum = text_hash(bytes, length);
    buf_add(&writer->frame, &frame, sizeof(frame));
    buf_add(&writer->frame, bytes, length);
    buf_consume(&writer->waiting, length);
}

/* Whether it may go better the next time. */
static bool may_pass(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EINTR ||
           error == EAGAIN || error == ENOMEM || error == EMFILE ||
           error == ENFILE || error == EIO || error == EFBIG;
}

static int put_frame(struct spool_writer *writer)
{
    size_t at = 0;
    int sent;

    while (at < writer->frame.length) {
        ssize_t put =
            pwrite(writer->fd, writer->frame.data + at,
                   writer->frame.length - at, writer->offset + (off_t)at);

        if (put < 0)
            return -1;
        at += (size_t)put;
    }
    sent = dup(writer->fd);
    return sent >= 0 ? close(sent) : -1;
}

int spool_write(struct spool_writer *writer, struct err *err)
{
    for (;;) {
        if (writer->frame.length == 0)
            make_frame(writer);
        if (writer->frame.length == 0)
            return 0;
        if (put_frame(writer) != 0) {
            if (may_pass(errno))
                return 1;
            return err_set_errno(err, ERR_FAILED, errno,
                                 "cannot write to the files of a pilot");
        }
        writer->offset += (int64_t)writer->frame.length;
        buf_truncate(&writer->frame, 0);
    }
}

void spool_writer_close(struct spool_writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    writer->fd = -1;
    buf_clear(&writer->frame);
    buf_clear(&writer->waiting);
}

/* -- Reading --------------------------------------------------------------*/

void spool_reader_init(struct spool_reader *reader, const char *path)
{
    *reader = (struct spool_reader){.path = mem_copy_string(path)};
}

/* Returns 1, or 0 where not all of it is there. */
static int read_bytes(int fd, int64_t offset, void *bytes, size_t length)
{
    size_t got = 0;

    while (got < length) {
        ssize_t some =
            pread(fd, (char *)bytes + got, length - got, offset + (off_t)got);

        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return (int)some;
        got += (size_t)some;
    }
    return 1;
}

/* The next frame, if it is there and right. A length of 0 is one whose header
 * has not come yet. */
static int take_frame(struct spool_reader *reader, int fd, int64_t size)
{
    int64_t at = reader->offset + (int64_t)sizeof(struct frame);
    struct frame frame = {0, 0};
    char *bytes;
    int result = read_bytes(fd, reader->offset, &frame, sizeof(frame));

    if (result <= 0 || frame.length == 0)
        return result < 0 ? -1 : 0;
    if (frame.length > FRAME_MAX_BYTES) {
        errno = EBADMSG;
        return -1;
    }
    if (size - at < (int64_t)frame.length)
        return 0;
    bytes = buf_reserve(&reader->bytes, frame.length);
    result = read_bytes(fd, at, bytes, frame.length);
    if (result <= 0 || text_hash(bytes, frame.length) != frame.checksum)
        return result < 0 ? -1 : 0;
    reader->bytes.length += frame.length;
    reader->bytes.data[reader->bytes.length] = '\0';
    reader->offset = at + (int64_t)frame.length;
    return 1;
}

static int take_frames(struct spool_reader *reader, int fd)
{
    struct stat status;
    int result, came = 0;

    if (fstat(fd, &status) != 0)
        return -1;
    if (status.st_size < reader->offset) {
        errno = EBADMSG;
        return -1;
    }
    while ((result = take_frame(reader, fd, status.st_size)) > 0)
        came = 1;
    return result < 0 ? -1 : came;
}

int spool_read(struct spool_reader *reader, struct err *err)
{
    int fd = open(reader->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int came = -1;

    if (fd < 0 && errno == ENOENT && reader->offset == 0)
        return 0;
    buf_consume(&reader->bytes, reader->taken);
    reader->taken = 0;
    if (fd >= 0)
        came = take_frames(reader, fd);
    if (came < 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot read '%s' at %" PRId64,
                      reader->path, reader->offset);
    if (fd >= 0)
        close(fd);
    return came;
}

int spool_next(struct spool_reader *reader, struct agent_message *message)
{
    ptrdiff_t taken = agent_next(buf_text(&reader->bytes) + reader->taken,
                                 reader->bytes.length - reader->taken, message);

    if (taken > 0)
        reader->taken += (size_t)taken;
    return taken > 0 ? 1 : (int)taken;
}

void spool_reader_clear(struct spool_reader *reader)
{
    free(reader->path);
    buf_clear(&reader->bytes);
    *reader = (struct spool_reader){.path = NULL};
}

/* -- Waiting --------------------------------------------------------------*/

int64_t spool_wait_ms(int64_t *wait_ms, bool came)
{
    if (came)
        *wait_ms = 0;
    return backoff_next_ms(wait_ms, SPOOL_POLL_MIN_MS, SPOOL_POLL_MAX_MS);
}
