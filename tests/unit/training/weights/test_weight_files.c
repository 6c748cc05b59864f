/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/weights/weight_files.h"

#include "base/compiler.h"
#include "tests/unit/folder.h"

static const char INDEX[] = "model.safetensors.index.json";
static const char SHARD[] = "model-00002-of-00003.safetensors";

static void count_up(void *user, size_t index, uint64_t first, size_t count,
                     float *numbers)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)(100 * index + first + i);
}

/* Weights of 40, 40, 80 and 20 bytes. */
static void write_weights(const char *folder, uint64_t shard_bytes)
{
    static const struct weight_source source = {count_up, NULL};
    char names[4][4] = {"d", "c", "b", "a"};
    struct weight weights[] = {{names[0], DTYPE_F32, 1, {10}, 10, 0, 0},
                               {names[1], DTYPE_F32, 2, {2, 5}, 10, 0, 0},
                               {names[2], DTYPE_F32, 1, {20}, 20, 0, 0},
                               {names[3], DTYPE_F16, 1, {10}, 10, 0, 0}};

    assert_int_equal(
        weight_files_write(folder, weights, 4, shard_bytes, &source, NULL), 0);
}

static bool has_file(const char *folder, const char *name)
{
    char *path = fs_join(folder, name);
    bool exists = fs_exists(path);

    free(path);
    return exists;
}

static void assert_numbers(const struct weight_files *files, const char *name,
                           uint64_t first, size_t count, float from)
{
    const struct weight *weight = weight_files_find(files, name);
    float numbers[20];

    assert_non_null(weight);
    assert_int_equal(
        weight_files_read(files, weight, first, count, numbers, NULL), 0);
    for (size_t i = 0; i < count; i++)
        assert_true(numbers[i] == from + (float)i);
}

static void test_weight_files__are_one_or_several(void **state)
{
    static const uint64_t sizes[] = {0, 180, 179, 80, 1};
    static const char *const last[] = {"model.safetensors", "model.safetensors",
                                       "model-00002-of-00002.safetensors",
                                       "model-00003-of-00003.safetensors",
                                       "model-00004-of-00004.safetensors"};

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        char *folder = mem_printf("%s/%zu", (char *)*state, i);
        struct weight_files *files;

        assert_int_equal(fs_make_directories(folder, NULL), 0);
        write_weights(folder, sizes[i]);
        assert_true(has_file(folder, last[i]));
        assert_int_equal(has_file(folder, INDEX), i > 1);
        files = weight_files_open(folder, NULL);
        assert_non_null(files);
        assert_int_equal(weight_files_count(files), 4);
        assert_string_equal(weight_files_at(files, 0)->name, "a");
        assert_numbers(files, "a", 0, 10, 300);
        assert_numbers(files, "b", 3, 17, 203);
        assert_numbers(files, "d", 0, 10, 0);
        assert_null(weight_files_find(files, "e"));
        weight_files_close(files);
        free(folder);
    }
}

static void test_weight_files__names_what_is_missing(void **state)
{
    struct err err = {0};
    char *shard = fs_join(*state, SHARD);

    assert_null(weight_files_open(*state, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "no model.safetensors and no model.safe"));
    write_weights(*state, 80);
    assert_int_equal(fs_remove_tree(shard, NULL), 0);
    assert_null(weight_files_open(*state, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, SHARD));
    free(shard);
}

static void test_weight_files__refuses_an_index_that_is_wrong(void **state)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{}", "it has no 'weight_map'"},
        {"{\"weight_map\": {\"a\": 1}}", "it names no file for a tensor"},
        {"{\"weight_map\": {\"a\": \"../model.safetensors\"}}",
         "it names a file that is not in the folder"},
        {"{\"weight_map\": {\"a\": \"/etc/passwd\"}}",
         "it names a file that is not in the folder"},
        {"{\"weight_map\": {\"a\": \"\"}}",
         "it names a file that is not in the folder"},
        {"{\"weight_map\": {\"a\": \"model-00002-of-00003.safetensors\"}}",
         "it has a tensor in 'model-00002-of-00003.safetensors' that is not in "
         "that file"},
        {"{\"weight_map\"", "not valid JSON"},
    };

    write_weights(*state, 80);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *path = fs_join(*state, INDEX);
        struct err err = {0};

        assert_int_equal(fs_write_atomic(path, cases[i].json,
                                         strlen(cases[i].json), 0600, NULL),
                         0);
        assert_null(weight_files_open(*state, &err));
        if (strstr(err.text, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].json, err.text);
        assert_non_null(strstr(err.text, INDEX));
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_weight_files__are_one_or_several),
        FOLDER_TEST(test_weight_files__names_what_is_missing),
        FOLDER_TEST(test_weight_files__refuses_an_index_that_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
