/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_BUILT_H
#define SMTUNE_TESTS_UNIT_BUILT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fs.h"

/* The path of `name` at the top of the build that this test is a part of: the
 * folder that has its tests/unit/, however deep below that the test is. The
 * caller's to free. */
static inline char *built_path(const char *name)
{
    char *folder = fs_program_directory(), *path;
    char *tests = strstr(folder, "/tests/unit");

    assert_non_null(tests);
    for (char *next; (next = strstr(tests + 1, "/tests/unit")) != NULL;)
        tests = next;
    *tests = '\0';
    path = fs_join(folder, name);
    free(folder);
    return path;
}

#endif
