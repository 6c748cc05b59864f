/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/access/login_code.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/folder.h"

enum { NOW_MS = 123456789 };

static void must_make(const char *folder, int64_t now_ms,
                      char code[LOGIN_CODE_SIZE])
{
    struct err err = {0};

    if (login_code_make(folder, now_ms, code, &err) < 0)
        fail_msg("%s", err.text);
}

static int count_files(const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    int count = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void test_code__is_for_one_use(void **state)
{
    char code[LOGIN_CODE_SIZE], other[LOGIN_CODE_SIZE];

    must_make(*state, NOW_MS, code);
    must_make(*state, NOW_MS, other);
    assert_string_not_equal(code, other);
    assert_true(login_code_use(*state, code, NOW_MS));
    assert_false(login_code_use(*state, code, NOW_MS));
    assert_true(login_code_use(*state, other, NOW_MS + 1));
    assert_int_equal(count_files(*state), 0);
}

static void test_code__is_valid_for_a_minute(void **state)
{
    static const struct {
        int64_t after_ms;
        bool is_valid;
    } cases[] = {{0, true},
                 {LOGIN_CODE_VALID_MS - 1, true},
                 {LOGIN_CODE_VALID_MS, false},
                 {LOGIN_CODE_VALID_MS + 1, false},
                 {INT64_C(1) << 40, false},
                 /* of a clock that began anew */
                 {-1, false},
                 {-NOW_MS, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char code[LOGIN_CODE_SIZE];

        must_make(*state, NOW_MS, code);
        if (login_code_use(*state, code, NOW_MS + cases[i].after_ms) !=
            cases[i].is_valid)
            fail_msg("after %lld ms", (long long)cases[i].after_ms);
        assert_false(login_code_use(*state, code, NOW_MS));
    }
}

static void test_code__that_nobody_made_is_none(void **state)
{
    static const char *const codes[] = {
        "",      "0",   "00000000000000000000000000000000", "../../etc/passwd",
        "code-", "\xff"};
    char code[LOGIN_CODE_SIZE];

    must_make(*state, NOW_MS, code);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        assert_false(login_code_use(*state, codes[i], NOW_MS));
    code[0] = code[0] == '0' ? '1' : '0';
    assert_false(login_code_use(*state, code, NOW_MS));
    assert_int_equal(count_files(*state), 1);
}

/* The caller's to free. */
static char *path_of_code(const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    char *path = NULL;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (path == NULL && strncmp(entry->d_name, "code-", 5) == 0)
            path = fs_join(folder, entry->d_name);
    }
    closedir(directory);
    assert_non_null(path);
    return path;
}

/* Another user could have put anything else there. */
static void test_code__is_a_file_of_this_user_alone(void **state)
{
    char *elsewhere = fs_join(*state, "elsewhere");
    char code[LOGIN_CODE_SIZE];
    char *path;

    must_make(*state, NOW_MS, code);
    path = path_of_code(*state);
    assert_int_equal(chmod(path, 0644), 0);
    assert_false(login_code_use(*state, code, NOW_MS));
    free(path);

    must_make(*state, NOW_MS, code);
    path = path_of_code(*state);
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_false(login_code_use(*state, code, NOW_MS));
    free(path);

    must_make(*state, NOW_MS, code);
    path = path_of_code(*state);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(login_code_use(*state, code, NOW_MS));
    free(path);
    free(elsewhere);
}

static void test_code__has_a_time(void **state)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "x\n",
                                        "-1\n",
                                        "9223372036854775807\n",
                                        "-9223372036854775808\n",
                                        "99999999999999999999999999999999\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char code[LOGIN_CODE_SIZE];
        char *path;

        must_make(*state, NOW_MS, code);
        path = path_of_code(*state);
        assert_int_equal(
            fs_write_atomic(path, texts[i], strlen(texts[i]), 0600, NULL), 0);
        assert_false(login_code_use(*state, code, NOW_MS));
        free(path);
    }
}

/* Nor is the code in a name of a file, or in one. */
static void test_code__is_in_no_file(void **state)
{
    char code[LOGIN_CODE_SIZE];
    DIR *directory;
    const struct dirent *entry;

    must_make(*state, NOW_MS, code);
    directory = opendir(*state);
    while ((entry = readdir(directory)) != NULL)
        assert_null(strstr(entry->d_name, code));
    closedir(directory);
}

static void test_code__that_is_too_old_is_removed(void **state)
{
    char code[LOGIN_CODE_SIZE];

    must_make(*state, NOW_MS, code);
    must_make(*state, NOW_MS + 1, code);
    put(*state, "", "operator", "kept");
    must_make(*state, NOW_MS + LOGIN_CODE_VALID_MS, code);
    assert_int_equal(count_files(*state), 3);
    assert_true(login_code_use(*state, code, NOW_MS + LOGIN_CODE_VALID_MS));
}

static void test_code__needs_a_folder(void **state)
{
    char *folder = fs_join(*state, "none");
    char code[LOGIN_CODE_SIZE];
    struct err err = {0};

    assert_int_equal(login_code_make(folder, NOW_MS, code, &err), -1);
    assert_non_null(strstr(err.text, folder));
    assert_false(login_code_use(folder, code, NOW_MS));
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_code__is_for_one_use),
        FOLDER_TEST(test_code__is_valid_for_a_minute),
        FOLDER_TEST(test_code__that_nobody_made_is_none),
        FOLDER_TEST(test_code__is_a_file_of_this_user_alone),
        FOLDER_TEST(test_code__has_a_time),
        FOLDER_TEST(test_code__is_in_no_file),
        FOLDER_TEST(test_code__that_is_too_old_is_removed),
        FOLDER_TEST(test_code__needs_a_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
