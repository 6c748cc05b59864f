/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/folder.h"

#include "base/digest.h"

static char hex[DIGEST_HEX_SIZE], other[DIGEST_HEX_SIZE];

static void test_digest__keeps_a_series_apart(void **state)
{
    struct digest *digest = digest_create();

    (void)state;
    digest_add_text(digest, "ab");
    digest_add_text(digest, "c");
    digest_hex(digest, hex);
    digest_add_text(digest, "a");
    digest_add_text(digest, "bc");
    digest_hex(digest, other);
    assert_string_not_equal(hex, other);
    digest_add_text(digest, "ab");
    digest_add_text(digest, "c");
    digest_hex(digest, other);
    assert_string_equal(hex, other);
    digest_add_number(digest, -1);
    digest_hex(digest, hex);
    digest_add_number(digest, 255);
    digest_hex(digest, other);
    assert_string_not_equal(hex, other);
    digest_destroy(digest);
}

/* FIPS 180-4's example, and no bytes at all. */
static void test_digest__of_a_file_is_sha256(void **state)
{
    char *path = fs_join(*state, "f/a"), *empty = fs_join(*state, "f/b");
    atomic_bool stop = false;
    struct err err;

    put(*state, "f", "a", "abc");
    put(*state, "f", "b", "");
    assert_int_equal(digest_file(path, NULL, hex, NULL), 0);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223"
                             "b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(digest_file(empty, NULL, hex, NULL), 0);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb924"
                             "27ae41e4649b934ca495991b7852b855");
    assert_int_equal(digest_file("/no/such", NULL, hex, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(digest_file(*state, NULL, hex, &err), -1);
    assert_non_null(strstr(err.text, *state));
    atomic_store(&stop, true);
    assert_int_equal(digest_file(path, &stop, hex, &err), -1);
    free(path);
    free(empty);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest__keeps_a_series_apart),
        IN_FOLDER(test_digest__of_a_file_is_sha256),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
