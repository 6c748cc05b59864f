/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/folder.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "workflows/cache_key.h"

/* The key of the facts {"words": [word]} and so many inputs, in the folder. */
static void key_of(const char *folder, const char *word,
                   const char *const *inputs, size_t count,
                   char hex[DIGEST_HEX_SIZE])
{
    const struct cache_inputs all = {folder, inputs, count, true, NULL, NULL};
    struct file_hashes *hashes = file_hashes_create();
    json_t *facts = json_pack("{s:[s]}", "words", word);
    struct err err = {.text = ""};

    if (cache_key(facts, &all, hashes, NULL, hex, &err) != 0)
        fail_msg("%s", err.text);
    json_decref(facts);
    file_hashes_destroy(hashes);
}

/* Whether the key with these inputs is as before; it becomes what is compared
 * with. */
static bool is_same(const char *folder, const char *word,
                    const char *const *inputs, size_t count,
                    char last[DIGEST_HEX_SIZE])
{
    char hex[DIGEST_HEX_SIZE];
    bool same;

    key_of(folder, word, inputs, count, hex);
    same = strcmp(hex, last) == 0;
    memcpy(last, hex, sizeof(hex));
    return same;
}

static void test_key__hangs_on_facts_and_contents(void **state)
{
    static const char *const inputs[] = {"prep.py", "data", "raw/*.csv"};
    char last[DIGEST_HEX_SIZE] = "", *link = fs_join(*state, "data/link");
    struct stat status;
    char *prep = fs_join(*state, "prep.py");

    put(*state, ".", "prep.py", "one");
    put(*state, "data/deep", "a", "1");
    put(*state, "raw", "a.csv", "1");
    is_same(*state, "python", inputs, 3, last);
    assert_true(is_same(*state, "python", inputs, 3, last));
    assert_false(is_same(*state, "python3", inputs, 3, last));
    put(*state, ".", "prep.py", "one");
    assert_true(is_same(*state, "python3", inputs, 3, last));
    put(*state, ".", "prep.py", "two");
    assert_false(is_same(*state, "python3", inputs, 3, last));
    assert_int_equal(chmod(prep, 0600), 0);
    assert_int_equal(stat(prep, &status), 0);
    assert_true(is_same(*state, "python3", inputs, 3, last));
    put(*state, "data/deep", "a", "2");
    assert_false(is_same(*state, "python3", inputs, 3, last));
    put(*state, "data", "b", "");
    assert_false(is_same(*state, "python3", inputs, 3, last));
    put(*state, "raw", "b.csv", "1");
    assert_false(is_same(*state, "python3", inputs, 3, last));
    put(*state, "raw", "b.txt", "1");
    assert_true(is_same(*state, "python3", inputs, 3, last));
    assert_int_equal(symlink("deep/a", link), 0);
    assert_false(is_same(*state, "python3", inputs, 3, last));
    put(*state, "data/deep", "a", "3");
    assert_false(is_same(*state, "python3", inputs, 3, last));
    free(prep);
    free(link);
}

static void test_key__is_the_same_in_another_folder(void **state)
{
    static const char *const inputs[] = {"data", "*.py"};
    char *here = fs_join(*state, "here"), *there = fs_join(*state, "there");
    char *absolute = fs_join(there, "data");
    const char *const named[] = {absolute, "*.py"};
    char last[DIGEST_HEX_SIZE] = "";

    put(here, "data", "a", "1");
    put(here, ".", "x.py", "1");
    put(there, "data", "a", "1");
    put(there, ".", "x.py", "1");
    is_same(here, "w", inputs, 2, last);
    assert_true(is_same(there, "w", inputs, 2, last));
    assert_true(is_same(there, "w", named, 2, last));
    free(here);
    free(there);
    free(absolute);
}

static void test_key__needs_its_inputs(void **state)
{
    static const char *const absent[] = {"no such"}, *const none[] = {"no*"};
    const struct cache_inputs inputs = {*state, absent, 1, false, NULL, NULL};
    const struct cache_inputs unmatched = {*state, none, 1, false, NULL, NULL};
    struct file_hashes *hashes = file_hashes_create();
    char hex[DIGEST_HEX_SIZE] = "", other[DIGEST_HEX_SIZE];
    json_t *facts = json_object();
    struct err err;

    assert_int_equal(cache_key(facts, &inputs, hashes, NULL, hex, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "no such"));
    assert_int_equal(cache_key(facts, &unmatched, hashes, NULL, hex, &err), -1);
    assert_non_null(strstr(err.text, "no file matches '"));
    json_decref(facts);
    file_hashes_destroy(hashes);
    key_of(*state, "w", none, 1, hex);
    key_of(*state, "w", none, 0, other);
    assert_string_not_equal(hex, other);
}

/* A file that is missing counts as it was, where its hash is known. */
static void test_key__has_what_is_missing_as_it_was(void **state)
{
    static const char *const names[] = {"a", "b"};
    char *path = fs_join(*state, "a");
    struct file_hashes *hashes = file_hashes_create();
    json_t *facts = json_object(), *known = json_object();
    const struct cache_inputs inputs = {*state, names, 2, false, known, NULL};
    char before[DIGEST_HEX_SIZE], hex[DIGEST_HEX_SIZE];
    struct err err;

    put(*state, ".", "a", "1");
    put(*state, ".", "b", "2");
    assert_int_equal(file_hashes_of(hashes, path, NULL, hex, NULL), 0);
    json_object_set_new(known, path, json_string(hex));
    assert_int_equal(cache_key(facts, &inputs, hashes, NULL, before, &err), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(cache_key(facts, &inputs, hashes, NULL, hex, &err), 0);
    assert_string_equal(hex, before);
    put(*state, ".", "a", "another");
    assert_int_equal(cache_key(facts, &inputs, hashes, NULL, hex, &err), 0);
    assert_string_not_equal(hex, before);
    assert_int_equal(unlink(path), 0);
    json_object_clear(known);
    assert_int_equal(cache_key(facts, &inputs, hashes, NULL, hex, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    json_decref(facts);
    json_decref(known);
    file_hashes_destroy(hashes);
    free(path);
}

/* An old file is read once: what is written into it behind the file system's
 * back would not be seen; a new time of change is. */
static void test_hashes__read_a_file_once(void **state)
{
    struct file_hashes *hashes = file_hashes_create();
    char *path = fs_join(*state, "f/a");
    char hex[DIGEST_HEX_SIZE], other[DIGEST_HEX_SIZE];
    atomic_bool stop = false;

    put(*state, "f", "a", "abc");
    assert_int_equal(file_hashes_of(hashes, path, &stop, hex, NULL), 0);
    assert_int_equal(file_hashes_of(hashes, "/bin/sh", &stop, other, NULL), 0);
    atomic_store(&stop, true);
    assert_int_equal(file_hashes_of(hashes, "/bin/sh", &stop, hex, NULL), 0);
    assert_string_equal(hex, other);
    assert_int_equal(file_hashes_of(hashes, path, &stop, hex, NULL), -1);
    free(path);
    file_hashes_destroy(hashes);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_key__hangs_on_facts_and_contents),
        IN_FOLDER(test_key__is_the_same_in_another_folder),
        IN_FOLDER(test_key__needs_its_inputs),
        IN_FOLDER(test_key__has_what_is_missing_as_it_was),
        IN_FOLDER(test_hashes__read_a_file_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
