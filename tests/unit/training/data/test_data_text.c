/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "tests/unit/folder.h"

/* 200 bytes: 180 to train on, 10 held out, 10 for the test. */
enum { LENGTH = 200, CONTEXT = 4 };

static const struct text_options OPTIONS = {.context = CONTEXT,
                                            .vocabulary = "bytes"};

static char *put_text(const char *folder, const void *bytes, size_t length)
{
    char *path = fs_join(folder, "text");

    assert_int_equal(fs_write_atomic(path, bytes, length, 0600, NULL), 0);
    return path;
}

static void fill(uint8_t *text)
{
    for (int i = 0; i < LENGTH; i++)
        text[i] = (uint8_t)i;
}

static void assert_sample(const struct data *data, uint32_t sample,
                          unsigned start)
{
    uint16_t inputs[CONTEXT], targets[CONTEXT];

    data->kind->gather(data, &sample, 1, inputs, targets);
    for (unsigned i = 0; i < CONTEXT; i++) {
        assert_int_equal(inputs[i], start + i);
        assert_int_equal(targets[i], start + i + 1);
    }
}

static void assert_parts(const char *path)
{
    struct data *data = data_text.open(path, DATA_TRAIN, &OPTIONS, NULL);

    assert_non_null(data);
    assert_int_equal(data->held_out, (180 - 1) / CONTEXT);
    assert_int_equal(data->count, data->held_out + (10 - 1) / CONTEXT);
    assert_int_equal(data->input_bytes, CONTEXT * 2);
    assert_int_equal(data->targets, CONTEXT);
    assert_int_equal(data->classes, 256);
    assert_true(data->bytes_per_target > 0.999 &&
                data->bytes_per_target < 1.001);
    assert_sample(data, 0, 0);
    assert_sample(data, 43, 172);
    assert_sample(data, 44, 180); /* the first held out */
    assert_sample(data, 45, 184);
    data->kind->close(data);
    data = data_text.open(path, DATA_TEST, &OPTIONS, NULL);
    assert_non_null(data);
    assert_int_equal(data->count, 2);
    assert_int_equal(data->held_out, 2);
    assert_sample(data, 0, 190);
    assert_sample(data, 1, 194);
    data->kind->close(data);
}

static void test_data_text__has_parts_that_do_not_overlap(void **state)
{
    uint8_t text[LENGTH];
    char *path;

    fill(text);
    path = put_text(*state, text, sizeof(text));
    assert_parts(path);
    free(path);
}

static void test_data_text__may_be_compressed(void **state)
{
    uint8_t text[LENGTH];
    char *path = fs_join(*state, "text.gz");
    gzFile gz = gzopen(path, "wb");

    fill(text);
    assert_non_null(gz);
    assert_int_equal(gzwrite(gz, text, sizeof(text)), sizeof(text));
    assert_int_equal(gzclose(gz), Z_OK);
    assert_parts(path);
    free(path);
}

static void test_data_text__takes_a_vocabulary(void **state)
{
    static const char VOCABULARY[] = "smtrain vocabulary 1\n97 98\n";
    char *vocabulary = fs_join(*state, "vocabulary");
    const struct text_options options = {.context = CONTEXT,
                                         .vocabulary = vocabulary};
    struct buf text = BUF_INIT;
    uint16_t inputs[CONTEXT], targets[CONTEXT];
    struct data *data;
    char *path;
    uint32_t first = 0;

    assert_int_equal(
        fs_write_atomic(vocabulary, VOCABULARY, strlen(VOCABULARY), 0600, NULL),
        0);
    for (int i = 0; i < 100; i++)
        buf_add_string(&text, "abc\n");
    path = put_text(*state, buf_text(&text), text.length);
    data = data_text.open(path, DATA_TRAIN, &options, NULL);
    assert_non_null(data);
    assert_int_equal(data->classes, 257);
    assert_true(data->bytes_per_target > 1.332 &&
                data->bytes_per_target < 1.335);
    data->kind->gather(data, &first, 1, inputs, targets);
    assert_int_equal(inputs[0], 256);
    assert_int_equal(inputs[1], 'c');
    assert_int_equal(targets[0], 'c');
    assert_int_equal(targets[2], 256);
    data->kind->close(data);
    buf_clear(&text);
    free(path);
    free(vocabulary);
}

static void test_data_text__refuses_what_is_of_no_use(void **state)
{
    static const struct text_options long_one = {.context = 1000,
                                                 .vocabulary = "bytes"};
    uint8_t text[LENGTH];
    struct err err;
    char *path;

    fill(text);
    path = put_text(*state, text, sizeof(text));
    assert_null(data_text.open(path, DATA_TRAIN, &long_one, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, path));
    free(path);
    path = put_text(*state, "", 0);
    assert_null(data_text.open(path, DATA_TRAIN, &OPTIONS, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_null(data_text.open(*state, DATA_TRAIN, &OPTIONS, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_null(data_text.open("/nowhere/text", DATA_TRAIN, &OPTIONS, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    free(path);
}

/* Damaged in its middle, and cut short. */
static void test_data_text__refuses_damaged_files(void **state)
{
    uint8_t text[LENGTH];
    struct buf file = BUF_INIT;
    char *path = fs_join(*state, "text");
    gzFile gz = gzopen(path, "wb");
    struct err err;

    fill(text);
    assert_non_null(gz);
    assert_int_equal(gzwrite(gz, text, sizeof(text)), sizeof(text));
    assert_int_equal(gzclose(gz), Z_OK);
    assert_int_equal(fs_read(path, 1000, &file, NULL), 0);
    free(path);
    path = put_text(*state, file.data, file.length - 9);
    assert_null(data_text.open(path, DATA_TRAIN, &OPTIONS, &err));
    assert_int_equal(err.kind, ERR_FILE);
    file.data[file.length - 6] ^= 1; /* of the checksum */
    free(path);
    path = put_text(*state, file.data, file.length);
    assert_null(data_text.open(path, DATA_TRAIN, &OPTIONS, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, "damaged"));
    buf_clear(&file);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_data_text__has_parts_that_do_not_overlap, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(test_data_text__may_be_compressed,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_data_text__takes_a_vocabulary,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            test_data_text__refuses_what_is_of_no_use, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(test_data_text__refuses_damaged_files,
                                        make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
