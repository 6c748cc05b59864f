/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: fstat pread */
#include "dashboard/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/folder.h"

/* ---- what the linker puts in place ---- */

static bool fstat_fails;
static int reads_to_fail, read_error; /* 0: as if the file had become shorter */

int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status)
{
    if (!fstat_fails)
        return __real_fstat(fd, status);
    errno = EIO;
    return -1;
}

ssize_t __real_pread(int fd, void *bytes, size_t length, off_t from);
ssize_t __wrap_pread(int fd, void *bytes, size_t length, off_t from);
ssize_t __wrap_pread(int fd, void *bytes, size_t length, off_t from)
{
    if (reads_to_fail == 0)
        return __real_pread(fd, bytes, length, from);
    reads_to_fail--;
    errno = read_error;
    return read_error == 0 ? 0 : -1;
}

/* ---- opening ---- */

static int must_open(const char *folder, const char *directory, int64_t rank,
                     int64_t rank_count)
{
    struct log_file file;
    struct err err = {0};

    if (log_file_open(folder, directory, rank, &file, &err) != 0)
        fail_msg("%s: %s", directory, err.text);
    assert_int_equal(file.rank_count, rank_count);
    return file.fd;
}

static void must_refuse(const char *folder, const char *directory,
                        enum err_kind kind)
{
    struct log_file file;
    struct err err = {0};

    if (log_file_open(folder, directory, 0, &file, &err) != -1)
        fail_msg("'%s' is opened", directory);
    assert_int_equal(file.fd, -1);
    assert_int_equal(err.kind, kind);
}

static void must_hold(int fd, const char *text)
{
    struct buf bytes = BUF_INIT;
    struct log_piece piece;
    struct err err = {0};

    assert_true(fd >= 0);
    assert_int_equal(log_file_read(fd, 0, 100, &piece, &bytes, &err), 0);
    assert_string_equal(buf_text(&bytes), text);
    buf_clear(&bytes);
    close(fd);
}

static void test_log_file__is_found_below_the_runs(void **state)
{
    static const char *const folders[] = {"runs/a/1", "runs/ab/1", "runs/.a/1",
                                          "runs/..b/1", "runs/a."};

    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        put(*state, folders[i], "log", folders[i]);
        must_hold(must_open(*state, folders[i], 0, 1), folders[i]);
    }
}

static void test_log_file__need_not_be_there_yet(void **state)
{
    static const char *const folders[] = {"runs/a", "runs/b", "runs/b/c"};

    /* There are no runs at all. */
    assert_int_equal(must_open(*state, "runs/a", 0, 1), -1);
    put(*state, "runs/a", "other", "");
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        assert_int_equal(must_open(*state, folders[i], 0, 1), -1);
}

/* The number of ranks is where the first one is missing. */
static void test_log_file__may_be_a_ranks(void **state)
{
    for (int rank = 1; rank <= 6; rank++) {
        char *name = mem_printf("rank-%d.log", rank);

        assert_int_equal(must_open(*state, "runs/a", rank, rank), -1);
        put(*state, "runs/a", name, name);
        must_hold(must_open(*state, "runs/a", rank, rank + 1), name);
        free(name);
    }
    assert_int_equal(must_open(*state, "runs/a", 0, 7), -1);
}

static void test_log_file__counts_ranks_up_to_a_bound(void **state)
{
    for (int rank = 1; rank <= 1 << 20; rank *= 2) {
        char *name = mem_printf("rank-%d.log", rank);

        put(*state, "runs/a", name, "");
        free(name);
    }
    assert_int_equal(must_open(*state, "runs/a", 0, (1 << 19) + 1), -1);
}

static void make_link(const char *folder, const char *to, const char *from)
{
    char *path = fs_join(folder, from);

    assert_int_equal(symlink(to, path), 0);
    free(path);
}

static void make_socket(const char *folder, const char *from)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", folder, from);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    close(fd);
}

