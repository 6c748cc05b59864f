/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/access/private_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/folder.h"

static void test_private_file__is_read_up_to_a_size(void **state)
{
    char *path = fs_join(*state, "a");
    char text[5];

    put(*state, "", "a", "123");
    assert_int_equal(private_file_read(path, text, sizeof(text)), 3);
    assert_string_equal(text, "123");
    put(*state, "", "a", "123456");
    assert_int_equal(private_file_read(path, text, sizeof(text)), 4);
    assert_string_equal(text, "1234");
    put(*state, "", "a", "");
    assert_int_equal(private_file_read(path, text, sizeof(text)), 0);
    assert_string_equal(text, "");
    free(path);
}

static void test_private_file__that_others_may_use_is_none(void **state)
{
    static const mode_t modes[] = {0640, 0620, 0610, 0604, 0602, 0601};
    char *path = fs_join(*state, "a");
    char text[5];

    put(*state, "", "a", "123");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(private_file_read(path, text, sizeof(text)), -1);
        assert_int_equal(errno, 0);
    }
    free(path);
}

static void test_private_file__is_a_file(void **state)
{
    char *path = fs_join(*state, "a"), *other = fs_join(*state, "b");
    char text[5];

    assert_int_equal(private_file_read(path, text, sizeof(text)), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(private_file_read(path, text, sizeof(text)), -1);
    assert_int_equal(errno, 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(private_file_read(path, text, sizeof(text)), -1);
    assert_int_equal(errno, 0);
    assert_int_equal(unlink(path), 0);
    put(*state, "", "b", "123");
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(private_file_read(path, text, sizeof(text)), -1);
    assert_int_equal(errno, ELOOP);
    free(path);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_private_file__is_read_up_to_a_size),
        FOLDER_TEST(test_private_file__that_others_may_use_is_none),
        FOLDER_TEST(test_private_file__is_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
