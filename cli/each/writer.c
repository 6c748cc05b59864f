/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The thread that copies logs. A reader of standard output may be slow, or
 * stopped, and nobody else is to wait for it. The thread has a queue of paths,
 * and knows no store.
 */
#include "cli/each/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "cli/term/guarded_file.h"

enum { PIECE_BYTES = 65536, RESULT_MODE = 0600 };

struct item {
    STAILQ_ENTRY(item) link;
    enum writer_task task;
    int64_t number;
    char log[]; /* its path */
};

struct writer {
    char *results;
    bool is_unread; /* standard output: nothing more is printed */
    pthread_t thread;
    pthread_mutex_t lock; /* of what is below */
    pthread_cond_t has_news;
    STAILQ_HEAD(items, item) queue;
    bool is_closed;
    bool has_failed;
    struct err err; /* the first one, where it has */
};

static void keep_error(struct writer *writer, const struct err *err)
{
    pthread_mutex_lock(&writer->lock);
    if (!writer->has_failed)
        writer->err = *err;
    writer->has_failed = true;
    pthread_mutex_unlock(&writer->lock);
}

enum copied { COPIED, UNREADABLE, UNWRITABLE };

/* With errno, where it is not all. */
static enum copied copy(int from, int to)
{
    char piece[PIECE_BYTES];
    ssize_t length;

    while ((length = read(from, piece, sizeof(piece))) != 0) {
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return UNREADABLE;
        if (fs_write_all(to, piece, (size_t)length) != 0)
            return UNWRITABLE;
    }
    return COPIED;
}

/* Of a command that made a pipe of its log nobody would ever write it. -1 with
 * errno. */
static int open_log(const char *log)
{
    int fd = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;

    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static void keep_unwritten(struct writer *writer, enum copied copied,
                           const char *log)
{
    struct err err;

    if (copied == UNREADABLE)
        err_set_errno(&err, ERR_FAILED, errno, "cannot read '%s'", log);
    else if (errno == EPIPE)
        err_set(&err, ERR_FAILED, "%s", "");
    else
        err_set_errno(&err, ERR_FAILED, errno,
                      "cannot write to standard output");
    writer->is_unread |= copied == UNWRITABLE;
    keep_error(writer, &err);
}

/* The same to standard output, of which a terminal gets colours alone. */
static enum copied show(int from)
{
    FILE *to = guarded_file_open(STDOUT_FILENO);
    enum copied copied = COPIED;
    char piece[PIECE_BYTES];
    ssize_t length;
    int error = 0;

    if (to == NULL)
        return UNWRITABLE;
    while (copied == COPIED &&
           (length = read(from, piece, sizeof(piece))) != 0) {
        if (length < 0 && errno != EINTR)
            copied = UNREADABLE;
        else if (length > 0 &&
                 fwrite(piece, 1, (size_t)length, to) != (size_t)length)
            copied = UNWRITABLE;
        error = errno;
    }
    if (fclose(to) != 0 && copied == COPIED) {
        copied = UNWRITABLE;
        error = errno;
    }
    errno = error;
    return copied;
}

static void print(struct writer *writer, const struct item *item)
{
    enum copied copied;
    int from;

    if (writer->is_unread)
        return;
    from = open_log(item->log);
    if (from < 0)
        return;
    copied = show(from);
    if (copied != COPIED)
        keep_unwritten(writer, copied, item->log);
    close(from);
}

/* A copy, where it cannot be another name of the log: the folder may be of
 * another file system. */
static int save_copy(const char *log, const char *path)
{
    int from = open_log(log), to, result = -1, code;

    if (from < 0)
        return -1;
    to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, RESULT_MODE);
    if (to >= 0) {
        result = copy(from, to) == COPIED ? 0 : -1;
        if (close(to) != 0)
            result = -1;
    }
    code = errno;
    close(from);
    errno = code;
    return result;
}

/* By a rename, so that a reader never finds a part of it. What a process that
 * was killed between the two left is there under the same name next time. */
static void save(struct writer *writer, const struct item *item)
{
    char *path =
        mem_printf("%s/%" PRId64 ".out", writer->results, item->number);
    char *temporary =
        mem_printf("%s/.%" PRId64 ".out.part", writer->results, item->number);
    struct stat status;
    struct err err;

    unlink(temporary);
    if (lstat(item->log, &status) == 0 && S_ISREG(status.st_mode) &&
        ((link(item->log, temporary) != 0 &&
          save_copy(item->log, temporary) != 0) ||
         rename(temporary, path) != 0)) {
        err_set_errno(&err, ERR_FAILED, errno, "cannot write '%s'", path);
        keep_error(writer, &err);
    }
    /* a rename to another name of the same file leaves both */
    unlink(temporary);
    free(temporary);
    free(path);
}

static struct item *take(struct writer *writer)
{
    struct item *item;

    pthread_mutex_lock(&writer->lock);
    while (STAILQ_EMPTY(&writer->queue) && !writer->is_closed)
        pthread_cond_wait(&writer->has_news, &writer->lock);
    item = STAILQ_FIRST(&writer->queue);
    if (item != NULL)
        STAILQ_REMOVE_HEAD(&writer->queue, link);
    pthread_mutex_unlock(&writer->lock);
    return item;
}

static void *work(void *user)
{
    struct writer *writer = user;
    struct item *item;

    while ((item = take(writer)) != NULL) {
        if (item->task == WRITER_PRINT)
            print(writer, item);
        else
            save(writer, item);
        free(item);
    }
    return NULL;
}

/* Signals are the engine's. */
static int start(struct writer *writer, struct err *err)
{
    sigset_t all, before;
    int code;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&writer->thread, NULL, work, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0
               ? 0
               : err_set_errno(err, ERR_FAILED, code, "cannot start a thread");
}

static void destroy(struct writer *writer)
{
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->has_news);
    free(writer->results);
    free(writer);
}

struct writer *writer_create(const char *results, struct err *err)
{
    struct writer *writer = mem_zero(sizeof(*writer));

    writer->results = mem_copy_string(results);
    STAILQ_INIT(&writer->queue);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->has_news, NULL);
    if (start(writer, err) == 0)
        return writer;
    destroy(writer);
    return NULL;
}

void writer_add(struct writer *writer, enum writer_task task, int64_t number,
                const char *log)
{
    struct item *item = mem_alloc(sizeof(*item) + strlen(log) + 1);

    *item = (struct item){.task = task, .number = number};
    memcpy(item->log, log, strlen(log) + 1);
    pthread_mutex_lock(&writer->lock);
    STAILQ_INSERT_TAIL(&writer->queue, item, link);
    pthread_cond_signal(&writer->has_news);
    pthread_mutex_unlock(&writer->lock);
}

int writer_finish(struct writer *writer, struct err *err)
{
    int result;

    pthread_mutex_lock(&writer->lock);
    writer->is_closed = true;
    pthread_cond_signal(&writer->has_news);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    result = writer->has_failed ? -1 : 0;
    if (result != 0)
        *err = writer->err;
    destroy(writer);
    return result;
}
