/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/shards.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "orchestrator/job/hosts.h"
#include "tests/unit/folder.h"

static int link_until(const char *root, int64_t copy, int64_t copies,
                      const atomic_bool *stop, struct err *err)
{
    char *source = fs_join(root, "in"), *list = fs_join(root, "shards/s/c");
    char *target = mem_printf("%s/to/%d", root, (int)copy);
    const struct shard shard = {"c", source, list, target, copy, copies, false};
    int result = shards_link(&shard, stop, err);

    free(source);
    free(list);
    free(target);
    return result;
}

static int link_shard(const char *root, int64_t copy, int64_t copies,
                      struct err *err)
{
    return link_until(root, copy, copies, NULL, err);
}

/* Whether a copy has a link with that key, to the file with that key. */
static bool has(const char *root, int64_t copy, const char *key)
{
    char *path = mem_printf("%s/to/%d/%s", root, (int)copy, key);
    char *file = mem_printf("%s/in/%s", root, key);
    struct stat link = {0}, original = {0};
    bool found = lstat(path, &link) == 0;

    if (found) {
        assert_true(S_ISLNK(link.st_mode));
        assert_int_equal(stat(path, &link), 0);
        assert_int_equal(stat(file, &original), 0);
        assert_int_equal(link.st_ino, original.st_ino);
    }
    free(path);
    free(file);
    return found;
}

/* In the order of their bytes, which is not that of their folders. */
static const char *const keys[] = {
    ".hidden",   "B",        "a b",  "a-c/1",     "a/2", "a/c/3",    "a/c/d/4",
    "a/c/d/e/5", "a/c/d/e2", "a\nb", "b'\"$(x)c", "z",   "\xc3\xa4", "\xff"};

/* by strcmp: '\n' < ' ' < '-' < '/' */
static const char *const sorted[] = {
    ".hidden",   "B",     "a\nb",     "a b",       "a-c/1",
    "a/2",       "a/c/3", "a/c/d/4",  "a/c/d/e/5", "a/c/d/e2",
    "b'\"$(x)c", "z",     "\xc3\xa4", "\xff"};

static void put_key(const char *root, const char *key)
{
    char *path = fs_join("in", key), *slash = strrchr(path, '/');

    *slash = '\0';
    put(root, path, slash + 1, key);
    free(path);
}

static void put_keys(const char *root)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        put_key(root, keys[i]);
}

static void expect_shares(const char *root, int64_t copies)
{
    for (size_t i = 0; i < ARRAY_LEN(sorted); i++)
        for (int64_t copy = 0; copy < copies; copy++)
            assert_int_equal(has(root, copy, sorted[i]),
                             (int64_t)i % copies == copy);
}

static void test_shards__each_file_is_in_one_copy(void **state)
{
    put_keys(*state);
    for (int64_t copy = 0; copy < 3; copy++)
        assert_int_equal(link_shard(*state, copy, 3, NULL), 0);
    expect_shares(*state, 3);
}

static void test_shards__all_copies_share_the_same_files(void **state)
{
    char *new = fs_join(*state, "in/A");

    put_keys(*state);
    assert_int_equal(link_shard(*state, 0, 3, NULL), 0);
    put_key(*state, "A");
    for (int64_t copy = 1; copy < 3; copy++)
        assert_int_equal(link_shard(*state, copy, 3, NULL), 0);
    unlink(new);
    expect_shares(*state, 3);
    free(new);
}

static void test_shards__a_retry_finds_what_the_first_found(void **state)
{
    char *extra = fs_join(*state, "to/0/extra");

    put_keys(*state);
    for (int64_t copy = 0; copy < 2; copy++)
        assert_int_equal(link_shard(*state, copy, 2, NULL), 0);
    put(*state, "to/0", "extra", "x");
    put(*state, "to/0", "B", "not the link any more");
    assert_int_equal(link_shard(*state, 0, 2, NULL), 0);
    expect_shares(*state, 2);
    assert_false(fs_exists(extra));
    free(extra);
}

static void test_shards__more_copies_than_files_have_empty_folders(void **state)
{
    char *last = fs_join(*state, "to/4");

    put_key(*state, "a");
    put_key(*state, "b");
    for (int64_t copy = 0; copy < 5; copy++)
        assert_int_equal(link_shard(*state, copy, 5, NULL), 0);
    assert_true(has(*state, 0, "a"));
    assert_true(has(*state, 1, "b"));
    assert_true(fs_exists(last));
    assert_false(has(*state, 4, "a"));
    free(last);
}

