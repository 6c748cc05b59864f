/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "executors/container/container.h"

static void test_container__is_read_as_it_was_printed(void **state)
{
    struct container_mount mounts[] = {{"/a b", "/a b", false},
                                       {"/c", "/d:e", true}};
    const char *options[] = {"--", "--nv"}, *variables[] = {"LR"};
    const struct container written = {
        .image = "docker://x",
        .runtime = "podman",
        .folder = "/run/attempts/1-1",
        .kept = "/run/images/x.sif",
        .mounts = mounts,
        .mount_count = ARRAY_LEN(mounts),
        .options = options,
        .option_count = ARRAY_LEN(options),
        .variables = variables,
        .variable_count = 1,
        .memory_bytes = INT64_C(1) << 40,
        .has_gpus = true,
        .has_tty = true,
    };
    struct word_list words = {0};
    struct container read;
    char **command;
    struct err err;

    (void)state;
    container_print(&written, &words);
    word_list_copy(&words, "--");
    word_list_copy(&words, "--image");
    command = container_read(words.items, &read, &err);
    assert_non_null(command);
    assert_string_equal(command[0], "--image");
    assert_null(command[1]);
    assert_string_equal(read.image, written.image);
    assert_string_equal(read.runtime, written.runtime);
    assert_string_equal(read.folder, written.folder);
    assert_string_equal(read.kept, written.kept);
    assert_int_equal(read.mount_count, 2);
    assert_string_equal(read.mounts[0].source, "/a b");
    assert_string_equal(read.mounts[1].target, "/d:e");
    assert_true(read.mounts[1].is_read_only && !read.mounts[0].is_read_only);
    assert_int_equal(read.option_count, 2);
    assert_string_equal(read.options[0], "--");
    assert_int_equal(read.variable_count, 1);
    assert_int_equal(read.memory_bytes, written.memory_bytes);
    assert_true(read.has_gpus && read.has_tty);
    container_clear(&read);
    words_free(words.items);
}

static void test_container__refuses_other_words(void **state)
{
    static const struct {
        const char *words[8], *text;
    } rows[] = {
        {{"--image", "x", "--folder", "y", "--"}, "requires"},
        {{"--image", "x", "--", "true"}, "requires"},
        {{"--image", "x", "--folder", "y"}, "requires"},
        {{"--imag", "x", "--", "true"}, "unknown option: '--imag'"},
        {{"--mount", "x"}, "missing value of: '--mount'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct container read;
        struct err err;

        assert_null(
            container_read((char **)(uintptr_t)rows[i].words, &read, &err));
        assert_non_null(strstr(err.text, rows[i].text));
        container_clear(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_container__is_read_as_it_was_printed),
        cmocka_unit_test(test_container__refuses_other_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
