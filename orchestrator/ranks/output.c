/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/ranks/sink.h"

/*
 * What is read from a pipe (a stream) goes to the rank's log, to the end of it
 * that is kept for the message when the rank fails, and to a sink, as it is or
 * line by line behind a tag. A rank whose output needs none of that has the
 * file itself, and no stream.
 */

enum {
    PIECE_BYTES = 64 << 10,
    LINE_MAX_BYTES = 64 << 10,
    TAIL_BYTES = 4 << 10,
    TAG_MAX = 24
};

enum { STREAM_OUT, STREAM_ERR, STREAMS };

struct rank_output;

struct stream {
    uv_poll_t poll;
    struct rank_output *rank;
    struct rank_sink *sink;
    int fd;       /* what we read; -1: at its end, or none */
    int child_fd; /* the rank's end, until it was started; -1: none */
    struct buf line;
    bool after_return; /* a newline now is of the line before */
};

struct rank_output {
    struct rank_outputs *owner;
    struct stream streams[STREAMS];
    char tag[TAG_MAX];
    char *log_path; /* NULL: none */
    int log_fd;     /* -1: none */
    struct buf tail;
};

struct rank_outputs {
    struct rank_output_options options;
    struct rank_sink sinks[STREAMS];
    struct rank_output *ranks; /* [tasks] */
    char *piece;               /* what is being read */
    struct err error;
};

static void resume_reading(void *user);

struct rank_outputs *rank_outputs_create(
    const struct rank_output_options *options, struct err *err)
{
    struct rank_outputs *outputs;

    if (options->log_directory != NULL &&
        fs_make_trial_directories(options->log_directory, err) != 0)
        return NULL;
    outputs = mem_zero(sizeof(*outputs));
    outputs->options = *options;
    outputs->ranks = mem_array((size_t)options->tasks, sizeof(*outputs->ranks));
    outputs->piece = mem_alloc(PIECE_BYTES);
    for (int i = 0; i < STREAMS; i++)
        rank_sink_init(&outputs->sinks[i], options->loop, STDOUT_FILENO + i,
                       resume_reading, outputs);
    for (int rank = 0; rank < options->tasks; rank++) {
        outputs->ranks[rank].owner = outputs;
        outputs->ranks[rank].log_fd = -1;
        for (int i = 0; i < STREAMS; i++)
            outputs->ranks[rank].streams[i].fd =
                outputs->ranks[rank].streams[i].child_fd = -1;
    }
    return outputs;
}

/* ---- reading ---- */

static void end_stream(struct stream *stream)
{
    if (stream->fd < 0)
        return;
    uv_close((uv_handle_t *)&stream->poll, NULL);
    close(stream->fd);
    stream->fd = -1;
}

static void write_log(struct rank_output *rank, const char *bytes,
                      size_t length)
{
    while (length > 0) {
        ssize_t written = write(rank->log_fd, bytes, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            err_set_errno(&rank->owner->error, ERR_FAILED, errno,
                          "cannot write '%s'", rank->log_path);
            return;
        }
        bytes += written;
        length -= (size_t)written;
    }
}

static void keep_tail(struct buf *tail, const char *bytes, size_t length)
{
    if (length > TAIL_BYTES) {
        bytes += length - TAIL_BYTES;
        length = TAIL_BYTES;
    }
    if (tail->length + length > TAIL_BYTES)
        buf_consume(tail, tail->length + length - TAIL_BYTES);
    buf_add(tail, bytes, length);
}

static void show_line(struct stream *stream, char end)
{
    buf_add_char(&stream->line, end);
    rank_sink_add(stream->sink, stream->line.data, stream->line.length);
    buf_truncate(&stream->line, 0);
    stream->after_return = end == '\r';
}

/* How much of it is before a line's end: a newline, or the carriage return of
 * a progress bar. */
