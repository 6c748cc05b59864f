/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: glob globfree */
/* A matrix of more files than a test can make, and of none for want of memory;
 * the calls are the test's. */
#include "workflows/matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "base/mem.h"

/* What the next one finds: as often the same path, or an error. */
static struct {
    int error;
    size_t count;
    char *path;
} found;

int __wrap_glob(const char *pattern, int flags,
                int (*on_error)(const char *path, int error), glob_t *result);
void __wrap_globfree(glob_t *result);

int __wrap_glob(const char *pattern, int flags,
                int (*on_error)(const char *path, int error), glob_t *result)
{
    (void)pattern, (void)flags, (void)on_error;
    result->gl_pathc = found.count;
    result->gl_pathv = mem_array(found.count, sizeof(char *));
    for (size_t i = 0; i < found.count; i++)
        result->gl_pathv[i] = found.path;
    return found.error;
}

void __wrap_globfree(glob_t *result)
{
    free((void *)result->gl_pathv);
}

static void test_matrix__glob_has_bounds(void **state)
{
    char *longest = mem_alloc((1 << 20) + 1);
    struct err err;
    json_t *list;

    (void)state;
    memset(longest, 'x', 1 << 20);
    longest[1 << 20] = '\0';
    found.path = longest;
    found.count = (MATRIX_BYTES_MAX >> 20) + 1;
    assert_null(matrix_axis_from_glob("*", &err));
    assert_string_equal(err.text, "out of range: too many paths match (65)");
    found.count--;
    list = matrix_axis_from_glob("*", &err);
    assert_int_equal(json_array_size(list), found.count);
    json_decref(list);
    longest[1] = '\0';
    found.count = MATRIX_COPIES_MAX + 1;
    assert_null(matrix_axis_from_glob("*", &err));
    assert_string_equal(err.text,
                        "out of range: too many paths match (1000001)");
    free(longest);
}

static void test_matrix__glob_says_that_there_is_no_memory(void **state)
{
    struct err err;

    (void)state;
    found.count = 0;
    found.error = GLOB_NOSPACE;
    assert_null(matrix_axis_from_glob("data/*", &err));
    assert_int_equal(err.kind, ERR_FAILED);
    assert_string_equal(err.text, "out of memory while looking for 'data/*'");
    found.error = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix__glob_has_bounds),
        cmocka_unit_test(test_matrix__glob_says_that_there_is_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
