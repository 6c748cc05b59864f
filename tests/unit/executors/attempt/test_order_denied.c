/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: close write */
/* An order that the kernel does not let be written, which a network file system
 * may say only when the file is closed; the calls are the test's. */
#include "executors/attempt/order_file.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/unit/folder.h"

static bool is_write_denied, is_close_denied;

int __real_close(int fd);
int __wrap_close(int fd);
ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);

int __wrap_close(int fd)
{
    int result = __real_close(fd);

    if (!is_close_denied)
        return result;
    errno = EDQUOT;
    return -1;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (!is_write_denied)
        return __real_write(fd, bytes, size);
    errno = ENOSPC;
    return -1;
}

static void test_order__is_whole_or_not_there(void **state)
{
    char *const argv[] = {(char[]){"train"}, NULL};
    char *const envp[] = {NULL};
    const struct attempt_spec spec = {.attempt = 1,
                                      .directory = *state,
                                      .work_directory = "/",
                                      .argv = argv,
                                      .envp = envp};
    char *path = fs_join(*state, "order");
    char *temporary = fs_join(*state, "order.tmp");
    struct err err;

    is_write_denied = true;
    assert_int_equal(order_write(&spec, &err), -1);
    is_write_denied = false;
    assert_non_null(strstr(err.text, "order': No space left on device"));
    is_close_denied = true;
    assert_int_equal(order_write(&spec, &err), -1);
    is_close_denied = false;
    assert_non_null(strstr(err.text, "order': Disk quota exceeded"));
    assert_false(fs_exists(path));
    assert_false(fs_exists(temporary));
    assert_int_equal(order_write(&spec, &err), 0);
    assert_true(fs_exists(path));
    free(path);
    free(temporary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order__is_whole_or_not_there,
                                        make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