static void test_shards__links_are_files_and_pipes_are_not(void **state)
{
    char *folder = fs_join(*state, "in/d"), *link = fs_join(*state, "in/l");
    char *pipe = fs_join(*state, "in/p"), *copy = fs_join(*state, "to/0/l");
    char *no_pipe = fs_join(*state, "to/0/p");
    struct stat status;

    put_key(*state, "d/1");
    assert_int_equal(symlink(folder, link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(link_shard(*state, 0, 1, NULL), 0);
    assert_int_equal(stat(copy, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_int_equal(lstat(copy, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_not_equal(lstat(no_pipe, &status), 0);
    free(folder);
    free(link);
    free(pipe);
    free(copy);
    free(no_pipe);
}

static void test_shards__one_file_is_a_channel_of_one(void **state)
{
    char *link = fs_join(*state, "to/0/in"),
         *other = fs_join(*state, "to/1/in");
    struct buf text = BUF_INIT;

    put(*state, ".", "in", "bytes");
    for (int64_t copy = 0; copy < 2; copy++)
        assert_int_equal(link_shard(*state, copy, 2, NULL), 0);
    assert_int_equal(fs_read(link, 100, &text, NULL), 0);
    assert_string_equal(buf_text(&text), "bytes");
    assert_false(fs_exists(other));
    buf_clear(&text);
    free(link);
    free(other);
}

static void test_shards__no_source_is_the_files_fault(void **state)
{
    char *nowhere = fs_join(*state, "in");
    struct err err;

    assert_int_equal(link_shard(*state, 0, 2, &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, "/in': No such file or directory"));
    assert_non_null(strstr(err.text, "channel 'c': "));
    assert_int_equal(symlink("gone", nowhere), 0);
    assert_int_equal(link_shard(*state, 0, 2, &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
    unlink(nowhere);
    assert_int_equal(mkfifo(nowhere, 0600), 0);
    assert_int_equal(link_shard(*state, 0, 2, &err), -1);
    assert_non_null(strstr(err.text, "/in' is neither a file nor a folder"));
    free(nowhere);
}

static void test_shards__no_file_has_to_be_allowed(void **state)
{
    char *source = fs_join(*state, "in"), *list = fs_join(*state, "list");
    char *target = fs_join(*state, "to");
    struct shard shard = {"c", source, list, target, 0, 2, false};
    struct err err;

    assert_int_equal(mkdir(source, 0700), 0);
    assert_int_equal(shards_link(&shard, NULL, &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, "channel 'c': no file in '"));
    assert_non_null(strstr(err.text, "allow_empty: true"));
    assert_false(fs_exists(list));
    shard.allows_empty = true;
    assert_int_equal(shards_link(&shard, NULL, &err), 0);
    assert_true(fs_exists(list) && fs_exists(target));
    free(source);
    free(list);
    free(target);
}

/* While files are looked for, and while they are linked: what is left does no
 * harm. */
static void test_shards__ends_early_when_it_is_told_to(void **state)
{
    char *list = fs_join(*state, "shards/s/c");
    atomic_bool stop = true;
    struct err err;

    put_keys(*state);
    assert_int_equal(link_until(*state, 0, 1, &stop, &err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_string_equal(err.text,
                        "channel 'c': stopped while distributing files");
    assert_false(fs_exists(list));
    stop = false;
    assert_int_equal(link_until(*state, 1, 2, &stop, NULL), 0);
    stop = true;
    assert_int_equal(link_until(*state, 0, 2, &stop, NULL), -1);
    assert_false(has(*state, 0, sorted[2]));
    assert_int_equal(link_shard(*state, 0, 2, NULL), 0);
    expect_shares(*state, 2);
    free(list);
}

static void expect_hosts(struct job_copy copy, const char *expected)
{
    json_t *json = hosts_config(&copy);
    struct buf text = BUF_INIT;

    json_print(json, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
    json_decref(json);
}

static void test_shards__hosts_are_named_as_sagemaker_does(void **state)
{
    (void)state;
    expect_hosts((struct job_copy){.index = 1, .count = 3, .are_hosts = true},
                 "{\"current_host\":\"algo-2\",\"hosts\":[\"algo-1\","
                 "\"algo-2\",\"algo-3\"],\"network_interface_name\":\"lo\"}");
    expect_hosts((struct job_copy){.index = 1, .count = 3},
                 "{\"current_host\":\"algo-1\",\"hosts\":[\"algo-1\"],"
                 "\"network_interface_name\":\"lo\"}");
    expect_hosts((struct job_copy){0},
                 "{\"current_host\":\"algo-1\",\"hosts\":[\"algo-1\"],"
                 "\"network_interface_name\":\"lo\"}");
}

#define WITH_FOLDER(test)                                                      \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_shards__each_file_is_in_one_copy),
        WITH_FOLDER(test_shards__all_copies_share_the_same_files),
        WITH_FOLDER(test_shards__a_retry_finds_what_the_first_found),
        WITH_FOLDER(test_shards__more_copies_than_files_have_empty_folders),
        WITH_FOLDER(test_shards__links_are_files_and_pipes_are_not),
        WITH_FOLDER(test_shards__one_file_is_a_channel_of_one),
        WITH_FOLDER(test_shards__no_source_is_the_files_fault),
        WITH_FOLDER(test_shards__no_file_has_to_be_allowed),
        WITH_FOLDER(test_shards__ends_early_when_it_is_told_to),
        cmocka_unit_test(test_shards__hosts_are_named_as_sagemaker_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