static void test_log_file__leads_nowhere_else(void **state)
{
    static const char *const bad[] = {
        "",
        "log",
        "other/a",
        "run/a",
        "runs/",
        "runs//a",
        "runs/.",
        "runs/./a",
        "runs/../a",
        "runs/a/..",
        "runs/a/",
        "runs/link",
        "runs/a/log",
        "runs/linked",
        "runs/dir",
        "runs/pipe",
        "runs/sock",
        "/runs/a",
        "runs/a/../../secret",
    };
    char *path = fs_join(*state, "runs/pipe/log");

    put(*state, "secret", "log", "secret");
    put(*state, "runs/a", "log", "a");
    put(*state, "runs/linked", "other", "");
    put(*state, "runs/dir/log", "other", "");
    put(*state, "runs/pipe", "other", "");
    put(*state, "runs/sock", "other", "");
    make_link(*state, "../secret", "runs/link");
    make_link(*state, "../../secret/log", "runs/linked/log");
    make_socket(*state, "runs/sock/log");
    assert_int_equal(mkfifo(path, 0600), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        must_refuse(*state, bad[i], ERR_NOT_FOUND);
    must_hold(must_open(*state, "runs/a", 0, 1), "a");
    free(path);
}

static void test_log_file__says_why_it_cannot_be_opened(void **state)
{
    char *directory = mem_printf("runs/%0300d", 1);

    put(*state, "runs/a", "log", "a");
    must_refuse(*state, directory, ERR_FAILED);
    fstat_fails = true;
    must_refuse(*state, "runs/a", ERR_NOT_FOUND);
    fstat_fails = false;
    free(directory);
}

/* ---- reading ---- */

static void test_log_file__is_read_in_pieces(void **state)
{
    static const struct {
        int64_t from, length, from_byte;
        const char *text;
    } cases[] = {
        {0, 100, 0, "0123456789"},
        {0, 4, 0, "0123"},
        {7, 3, 7, "789"},
        {7, 4, 7, "789"},
        {10, 1, 10, ""},
        {11, 1, 10, ""},
        {INT64_C(1) << 53, 1, 10, ""},
        {0, 0, 0, ""},
        {-1, 100, 9, "9"},
        {-10, 2, 0, "01"},
        {-11, 2, 0, "01"},
        {-(INT64_C(1) << 53), 100, 0, "0123456789"},
    };
    int fd;

    put(*state, "runs/a", "log", "0123456789");
    fd = must_open(*state, "runs/a", 0, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf bytes = BUF_INIT;
        struct log_piece piece;
        struct err err = {0};

        assert_int_equal(log_file_read(fd, cases[i].from, cases[i].length,
                                       &piece, &bytes, &err),
                         0);
        assert_int_equal(piece.size_bytes, 10);
        assert_int_equal(piece.from_byte, cases[i].from_byte);
        assert_string_equal(buf_text(&bytes), cases[i].text);
        buf_clear(&bytes);
    }
    close(fd);
}

static void test_log_file__is_read_while_it_changes_or_fails(void **state)
{
    static const struct {
        int error, status;
        const char *text;
    } cases[] = {{EINTR, 0, "0123"}, {0, 0, ""}, {EIO, -1, ""}};
    int fd;

    put(*state, "runs/a", "log", "0123");
    fd = must_open(*state, "runs/a", 0, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf bytes = BUF_INIT;
        struct log_piece piece;
        struct err err = {0};

        reads_to_fail = 1;
        read_error = cases[i].error;
        assert_int_equal(log_file_read(fd, 0, 4, &piece, &bytes, &err),
                         cases[i].status);
        assert_int_equal(reads_to_fail, 0);
        assert_int_equal(bytes.length, strlen(cases[i].text));
        if (bytes.length > 0)
            assert_string_equal(buf_text(&bytes), cases[i].text);
        assert_int_equal(err.text[0] != '\0', cases[i].status != 0);
        buf_clear(&bytes);
    }
    close(fd);
}

static void test_log_file__says_why_it_cannot_be_read(void **state)
{
    struct buf bytes = BUF_INIT;
    struct log_piece piece;
    struct err err = {0};

    (void)state;
    fstat_fails = true;
    assert_int_equal(log_file_read(0, 0, 4, &piece, &bytes, &err), -1);
    fstat_fails = false;
    assert_int_equal(err.kind, ERR_FAILED);
    assert_non_null(strstr(err.text, "cannot read the size of a log"));
    assert_int_equal(bytes.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_log_file__is_found_below_the_runs),
        FOLDER_TEST(test_log_file__need_not_be_there_yet),
        FOLDER_TEST(test_log_file__may_be_a_ranks),
        FOLDER_TEST(test_log_file__counts_ranks_up_to_a_bound),
        FOLDER_TEST(test_log_file__leads_nowhere_else),
        FOLDER_TEST(test_log_file__says_why_it_cannot_be_opened),
        FOLDER_TEST(test_log_file__is_read_in_pieces),
        FOLDER_TEST(test_log_file__is_read_while_it_changes_or_fails),
        cmocka_unit_test(test_log_file__says_why_it_cannot_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
