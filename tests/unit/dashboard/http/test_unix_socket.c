/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/http/unix_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/folder.h"

static struct unix_socket *must_open(const char *path)
{
    struct err err = {0};
    struct unix_socket *one = unix_socket_open(path, &err);

    if (one == NULL)
        fail_msg("%s", err.text);
    return one;
}

static void assert_refused(const char *path, enum err_kind kind,
                           const char *text)
{
    struct err err = {0};

    assert_null(unix_socket_open(path, &err));
    if (err.kind != kind || strstr(err.text, text) == NULL)
        fail_msg("%d: %s", err.kind, err.text);
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, strlen(path));
    return address;
}

static void assert_answers(const char *path)
{
    const struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(
        connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
}

/* A socket that no dashboard made. backlog < 0: nobody listens on it. */
static int put_socket(const char *path, int backlog)
{
    const struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(
        bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    if (backlog >= 0)
        assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

static mode_t mode_of(const char *path)
{
    struct stat file;

    assert_int_equal(lstat(path, &file), 0);
    return file.st_mode & 07777;
}

static void test_unix_socket__is_its_users_alone(void **state)
{
    char *folder = fs_join(*state, "new"), *path = fs_join(folder, "s");
    char *lock = fs_join(folder, "s.lock");
    mode_t mask = umask(0);
    struct unix_socket *one = must_open(path);

    umask(mask);
    assert_int_equal(mode_of(folder), 0700);
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(mode_of(lock), 0600);
    assert_answers(path);
    unix_socket_close(one);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_not_equal(access(lock, F_OK), 0);
    free(lock);
    free(path);
    free(folder);
}

static void test_unix_socket__is_in_no_folder_of_others(void **state)
{
    static const mode_t modes[] = {0755, 0710, 01777, 0701};
    char *path = fs_join(*state, "s"), *link = fs_join(*state, "link");
    char *behind = fs_join(link, "s");

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(*state, modes[i]), 0);
        assert_refused(path, ERR_FAILED, "not a private directory");
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_int_equal(chmod(*state, 0700), 0);
    assert_int_equal(symlink(*state, link), 0);
    assert_refused(behind, ERR_FAILED, "not a private directory");
    assert_refused("/no/such/s", ERR_FAILED, "'/no/such'");
    free(behind);
    free(link);
    free(path);
}

static void test_unix_socket__takes_the_place_of_a_stale_one(void **state)
{
    char *path = fs_join(*state, "s"), *lock = fs_join(*state, "s.lock");

    close(put_socket(path, 1));
    put(*state, "", "s.lock", ""); /* of a program that was killed */
    unix_socket_close(must_open(path));
    assert_int_not_equal(access(lock, F_OK), 0);
    free(lock);
    free(path);
}

static void test_unix_socket__leaves_one_alone_that_answers(void **state)
{
    char *path = fs_join(*state, "s");
    struct unix_socket *one = must_open(path);
    int fd;

    assert_refused(path, ERR_BUSY, "another dashboard listens on");
    assert_answers(path);
    unix_socket_close(one);
    /* Of a program that has no lock. */
    fd = put_socket(path, 1);
    assert_refused(path, ERR_BUSY, "another process listens on");
    assert_answers(path);
    close(fd);
    free(path);
}

/* Its program does not accept at the moment: that is no reason to replace it.
 */
static void test_unix_socket__leaves_one_alone_that_is_busy(void **state)
{
    char *path = fs_join(*state, "s");
    int fd = put_socket(path, 0), waiting = socket(AF_UNIX, SOCK_STREAM, 0);
    const struct sockaddr_un address = address_of(path);

    assert_int_equal(
        connect(waiting, (const struct sockaddr *)&address, sizeof(address)),
        0);
    assert_refused(path, ERR_BUSY, "another process listens on");
    assert_int_equal(access(path, F_OK), 0);
    close(waiting);
    close(fd);
    free(path);
}

/* On a machine that shares the folder, where this one's socket refuses. */
static void test_unix_socket__leaves_one_alone_whose_lock_is_held(void **state)
{
    char *path = fs_join(*state, "s"), *lock = fs_join(*state, "s.lock");
    int fd;

    close(put_socket(path, 1));
    put(*state, "", "s.lock", "");
    fd = open(lock, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_refused(path, ERR_BUSY, "shares the folder");
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(lock, F_OK), 0);
    close(fd);
    free(lock);
    free(path);
}

static void test_unix_socket__replaces_nothing_else(void **state)
{
    char *path = fs_join(*state, "file"), *link = fs_join(*state, "link");

    put(*state, "", "file", "mine");
    assert_refused(path, ERR_USAGE, "is not a socket");
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(symlink(path, link), 0);
    assert_refused(link, ERR_USAGE, "is not a socket");
    free(link);
    free(path);
}

static void test_unix_socket__has_a_short_path(void **state)
{
    char name[101] = "", *path;

    memset(name, 'x', sizeof(name) - 1);
    path = fs_join(*state, name);
    assert_refused(path, ERR_USAGE, "at most 107 bytes");
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_unix_socket__is_its_users_alone),
        FOLDER_TEST(test_unix_socket__is_in_no_folder_of_others),
        FOLDER_TEST(test_unix_socket__takes_the_place_of_a_stale_one),
        FOLDER_TEST(test_unix_socket__leaves_one_alone_that_answers),
        FOLDER_TEST(test_unix_socket__leaves_one_alone_that_is_busy),
        FOLDER_TEST(test_unix_socket__leaves_one_alone_whose_lock_is_held),
        FOLDER_TEST(test_unix_socket__replaces_nothing_else),
        FOLDER_TEST(test_unix_socket__has_a_short_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
