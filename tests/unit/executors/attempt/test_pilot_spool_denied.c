/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: dup fstat pread pwrite */
/* A pilot's streams where the kernel denies their reads and writes; the calls
 * are the test's. */
#include "executors/attempt/pilot_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/folder.h"

/* Errors that each call is to give; 0: none. */
static struct {
    int dup, fstat, pread, pwrite;
    int preads_before;   /* so many go well before one does not */
    bool is_interrupted; /* the next read is */
    bool is_cut;         /* reads after the first find the end of the file */
} denied;

int __real_dup(int fd);
int __wrap_dup(int fd);
int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
ssize_t __real_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);

static bool fails(int error)
{
    errno = error;
    return error != 0;
}

int __wrap_dup(int fd)
{
    return fails(denied.dup) ? -1 : __real_dup(fd);
}

int __wrap_fstat(int fd, struct stat *status)
{
    return fails(denied.fstat) ? -1 : __real_fstat(fd, status);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset)
{
    if (denied.is_interrupted) {
        denied.is_interrupted = false;
        errno = EINTR;
        return -1;
    }
    if (denied.preads_before > 0)
        denied.preads_before--;
    else if (denied.is_cut)
        return 0;
    else if (fails(denied.pread))
        return -1;
    return __real_pread(fd, bytes, size, offset);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return fails(denied.pwrite) ? -1 : __real_pwrite(fd, bytes, size, offset);
}

/* A stream with one message, that has been written or not. */
struct stream {
    void *folder;
    char *path;
    struct spool_writer writer;
    struct spool_reader reader;
};

static int open_stream(void **state)
{
    const struct agent_cancel cancel = {.attempt = 7};
    static struct stream stream;

    if (make_folder(&stream.folder) != 0)
        return -1;
    stream.path = fs_join(stream.folder, "inbox.1");
    assert_int_equal(spool_writer_open(&stream.writer, stream.path, NULL), 0);
    spool_reader_init(&stream.reader, stream.path);
    agent_put(spool_out(&stream.writer), AGENT_CANCEL, &cancel, sizeof(cancel));
    memset(&denied, 0, sizeof(denied));
    *state = &stream;
    return 0;
}

static int close_stream(void **state)
{
    struct stream *stream = *state;

    spool_writer_close(&stream->writer);
    spool_reader_clear(&stream->reader);
    free(stream->path);
    return remove_folder(&stream->folder);
}

static void assert_arrives(struct stream *stream)
{
    struct agent_message message;

    assert_int_equal(spool_read(&stream->reader, NULL), 1);
    assert_int_equal(spool_next(&stream->reader, &message), 1);
    assert_int_equal(message.kind, AGENT_CANCEL);
    assert_int_equal(spool_next(&stream->reader, &message), 0);
}

/* What may go better the next time is tried again, and arrives once. */
static void test_writer__tries_again_what_may_pass(void **state)
{
    static const int errors[] = {ENOSPC, EDQUOT, EINTR, EAGAIN, ENOMEM,
                                 EMFILE, ENFILE, EIO,   EFBIG};
    struct stream *stream = *state;

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        denied.pwrite = errors[i];
        assert_int_equal(spool_write(&stream->writer, NULL), 1);
    }
    denied.pwrite = 0;
    denied.dup = EMFILE;
    assert_int_equal(spool_write(&stream->writer, NULL), 1);
    denied.dup = 0;
    assert_int_equal(spool_write(&stream->writer, NULL), 0);
    assert_arrives(stream);
}

static void test_writer__gives_up_what_will_not_pass(void **state)
{
    struct stream *stream = *state;
    struct err err;

    denied.pwrite = EBADF;
    assert_int_equal(spool_write(&stream->writer, &err), -1);
    assert_string_equal(err.text, "cannot write to the files of a pilot: "
                                  "Bad file descriptor");
}

static void test_reader__goes_on_after_an_interruption(void **state)
{
    struct stream *stream = *state;

    assert_int_equal(spool_write(&stream->writer, NULL), 0);
    denied.is_interrupted = true;
    assert_arrives(stream);
}

/* A file that cannot be read now, or ends within what it said it has. */
static void test_reader__loses_nothing_by_a_failed_read(void **state)
{
    struct stream *stream = *state;
    struct err err;

    assert_int_equal(spool_write(&stream->writer, NULL), 0);
    denied.fstat = EIO;
    assert_int_equal(spool_read(&stream->reader, &err), -1);
    assert_non_null(strstr(err.text, "inbox.1' at 0: Input/output error"));
    denied.fstat = 0;
    for (int reads = 0; reads < 2; reads++) {
        denied.pread = EIO;
        denied.preads_before = reads;
        assert_int_equal(spool_read(&stream->reader, NULL), -1);
        denied.pread = 0;
        denied.is_cut = true;
        denied.preads_before = reads;
        assert_int_equal(spool_read(&stream->reader, NULL), 0);
        denied.is_cut = false;
    }
    assert_arrives(stream);
}

#define IN_STREAM(name)                                                        \
    cmocka_unit_test_setup_teardown(name, open_stream, close_stream)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_STREAM(test_writer__tries_again_what_may_pass),
        IN_STREAM(test_writer__gives_up_what_will_not_pass),
        IN_STREAM(test_reader__goes_on_after_an_interruption),
        IN_STREAM(test_reader__loses_nothing_by_a_failed_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
