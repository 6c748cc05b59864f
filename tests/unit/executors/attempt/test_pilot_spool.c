/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "executors/attempt/pilot_spool.h"
#include "tests/unit/folder.h"

/* A stream in the test's folder, its two ends. */
struct stream {
    char *path;
    struct spool_writer writer;
    struct spool_reader reader;
};

static void stream_open(struct stream *stream, const char *folder)
{
    stream->path = fs_join(folder, "inbox.1");
    assert_int_equal(spool_writer_open(&stream->writer, stream->path, NULL), 0);
    spool_reader_init(&stream->reader, stream->path);
}

static void stream_close(struct stream *stream)
{
    spool_writer_close(&stream->writer);
    spool_reader_clear(&stream->reader);
    free(stream->path);
}

static void say(struct stream *stream, int64_t attempt)
{
    const struct agent_cancel cancel = {.attempt = attempt};

    agent_put(spool_out(&stream->writer), AGENT_CANCEL, &cancel,
              sizeof(cancel));
}

static void assert_heard(struct stream *stream, int64_t first, int64_t last)
{
    struct agent_message message;
    struct agent_cancel cancel;

    for (int64_t attempt = first; attempt <= last; attempt++) {
        assert_int_equal(spool_next(&stream->reader, &message), 1);
        assert_int_equal(message.kind, AGENT_CANCEL);
        assert_int_equal(agent_get(&message, &cancel, sizeof(cancel)), 0);
        assert_int_equal(cancel.attempt, attempt);
    }
    assert_int_equal(spool_next(&stream->reader, &message), 0);
}

static off_t size_of(const struct stream *stream)
{
    struct stat status;

    assert_int_equal(stat(stream->path, &status), 0);
    return status.st_size;
}

static void test_stream__is_read_as_it_is_written(void **state)
{
    struct stream stream;

    stream_open(&stream, *state);
    assert_int_equal(spool_read(&stream.reader, NULL), 0);
    say(&stream, 1);
    say(&stream, 2);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    assert_int_equal(spool_read(&stream.reader, NULL), 1);
    assert_heard(&stream, 1, 2);
    assert_int_equal(spool_read(&stream.reader, NULL), 0);
    say(&stream, 3);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    say(&stream, 4);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    assert_int_equal(spool_read(&stream.reader, NULL), 1);
    assert_heard(&stream, 3, 4);
    stream_close(&stream);
}

