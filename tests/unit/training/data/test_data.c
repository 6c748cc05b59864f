/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "tests/unit/folder.h"

static const char IMAGES[] = "train-images-idx3-ubyte";
static const char LABELS[] = "train-labels-idx1-ubyte";

/* Six images of 2 x 2. */
#define IMAGES_HEADER "\0\0\10\3\0\0\0\6\0\0\0\2\0\0\0\2"
#define LABELS_HEADER "\0\0\10\1\0\0\0\6"

static void put_bytes(const char *directory, const char *name,
                      const void *bytes, size_t length)
{
    char *path = fs_join(directory, name);

    assert_int_equal(fs_write_atomic(path, bytes, length, 0600, NULL), 0);
    free(path);
}

static void put_compressed(const char *directory, const char *name,
                           const void *bytes, unsigned length)
{
    struct buf file = BUF_INIT;
    char *path;
    gzFile gz;

    buf_printf(&file, "%s.gz", name);
    path = fs_join(directory, buf_text(&file));
    gz = gzopen(path, "wb");
    assert_non_null(gz);
    assert_int_equal(gzwrite(gz, bytes, length), length);
    assert_int_equal(gzclose(gz), Z_OK);
    buf_clear(&file);
    free(path);
}

static const char good_images[] = IMAGES_HEADER "abcdefghijklmnopqrstuvwx";
static const char good_labels[] = LABELS_HEADER "\1\0\11\2\3\4";

