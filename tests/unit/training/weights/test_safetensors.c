/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/weights/safetensors.h"

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/folder.h"
#include "training/weights/safetensors_header.h"

/* A file with that JSON, whose length is `length`, and so many bytes of data.
 */
static char *make_file(const char *folder, const char *json, uint64_t length,
                       size_t data_bytes)
{
    char *path = fs_join(folder, "model.safetensors");
    struct buf file = BUF_INIT;

    for (int i = 0; i < 8; i++)
        buf_add_char(&file, (char)(length >> 8 * i & 0xff));
    buf_add_string(&file, json);
    for (size_t i = 0; i < data_bytes; i++)
        buf_add_char(&file, (char)i);
    assert_int_equal(fs_write_atomic(path, file.data, file.length, 0600, NULL),
                     0);
    buf_clear(&file);
    return path;
}

/* Bytes by hand, as the format's own page describes them. */
static void test_safetensors__reads_a_file(void **state)
{
    const char json[] =
        "{\"b\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[4,12]},"
        "\"__metadata__\":{\"format\":\"pt\"},"
        "\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]},"
        "\"none\":{\"dtype\":\"I64\",\"shape\":[0,3],\"data_offsets\":[4,4]}, "
        "\"one\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[12,13]}}  ";
    char *path = make_file(*state, json, strlen(json), 13);
    struct safetensors *file = safetensors_open(path, NULL);
    const struct weight *weights;
    float numbers[2];
    size_t count;

    assert_non_null(file);
    weights = safetensors_weights(file, &count);
    assert_int_equal(count, 4);
    assert_string_equal(weights[0].name, "a");
    assert_string_equal(weights[2].name, "none");
    assert_int_equal(weights[2].count, 0);
    assert_int_equal(weights[3].dimensions, 0);
    assert_int_equal(weights[3].count, 1);
    assert_true(weight_is(&weights[0], 2, 0));
    assert_true(weight_is(&weights[1], 1, 2));
    assert_false(weight_is(&weights[1], 2, 1));
    /* Bytes 2 and 3 of the data, the upper half of a float. */
    assert_int_equal(safetensors_read(file, &weights[0], 1, 1, numbers, NULL),
                     0);
    assert_memory_equal(numbers, "\0\0\2\3", 4);
    assert_int_equal(safetensors_read(file, safetensors_find(file, "b"), 0, 2,
                                      numbers, NULL),
                     0);
    assert_memory_equal(numbers, "\4\5\6\7\10\11\12\13", 8);
    assert_null(safetensors_find(file, "c"));
    safetensors_close(file);
    free(path);
}

#define TENSOR(dtype, shape, offsets)                                          \
    "\"t\":{\"dtype\":\"" dtype "\",\"shape\":" shape                          \
    ",\"data_offsets\":" offsets "}"

static void test_safetensors__refuses_what_is_damaged(void **state)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{}", "the tensors have 0 bytes, the file 8"},
        {"[]", "the header is no JSON object"},
        {"{", "not valid JSON"},
        {"{" TENSOR("F32", "[2]", "[0,8]") "," TENSOR("F32", "[2]",
                                                      "[0,8]") "}",
         "duplicate"},
        {"{" TENSOR("F33", "[2]", "[0,8]") "}",
         "tensor 't' has an unknown dtype"},
        {"{\"t\":{\"shape\":[2],\"data_offsets\":[0,8]}}",
         "tensor 't' has no dtype"},
        {"{\"t\":3}", "tensor 't' has no dtype"},
        {"{" TENSOR("F32", "2", "[0,8]") "}", "needs a shape"},
        {"{" TENSOR("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]") "}",
         "needs a shape"},
        {"{" TENSOR("F32", "[-2]", "[0,8]") "}", "something else than sizes"},
        {"{" TENSOR("F32", "[2.0]", "[0,8]") "}", "something else than sizes"},
        {"{" TENSOR("F32", "[4294967296,4294967296]", "[0,8]") "}",
         "is too large"},
        {"{" TENSOR("F32", "[4611686018427387904]", "[0,0]") "}",
         "is too large"},
        {"{" TENSOR("F32", "[2]", "[0]") "}", "needs data_offsets"},
        {"{" TENSOR("F32", "[2]", "[-8,0]") "}", "needs data_offsets"},
        {"{" TENSOR("F32", "[2]", "[8,0]") "}", "needs data_offsets"},
        {"{" TENSOR("F32", "[4]", "[0,16]") "}", "ends beyond the end"},
        {"{" TENSOR("F32", "[1]", "[0,8]") "}",
         "has 8 bytes, its shape and type need 4"},
        {"{" TENSOR("F32", "[1]", "[4,8]") "}",
         "begins behind bytes that no tensor has"},
        {"{" TENSOR("F32", "[1]", "[0,4]") "}",
         "the tensors have 4 bytes, the file 8"},
        {"{" TENSOR("F32", "[2]",
                    "[0,8]") ",\"u\":{\"dtype\":\"F32\",\"shape\":"
                             "[1],\"data_offsets\":[4,8]}}",
         "tensor 'u' has bytes that another tensor has"},
        {"{\"\\n\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
         "tensor '\\x0a' has a name that cannot be printed"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *path = make_file(*state, cases[i].json, strlen(cases[i].json), 8);
        struct err err = {0};

        assert_null(safetensors_open(path, &err));
        if (strstr(err.text, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].json, err.text);
        assert_non_null(strstr(err.text, "model.safetensors'"));
        assert_int_equal(err.kind, ERR_FILE);
        free(path);
    }
}

