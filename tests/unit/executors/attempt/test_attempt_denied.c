/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: flock pread fstat gethostname statvfs */
/* An attempt's files where the kernel denies what hardly any does; the calls
 * are the test's. */
#include "executors/attempt/attempt_file.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tests/unit/folder.h"

/* Errors that each call is to give; 0: none. */
static struct {
    int flock, pread, fstat, gethostname;
    bool is_overtaken; /* somebody writes the claim before it is locked */
    bool is_interrupted;
    bool is_full;
} denied;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
ssize_t __real_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset);
int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
int __real_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size);
int __real_statvfs(const char *path, struct statvfs *disk);
int __wrap_statvfs(const char *path, struct statvfs *disk);

static bool fails(int error)
{
    errno = error;
    return error != 0;
}

int __wrap_flock(int fd, int operation)
{
    if (fails(denied.flock))
        return -1;
    if (denied.is_overtaken)
        assert_int_equal(write(fd, "{", 1), 1);
    return __real_flock(fd, operation);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset)
{
    if (denied.is_interrupted) {
        denied.is_interrupted = false;
        errno = EINTR;
        return -1;
    }
    return fails(denied.pread) ? -1 : __real_pread(fd, bytes, size, offset);
}

int __wrap_fstat(int fd, struct stat *status)
{
    return fails(denied.fstat) ? -1 : __real_fstat(fd, status);
}

int __wrap_gethostname(char *name, size_t size)
{
    return fails(denied.gethostname) ? -1 : __real_gethostname(name, size);
}

int __wrap_statvfs(const char *path, struct statvfs *disk)
{
    int result = __real_statvfs(path, disk);

    if (denied.is_full)
        disk->f_bavail = 0;
    return result;
}

static int clear(void **state)
{
    memset(&denied, 0, sizeof(denied));
    return remove_folder(state);
}

static const struct attempt_exit end = {.attempt = 3, .cause = CAUSE_OK};

static void must_not_claim(const char *folder, enum err_kind kind)
{
    struct err err;

    assert_int_equal(claim_create(folder, &err), -1);
    assert_int_equal(err.kind, kind);
}

/* What has the lock has the claim, and so has what came before the lock. */
static void test_claim__is_made_with_a_lock_or_not_at_all(void **state)
{
    char *path = fs_join(*state, "claim");

    denied.flock = EWOULDBLOCK;
    must_not_claim(*state, ERR_BUSY);
    assert_int_equal(unlink(path), 0);
    denied.flock = ENOLCK;
    must_not_claim(*state, ERR_FAILED);
    assert_int_equal(unlink(path), 0);
    denied.flock = 0;
    denied.fstat = EIO;
    must_not_claim(*state, ERR_BUSY);
    assert_int_equal(unlink(path), 0);
    denied.fstat = 0;
    denied.is_overtaken = true;
    must_not_claim(*state, ERR_BUSY);
    free(path);
}

/* A claim that cannot be looked at is neither held nor free. */
static void test_judge__does_not_guess(void **state)
{
    struct claim claim;
    struct err err;

    put(*state, ".", "claim", "");
    denied.flock = ENOLCK;
    assert_int_equal(claim_judge(*state, 7, &claim, &err), -1);
    assert_non_null(strstr(err.text, "cannot lock the claim of attempt 7"));
    assert_true(claim_is_free(*state));
    denied.flock = 0;
    denied.pread = EIO;
    assert_int_equal(claim_judge(*state, 7, &claim, &err), -1);
    assert_non_null(strstr(err.text, "cannot read the claim of attempt 7"));
    assert_int_equal(claim_read(*state, &claim), -1);
    denied.pread = 0;
    assert_int_equal(claim_judge(*state, 7, &claim, &err), CLAIM_VOID);
}

static void test_exit__that_cannot_be_read_now_is_not_none(void **state)
{
    struct attempt_exit read;

    assert_int_equal(exit_write(*state, &end, NULL), 0);
    denied.pread = EIO;
    assert_int_equal(exit_read(*state, 3, &read), -1);
    denied.pread = 0;
    denied.is_interrupted = true;
    assert_int_equal(exit_read(*state, 3, &read), 1);
    assert_false(denied.is_interrupted);
}

static void test_claim__of_a_host_without_a_name(void **state)
{
    struct claim claim;

    (void)state;
    memset(&claim, 'x', sizeof(claim));
    denied.gethostname = ENAMETOOLONG;
    claim_identify(&claim);
    assert_string_equal(claim.host, "");
}

static void test_disk__is_full_without_a_free_block(void **state)
{
    assert_false(attempt_disk_is_full(*state));
    denied.is_full = true;
    assert_true(attempt_disk_is_full(*state));
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_claim__is_made_with_a_lock_or_not_at_all),
        IN_FOLDER(test_judge__does_not_guess),
        IN_FOLDER(test_exit__that_cannot_be_read_now_is_not_none),
        IN_FOLDER(test_claim__of_a_host_without_a_name),
        IN_FOLDER(test_disk__is_full_without_a_free_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