static void assert_good(const char *directory)
{
    static const uint32_t samples[] = {2, 0};
    uint8_t inputs[8];
    uint16_t targets[2];
    struct err err;
    struct data *data = data_images.open(directory, DATA_TRAIN, NULL, &err);

    if (data == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(data->count, 6);
    assert_int_equal(data->held_out, 5);
    assert_int_equal(data->input_bytes, 4);
    assert_int_equal(data->targets, 1);
    data->kind->gather(data, samples, 2, inputs, targets);
    assert_memory_equal(inputs, "ijklabcd", 8);
    assert_int_equal(targets[0], 9);
    assert_int_equal(targets[1], 1);
    data->kind->close(data);
}

static void test_data__reads_plain_and_compressed_files(void **state)
{
    const char *directory = *state;

    put_bytes(directory, IMAGES, good_images, sizeof(good_images) - 1);
    put_bytes(directory, LABELS, good_labels, sizeof(good_labels) - 1);
    assert_good(directory);
    put_compressed(directory, LABELS, good_labels, sizeof(good_labels) - 1);
    put_bytes(directory, LABELS, "", 0); /* the compressed one comes first */
    assert_good(directory);
}

static void assert_bad(const char *directory, enum err_kind kind,
                       const char *why)
{
    struct err err;

    assert_null(data_images.open(directory, DATA_TRAIN, NULL, &err));
    if (strstr(err.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, why);
    assert_int_equal(err.kind, kind);
}

static void test_data__names_the_missing_file(void **state)
{
    const char *directory = *state;

    assert_bad(directory, ERR_NOT_FOUND, IMAGES);
    put_bytes(directory, IMAGES, good_images, sizeof(good_images) - 1);
    assert_bad(directory, ERR_NOT_FOUND, LABELS);
}

static void test_data__refuses_what_is_not_images_and_labels(void **state)
{
#define PIECE(text) text, sizeof(text) - 1
    static const struct {
        const char *images;
        size_t images_length;
        const char *labels;
        size_t labels_length;
        const char *why;
    } cases[] = {
        {PIECE(""), PIECE(""), "cut short"},
        {PIECE("\0\0\10"), PIECE(""), "cut short"},
        {PIECE("\0\0\11\3"), PIECE(""), "not an IDX file of images"},
        {PIECE("\0\0\10\3\0\0\0\3\0\0\0\2"), PIECE(""), "cut short"},
        {PIECE("\0\0\10\3\0\0\0\0\0\0\0\2\0\0\0\2"), PIECE(""), "empty"},
        {PIECE("\0\0\10\3\0\0\0\1\0\0\0\2\0\0\0\0"), PIECE(""), "empty"},
        {PIECE("\0\0\10\3\0\0\0\3\0\0\4\1\0\0\0\2"), PIECE(""),
         "larger than 1024"},
        {PIECE("\0\0\10\3\377\377\377\377\0\0\0\2\0\0\0\2"), PIECE(""),
         "more than 10,000,000"},
        {PIECE(IMAGES_HEADER "abcdefghijklmnopqrstuvw"), PIECE(""),
         "cut short"},
        {PIECE(IMAGES_HEADER "abcdefghijklmnopqrstuvwxy"), PIECE(""),
         "longer than"},
        {PIECE(good_images), PIECE(IMAGES_HEADER), "not an IDX file of labels"},
        {PIECE(good_images), PIECE("\0\0\10\1\0\0\0\2\1\1"),
         "2 labels for 6 images"},
        {PIECE(good_images), PIECE(LABELS_HEADER "\1\1"), "cut short"},
        {PIECE(good_images), PIECE(LABELS_HEADER "\1\12\1\1\1\1"), "label 10"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put_bytes(*state, IMAGES, cases[i].images, cases[i].images_length);
        put_bytes(*state, LABELS, cases[i].labels, cases[i].labels_length);
        assert_bad(*state, ERR_FILE, cases[i].why);
    }
#undef PIECE
}

static void test_data__refuses_damaged_compression(void **state)
{
    const char *directory = *state;
    char *path = fs_join(directory, "train-images-idx3-ubyte.gz");
    struct buf file = BUF_INIT;

    put_compressed(directory, IMAGES, good_images, sizeof(good_images) - 1);
    put_bytes(directory, LABELS, good_labels, sizeof(good_labels) - 1);
    assert_good(directory);
    assert_int_equal(fs_read(path, 1000, &file, NULL), 0);
    for (size_t length = file.length - 9; length < file.length; length++) {
        assert_int_equal(fs_write_atomic(path, file.data, length, 0600, NULL),
                         0);
        assert_bad(directory, ERR_FILE, "is damaged");
    }
    file.data[file.length - 6] ^= 1; /* of the trailer's checksum */
    assert_int_equal(fs_write_atomic(path, file.data, file.length, 0600, NULL),
                     0);
    assert_bad(directory, ERR_FILE, "is damaged");
    buf_clear(&file);
    free(path);
}

static void test_data__default_that_is_not_installed_names_its_package(void **s)
{
    struct data_kind kind = {.default_path = "/nowhere/text.dz",
                             .package = "dict-gcide"};
    struct err err;

    (void)s;
    assert_string_equal(data_path(&kind, "/my/text", &err), "/my/text");
    assert_null(data_path(&kind, NULL, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_string_equal(
        err.text, "no such file or folder '/nowhere/text.dz': install Debian's "
                  "package dict-gcide, or set --data");
    kind.default_path = "/";
    assert_string_equal(data_path(&kind, NULL, &err), "/");
}

static void test_data__shuffle_is_a_permutation_of_its_own(void **state)
{
    enum { COUNT = 1000 };
    uint32_t order[3][COUNT];
    bool seen[COUNT] = {false};
    size_t fixed = 0;

    (void)state;
    data_shuffle(order[0], COUNT, 1, 0);
    data_shuffle(order[1], COUNT, 1, 0);
    assert_memory_equal(order[0], order[1], sizeof(order[0]));
    data_shuffle(order[1], COUNT, 1, 1);
    data_shuffle(order[2], COUNT, 2, 0);
    assert_memory_not_equal(order[0], order[1], sizeof(order[0]));
    assert_memory_not_equal(order[0], order[2], sizeof(order[0]));
    for (size_t i = 0; i < COUNT; i++) {
        assert_in_range(order[0][i], 0, COUNT - 1);
        assert_false(seen[order[0][i]]);
        seen[order[0][i]] = true;
        fixed += order[0][i] == i;
    }
    assert_in_range(fixed, 0, 10); /* 1 is expected */
}

int main(void)
{
#define IN_DIRECTORY(test)                                                     \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_data__reads_plain_and_compressed_files),
        IN_DIRECTORY(test_data__names_the_missing_file),
        IN_DIRECTORY(test_data__refuses_what_is_not_images_and_labels),
        IN_DIRECTORY(test_data__refuses_damaged_compression),
        cmocka_unit_test(
            test_data__default_that_is_not_installed_names_its_package),
        cmocka_unit_test(test_data__shuffle_is_a_permutation_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