static void test_safetensors__refuses_a_header_that_is_too_long(void **state)
{
    static const uint64_t lengths[] = {3, SAFETENSORS_HEADER_MAX_BYTES + 1,
                                       UINT64_MAX};
    struct err err = {0};

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        char *path = make_file(*state, "{}", lengths[i], 0);

        assert_null(safetensors_open(path, &err));
        assert_non_null(strstr(err.text, "its header would be too long"));
        assert_int_equal(fs_write_atomic(path, "\2\0\0", 3, 0600, NULL), 0);
        assert_null(safetensors_open(path, &err));
        assert_non_null(strstr(err.text, "is cut short"));
        free(path);
    }
    assert_null(safetensors_open(*state, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_null(safetensors_open("/nonexistent", &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

/* The index-th weight counts from 1000 times its index. */
static void count_up(void *user, size_t index, uint64_t first, size_t count,
                     float *numbers)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)(1000 * index + (first + i) % 1000);
}

/* More numbers than are read or written at a time. */
static void test_safetensors__reads_what_it_wrote(void **state)
{
    enum { MANY = 100000 };
    static const struct weight_source source = {count_up, NULL};
    char names[3][8] = {"zero", "one", "two"};
    struct weight weights[] = {
        {names[0], DTYPE_F32, 2, {100, 1000}, MANY, 0, 0},
        {names[1], DTYPE_F16, 1, {48}, 48, 0, 0},
        {names[2], DTYPE_BF16, 1, {256}, 256, 0, 0}};
    char *path = fs_join(*state, "weights");
    float *numbers = malloc(MANY * sizeof(*numbers));
    struct safetensors *file;
    const struct weight *weight;

    assert_int_equal(safetensors_write(path, weights, 3, &source, NULL), 0);
    file = safetensors_open(path, NULL);
    assert_non_null(file);
    weight = safetensors_find(file, "zero");
    assert_true(weight_is(weight, 100, 1000));
    assert_int_equal(safetensors_read(file, weight, 0, MANY, numbers, NULL), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_true(numbers[i] == (float)(i % 1000));
    weight = safetensors_find(file, "one");
    assert_int_equal(safetensors_read(file, weight, 40, 8, numbers, NULL), 0);
    for (size_t i = 0; i < 8; i++)
        assert_true(numbers[i] == (float)(1040 + i));
    weight = safetensors_find(file, "two");
    assert_int_equal(safetensors_read(file, weight, 0, 256, numbers, NULL), 0);
    assert_true(numbers[48] == 2048);
    safetensors_close(file);
    free(numbers);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_safetensors__reads_a_file),
        FOLDER_TEST(test_safetensors__refuses_what_is_damaged),
        FOLDER_TEST(test_safetensors__refuses_a_header_that_is_too_long),
        FOLDER_TEST(test_safetensors__reads_what_it_wrote),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
