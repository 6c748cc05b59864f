/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

enum { CHUNK_BYTES = 64 * 1024, CHUNKS_A_TURN = 64 };

struct tail {
    char *path;
    int fd; /* -1 until the file is there */
    off_t offset;
    struct metric_reader *reader;
};

struct watch {
    struct tail log, metrics;
};

static void tail_init(struct tail *tail, const char *directory,
                      const char *name, struct metric_rules *rules)
{
    tail->path = fs_join(directory, name);
    tail->fd = -1;
    tail->reader = metric_reader_create(rules);
}

static void tail_clear(struct tail *tail)
{
    if (tail->fd >= 0)
        close(tail->fd);
    metric_reader_destroy(tail->reader);
    free(tail->path);
}

struct watch *watch_create(const char *attempt_directory,
                           struct metric_rules *log_rules,
                           struct metric_rules *report_rules)
{
    struct watch *watch = mem_zero(sizeof(*watch));

    tail_init(&watch->log, attempt_directory, "log", log_rules);
    tail_init(&watch->metrics, attempt_directory, "metrics.jsonl",
              report_rules);
    return watch;
}

void watch_destroy(struct watch *watch)
{
    if (watch == NULL)
        return;
    tail_clear(&watch->log);
    tail_clear(&watch->metrics);
    free(watch);
}

static bool tail_read(struct tail *tail, metric_fn found, void *user)
{
    char chunk[CHUNK_BYTES];

    if (tail->fd < 0)
        tail->fd =
            open(tail->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (tail->fd < 0)
        return false;
    for (int i = 0; i < CHUNKS_A_TURN; i++) {
        ssize_t length = pread(tail->fd, chunk, sizeof(chunk), tail->offset);

        if (length <= 0)
            return false;
        tail->offset += length;
        metric_reader_feed(tail->reader, chunk, (size_t)length, found, user);
    }
    return true;
}

bool watch_read(struct watch *watch, metric_fn found, void *user)
{
    bool more = tail_read(&watch->log, found, user);

    return tail_read(&watch->metrics, found, user) || more;
}

void watch_read_log_end(const struct watch *watch, size_t max_bytes,
                        struct buf *out)
{
    struct stat status;
    off_t at = 0, end;
    ssize_t length;

    if (watch->log.fd < 0 || fstat(watch->log.fd, &status) != 0)
        return;
    if (status.st_size > (off_t)max_bytes)
        at = status.st_size - (off_t)max_bytes;
    for (end = status.st_size; at < end; at += length) {
        length = pread(watch->log.fd, buf_reserve(out, (size_t)(end - at)),
                       (size_t)(end - at), at);
        if (length <= 0)
            return;
        out->length += (size_t)length;
    }
}

void watch_finish(struct watch *watch, metric_fn found, void *user)
{
    metric_reader_finish(watch->log.reader, found, user);
    metric_reader_finish(watch->metrics.reader, found, user);
}