static void test_stream__has_one_writer(void **state)
{
    struct spool_writer second;
    struct stream stream;
    struct err err;

    stream_open(&stream, *state);
    assert_int_equal(spool_writer_open(&second, stream.path, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
    spool_writer_close(&second);
    stream_close(&stream);
}

static void test_reader__waits_for_a_file_that_is_not_there(void **state)
{
    char *path = fs_join(*state, "outbox.7");
    struct spool_reader reader;

    spool_reader_init(&reader, path);
    assert_int_equal(spool_read(&reader, NULL), 0);
    spool_reader_clear(&reader);
    free(path);
}

/* However little of a frame has come so far, there is no message; once all
 * has, there are all. */
static void test_reader__takes_no_half_frame(void **state)
{
    struct buf whole = BUF_INIT;
    struct stream stream;
    char *other = fs_join(*state, "part");

    stream_open(&stream, *state);
    say(&stream, 1);
    say(&stream, 2);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    assert_int_equal(fs_read(stream.path, 1 << 20, &whole, NULL), 0);
    spool_reader_clear(&stream.reader);
    spool_reader_init(&stream.reader, other);
    for (size_t length = 0; length < whole.length; length++) {
        assert_int_equal(fs_write_atomic(other, whole.data, length, 0600, NULL),
                         0);
        assert_int_equal(spool_read(&stream.reader, NULL), 0);
    }
    assert_int_equal(
        fs_write_atomic(other, whole.data, whole.length, 0600, NULL), 0);
    assert_int_equal(spool_read(&stream.reader, NULL), 1);
    assert_heard(&stream, 1, 2);
    buf_clear(&whole);
    free(other);
    stream_close(&stream);
}

/* A network file system may show the end of a file before what is in its
 * middle: zeroes there, for a while. */
static void test_reader__waits_for_what_shows_as_zeroes(void **state)
{
    struct buf whole = BUF_INIT;
    struct stream stream;
    int fd;

    stream_open(&stream, *state);
    say(&stream, 1);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    assert_int_equal(fs_read(stream.path, 1 << 20, &whole, NULL), 0);
    fd = open(stream.path, O_RDWR);
    for (off_t at = 0; at < (off_t)whole.length; at++) {
        char byte = whole.data[at];

        if (byte == '\0')
            continue;
        assert_int_equal(pwrite(fd, "\0", 1, at), 1);
        /* A length that is none is as good as what is not there yet. */
        assert_true(spool_read(&stream.reader, NULL) <= 0);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    assert_int_equal(spool_read(&stream.reader, NULL), 1);
    assert_heard(&stream, 1, 1);
    close(fd);
    buf_clear(&whole);
    stream_close(&stream);
}

static void test_reader__refuses_a_file_cut_short(void **state)
{
    struct stream stream;
    struct err err;

    stream_open(&stream, *state);
    say(&stream, 1);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    assert_int_equal(spool_read(&stream.reader, NULL), 1);
    assert_int_equal(truncate(stream.path, size_of(&stream) - 1), 0);
    assert_int_equal(spool_read(&stream.reader, &err), -1);
    assert_non_null(strstr(err.text, "inbox.1"));
    assert_int_equal(unlink(stream.path), 0);
    assert_int_equal(spool_read(&stream.reader, &err), -1);
    stream_close(&stream);
}

static void test_reader__refuses_garbage(void **state)
{
    static const char garbage[] = "\xff\xff\xff\xff this is no stream at all";
    struct spool_reader reader;
    char *path = fs_join(*state, "outbox.1");

    put(*state, ".", "outbox.1", garbage);
    spool_reader_init(&reader, path);
    assert_int_equal(spool_read(&reader, NULL), -1);
    spool_reader_clear(&reader);
    free(path);
}

static void test_writer__needs_a_folder(void **state)
{
    char *path = fs_join(*state, "none/inbox.1");
    struct spool_writer writer;
    struct err err;

    assert_int_equal(spool_writer_open(&writer, path, &err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_non_null(strstr(err.text, path));
    spool_writer_close(&writer);
    free(path);
}

static void test_reader__refuses_what_is_no_file(void **state)
{
    char *path = fs_join(*state, "outbox.1");
    struct spool_reader reader;
    struct err err;

    assert_int_equal(symlink("elsewhere", path), 0);
    spool_reader_init(&reader, path);
    assert_int_equal(spool_read(&reader, &err), -1);
    assert_non_null(strstr(err.text, path));
    spool_reader_clear(&reader);
    free(path);
}

/* Files may grow no more beyond so many bytes. */
static void limit_files(off_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < 0 ? limit.rlim_max : (rlim_t)bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A limit stands for a full disk: what of a frame there is room for goes in,
 * and the whole of it once there is more. */
static void test_writer__goes_on_where_the_room_ended(void **state)
{
    struct stream stream;
    off_t size;

    signal(SIGXFSZ, SIG_IGN);
    stream_open(&stream, *state);
    say(&stream, 1);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    size = size_of(&stream);
    say(&stream, 2);
    for (off_t room = 0; room < size; room++) {
        limit_files(size + room);
        assert_int_equal(spool_write(&stream.writer, NULL), 1);
        limit_files(-1);
        assert_int_equal(spool_read(&stream.reader, NULL), room == 0);
    }
    say(&stream, 3);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    assert_int_equal(spool_read(&stream.reader, NULL), 1);
    assert_heard(&stream, 1, 3);
    stream_close(&stream);
}

/* Thousands of messages, more than a frame takes. */
static void test_stream__takes_many(void **state)
{
    enum { COUNT = 100000 };
    struct stream stream;

    stream_open(&stream, *state);
    for (int64_t attempt = 1; attempt <= COUNT; attempt++)
        say(&stream, attempt);
    assert_int_equal(spool_write(&stream.writer, NULL), 0);
    assert_int_equal(spool_read(&stream.reader, NULL), 1);
    assert_heard(&stream, 1, COUNT);
    stream_close(&stream);
}

static void test_wait__grows_until_something_comes(void **state)
{
    int64_t wait_ms = 0, sum_ms = 0;

    (void)state;
    assert_int_equal(spool_wait_ms(&wait_ms, false), SPOOL_POLL_MIN_MS);
    for (int i = 0; i < 20; i++) {
        int64_t before_ms = wait_ms;

        assert_true(spool_wait_ms(&wait_ms, false) >= before_ms);
        sum_ms += wait_ms;
    }
    assert_int_equal(wait_ms, SPOOL_POLL_MAX_MS);
    assert_true(sum_ms > 10 * SPOOL_POLL_MAX_MS);
    assert_int_equal(spool_wait_ms(&wait_ms, true), SPOOL_POLL_MIN_MS);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_stream__is_read_as_it_is_written),
        IN_FOLDER(test_stream__has_one_writer),
        IN_FOLDER(test_reader__waits_for_a_file_that_is_not_there),
        IN_FOLDER(test_reader__takes_no_half_frame),
        IN_FOLDER(test_reader__waits_for_what_shows_as_zeroes),
        IN_FOLDER(test_reader__refuses_a_file_cut_short),
        IN_FOLDER(test_reader__refuses_garbage),
        IN_FOLDER(test_reader__refuses_what_is_no_file),
        IN_FOLDER(test_writer__needs_a_folder),
        IN_FOLDER(test_writer__goes_on_where_the_room_ended),
        IN_FOLDER(test_stream__takes_many),
        cmocka_unit_test(test_wait__grows_until_something_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