static size_t find_end(const char *bytes, size_t length)
{
    const char *newline = memchr(bytes, '\n', length);
    const char *end;

    if (newline != NULL)
        length = (size_t)(newline - bytes);
    end = memchr(bytes, '\r', length);
    return end != NULL ? (size_t)(end - bytes) : length;
}

/* A line goes out as a whole, in one piece with its tag. */
static void show_lines(struct stream *stream, const char *bytes, size_t length)
{
    while (length > 0) {
        size_t part = find_end(bytes, length);
        bool is_return_newline = stream->after_return && bytes[0] == '\n';

        stream->after_return = false;
        if (stream->line.length == 0 && !is_return_newline)
            buf_add_string(&stream->line, stream->rank->tag);
        buf_add(&stream->line, bytes, part);
        if (part < length)
            show_line(stream, bytes[part++]);
        else if (stream->line.length > LINE_MAX_BYTES)
            show_line(stream, '\n');
        bytes += part;
        length -= part;
    }
}

static void take(struct stream *stream, const char *bytes, size_t length)
{
    struct rank_output *rank = stream->rank;

    if (rank->log_fd >= 0)
        write_log(rank, bytes, length);
    keep_tail(&rank->tail, bytes, length);
    if (rank->tag[0] != '\0')
        show_lines(stream, bytes, length);
    else
        rank_sink_add(stream->sink, bytes, length);
    rank_sink_flush(stream->sink);
}

static void tell_if_done(const struct rank_outputs *outputs)
{
    if (rank_outputs_are_done(outputs))
        outputs->options.done(outputs->options.user);
}

static bool may_read(const struct stream *stream)
{
    return stream->fd >= 0 && !rank_sink_is_full(stream->sink);
}

/* Whether there may be more. A rank whose output nobody takes gets SIGPIPE, as
 * it would without us. */
static bool read_piece(struct stream *stream)
{
    char *piece = stream->rank->owner->piece;
    ssize_t length = read(stream->fd, piece, PIECE_BYTES);

    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (length > 0) {
        take(stream, piece, (size_t)length);
        if (!stream->sink->is_broken || stream->rank->log_fd >= 0)
            return true;
    }
    if (stream->line.length > 0)
        show_line(stream, '\n');
    rank_sink_flush(stream->sink);
    end_stream(stream);
    return false;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct stream *stream = poll->data;

    (void)status, (void)events;
    if (may_read(stream))
        read_piece(stream);
    else
        uv_poll_stop(poll);
    tell_if_done(stream->rank->owner);
}

static void resume_reading(void *user)
{
    struct rank_outputs *outputs = user;

    for (int rank = 0; rank < outputs->options.tasks; rank++) {
        for (int i = 0; i < STREAMS; i++) {
            struct stream *stream = &outputs->ranks[rank].streams[i];

            if (stream->fd >= 0)
                uv_poll_start(&stream->poll, UV_READABLE, on_readable);
        }
    }
    tell_if_done(outputs);
}

void rank_outputs_drain(struct rank_outputs *outputs, int rank)
{
    for (int i = 0; i < STREAMS; i++) {
        struct stream *stream = &outputs->ranks[rank].streams[i];

        while (may_read(stream) && read_piece(stream))
            continue;
    }
}

/* ---- a rank's files ---- */

static int open_stream(struct stream *stream, struct err *err)
{
    struct rank_outputs *outputs = stream->rank->owner;
    int ends[2];
    int status;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot make a pipe");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    stream->child_fd = ends[1];
    status = uv_poll_init(outputs->options.loop, &stream->poll, ends[0]);
    if (status != 0) {
        close(ends[0]);
        return err_set(err, ERR_FAILED, "cannot watch a pipe: %s",
                       uv_strerror(status));
    }
    stream->fd = ends[0];
    stream->poll.data = stream;
    uv_poll_start(&stream->poll, UV_READABLE, on_readable);
    return 0;
}

