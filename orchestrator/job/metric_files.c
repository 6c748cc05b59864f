/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/metric_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

/*
 * Thousands of trials may run, and hardly any of them has just written
 * something. So a look is one stat a file, and a file is open only while there
 * is something new in it.
 */

enum { CHUNK_BYTES = 64 * 1024, CHUNKS_A_TURN = 8 };

struct tail {
    char *path;
    off_t offset;
    struct metric_reader *reader;
};

struct metric_files {
    struct tail log, metrics;
};

static void tail_init(struct tail *tail, const char *directory,
                      const char *name, struct metric_rules *rules,
                      int64_t last_step)
{
    tail->path = fs_join(directory, name);
    tail->reader = metric_reader_create(rules, last_step);
}

static void tail_clear(struct tail *tail)
{
    metric_reader_destroy(tail->reader);
    free(tail->path);
}

struct metric_files *metric_files_create(const char *attempt_directory,
                                         struct metric_rules *log_rules,
                                         struct metric_rules *report_rules,
                                         int64_t last_step)
{
    struct metric_files *files = mem_zero(sizeof(*files));

    tail_init(&files->log, attempt_directory, "log", log_rules, last_step);
    tail_init(&files->metrics, attempt_directory, "metrics.jsonl", report_rules,
              last_step);
    return files;
}

void metric_files_destroy(struct metric_files *files)
{
    if (files == NULL)
        return;
    tail_clear(&files->log);
    tail_clear(&files->metrics);
    free(files);
}

void metric_files_reserve(struct metric_files *files, const char *name)
{
    metric_reader_reserve(files->log.reader, name);
    metric_reader_reserve(files->metrics.reader, name);
}

int64_t metric_files_left_out(const struct metric_files *files)
{
    return metric_reader_left_out(files->log.reader) +
           metric_reader_left_out(files->metrics.reader);
}

bool metric_files_several(const struct metric_files *files,
                          struct metric_several *several)
{
    return metric_reader_several(files->log.reader, several) ||
           metric_reader_several(files->metrics.reader, several);
}

/* What a trial did to its own files is as if they were empty; that the system
 * does not let them be read now is an error. */
static int not_read(const struct tail *tail, int error, struct err *err)
{
    err_set_errno(err, ERR_FAILED, error, "cannot read '%s'", tail->path);
    return err->kind == ERR_SHORTAGE || error == EIO ? -1 : 0;
}

/* At most CHUNKS_A_TURN of what is new; returns as metric_files_read(). */
static int read_news(struct tail *tail, off_t size, metric_fn found, void *user,
                     struct err *err)
{
    char chunk[CHUNK_BYTES];
    int fd = open(tail->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t length = 1;
    int error;

    if (fd < 0)
        return not_read(tail, errno, err);
    for (int i = 0; i < CHUNKS_A_TURN && tail->offset < size && length > 0;
         i++) {
        length = pread(fd, chunk, sizeof(chunk), tail->offset);
        if (length <= 0)
            break;
        tail->offset += length;
        metric_reader_feed(tail->reader, chunk, (size_t)length, found, user);
    }
    error = errno;
    close(fd);
    if (length < 0)
        return not_read(tail, error, err);
    return length > 0 && tail->offset < size;
}

static int tail_read(struct tail *tail, metric_fn found, void *user,
                     struct err *err)
{
    struct stat status;

    if (stat(tail->path, &status) != 0)
        return not_read(tail, errno, err);
    return status.st_size > tail->offset
               ? read_news(tail, status.st_size, found, user, err)
               : 0;
}

int metric_files_read(struct metric_files *files, metric_fn found, void *user,
                      struct err *err)
{
    int log = tail_read(&files->log, found, user, err);
    int metrics = log < 0 ? -1 : tail_read(&files->metrics, found, user, err);

    return metrics < 0 ? -1 : log || metrics;
}

int metric_files_read_log_end(const struct metric_files *files,
                              size_t max_bytes, struct buf *out,
                              struct err *err)
{
    int fd =
        open(files->log.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat status = {.st_size = 0};
    ssize_t length = 1;
    off_t at = 0;
    int error;

    if (fd < 0)
        return not_read(&files->log, errno, err);
    fstat(fd, &status);
    if (status.st_size > (off_t)max_bytes)
        at = status.st_size - (off_t)max_bytes;
    for (; at < status.st_size && length > 0; at += length) {
        size_t left = (size_t)(status.st_size - at);

        length = pread(fd, buf_reserve(out, left), left, at);
        if (length > 0)
            out->length += (size_t)length;
    }
    error = errno;
    close(fd);
    return length < 0 ? not_read(&files->log, error, err) : 0;
}

void metric_files_finish(struct metric_files *files, bool is_whole,
                         metric_fn found, void *user)
{
    metric_reader_finish(files->log.reader, is_whole, found, user);
    metric_reader_finish(files->metrics.reader, is_whole, found, user);
}
