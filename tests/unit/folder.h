/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_FOLDER_H
#define SMTUNE_TESTS_UNIT_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/mem.h"

/* A test's own folder, in *state, for as long as the test runs. */

static inline int make_folder(void **state)
{
    char *folder = mem_copy_string("/tmp/smtune-test-XXXXXX");

    *state = folder;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    int result = fs_remove_tree(*state, NULL);

    free(*state);
    return result;
}

/* A file with that text in root/folder, which is made. */
/* A test with such a folder. */
#define FOLDER_TEST(test)                                                      \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

static inline void put(const char *root, const char *folder, const char *name,
                       const char *text)
{
    char *directory = fs_join(root, folder), *path = fs_join(directory, name);

    assert_int_equal(fs_make_directories(directory, NULL), 0);
    assert_int_equal(fs_write_atomic(path, text, strlen(text), 0600, NULL), 0);
    free(directory);
    free(path);
}

#endif