static int open_log(struct rank_output *output, int number, struct err *err)
{
    output->log_path = mem_printf("%s/rank-%d.log",
                                  output->owner->options.log_directory, number);
    output->log_fd =
        open(output->log_path,
             O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (output->log_fd >= 0)
        return 0;
    return err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'",
                         output->log_path);
}

int rank_outputs_open(struct rank_outputs *outputs, int rank, int *out_fd,
                      int *err_fd, struct err *err)
{
    const struct rank_output_options *options = &outputs->options;
    struct rank_output *output = &outputs->ranks[rank];
    bool has_log = options->log_directory != NULL;
    int number = options->first + rank;
    bool is_shown = number == 0 || !has_log;

    if (options->tag || (number > 0 && is_shown))
        snprintf(output->tag, sizeof(output->tag), "[rank %d] ", number);
    if (has_log && open_log(output, number, err) != 0)
        return -1;
    *out_fd = is_shown ? STDOUT_FILENO : output->log_fd;
    *err_fd = is_shown ? STDERR_FILENO : output->log_fd;
    if (!is_shown || (!has_log && output->tag[0] == '\0'))
        return 0;
    for (int i = 0; i < STREAMS; i++) {
        output->streams[i].rank = output;
        output->streams[i].sink = &outputs->sinks[i];
        if (open_stream(&output->streams[i], err) != 0)
            return -1;
    }
    *out_fd = output->streams[STREAM_OUT].child_fd;
    *err_fd = output->streams[STREAM_ERR].child_fd;
    return 0;
}

void rank_outputs_started(struct rank_outputs *outputs, int rank)
{
    for (int i = 0; i < STREAMS; i++) {
        struct stream *stream = &outputs->ranks[rank].streams[i];

        if (stream->child_fd >= 0)
            close(stream->child_fd);
        stream->child_fd = -1;
    }
}

void rank_outputs_tail(struct rank_outputs *outputs, int rank, struct buf *out)
{
    struct rank_output *output = &outputs->ranks[rank];

    if (output->tail.length > 0)
        buf_add(out, output->tail.data, output->tail.length);
    else if (output->log_path != NULL)
        (void)fs_read_tail(output->log_path, TAIL_BYTES, out);
}

/* ---- the end ---- */

bool rank_outputs_are_done(const struct rank_outputs *outputs)
{
    for (int rank = 0; rank < outputs->options.tasks; rank++) {
        for (int i = 0; i < STREAMS; i++) {
            if (outputs->ranks[rank].streams[i].fd >= 0)
                return false;
        }
    }
    return rank_sink_is_empty(&outputs->sinks[STREAM_OUT]) &&
           rank_sink_is_empty(&outputs->sinks[STREAM_ERR]);
}

const struct err *rank_outputs_error(const struct rank_outputs *outputs)
{
    return outputs->error.kind != ERR_NONE ? &outputs->error : NULL;
}

void rank_outputs_close(struct rank_outputs *outputs)
{
    for (int rank = 0; rank < outputs->options.tasks; rank++) {
        rank_outputs_started(outputs, rank);
        for (int i = 0; i < STREAMS; i++)
            end_stream(&outputs->ranks[rank].streams[i]);
    }
    for (int i = 0; i < STREAMS; i++)
        rank_sink_close(&outputs->sinks[i]);
}

void rank_outputs_destroy(struct rank_outputs *outputs)
{
    for (int rank = 0; rank < outputs->options.tasks; rank++) {
        struct rank_output *output = &outputs->ranks[rank];

        for (int i = 0; i < STREAMS; i++)
            buf_clear(&output->streams[i].line);
        if (output->log_fd >= 0)
            close(output->log_fd);
        buf_clear(&output->tail);
        free(output->log_path);
    }
    for (int i = 0; i < STREAMS; i++)
        rank_sink_clear(&outputs->sinks[i]);
    free(outputs->ranks);
    free(outputs->piece);
    free(outputs);
}
