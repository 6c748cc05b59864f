/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/net/certificates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/folder.h"

static const char *const variables[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE",
                                        "SSL_CERT_DIR"};

/* In a folder with what systems have, and an environment without a choice. */
static int set_up(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        unsetenv(variables[i]);
    if (make_folder(state) != 0)
        return -1;
    put(*state, "hashed", "4f316efb.0", "");
    put(*state, "empty", "README", "");
    put(*state, "debian", "ca.crt", "");
    put(*state, "suse", "ca.pem", "");
    return chdir(*state);
}

static int tear_down(void **state)
{
    return chdir("/") == 0 ? remove_folder(state) : -1;
}

static const char *const places[] = {"nowhere", "suse/ca.pem", "debian/ca.crt",
                                     NULL};
static const char *const no_places[] = {"nowhere", NULL};

static void test_certificates__default_of_the_library_is_first(void **state)
{
    struct certificates found;

    (void)state;
    assert_true(certificates_find("debian/ca.crt", "hashed", places, &found));
    assert_string_equal(found.file, "debian/ca.crt");
    assert_string_equal(found.file_from, "default of libcurl");
    assert_string_equal(found.folder, "hashed");
    assert_string_equal(found.folder_from, "default of libcurl");
}

static void test_certificates__its_file_or_its_folder_alone(void **state)
{
    struct certificates found;

    (void)state;
    assert_true(certificates_find("nothing", "hashed", places, &found));
    assert_null(found.file);
    assert_null(found.file_from);
    assert_string_equal(found.folder, "hashed");
    assert_true(certificates_find("debian/ca.crt", "empty", places, &found));
    assert_string_equal(found.file, "debian/ca.crt");
    assert_null(found.folder);
    assert_null(found.folder_from);
}

static void test_certificates__the_first_place_that_is_there(void **state)
{
    struct certificates found;

    (void)state;
    assert_true(certificates_find("nothing", "empty", places, &found));
    assert_string_equal(found.file, "suse/ca.pem");
    assert_string_equal(found.file_from, "found there");
    assert_null(found.folder);
    assert_true(certificates_find(NULL, NULL, places, &found));
    assert_string_equal(found.file, "suse/ca.pem");
}

static void test_certificates__there_may_be_none(void **state)
{
    struct certificates found;

    (void)state;
    assert_false(certificates_find("nothing", "empty", no_places, &found));
    assert_null(found.file);
    assert_null(found.folder);
}

static void test_certificates__variables_replace_all_else(void **state)
{
    struct certificates found;

    (void)state;
    setenv("SSL_CERT_DIR", "/a:/b", 1);
    assert_true(certificates_find("debian/ca.crt", "hashed", places, &found));
    assert_null(found.file);
    assert_string_equal(found.folder, "/a:/b");
    assert_string_equal(found.folder_from, "SSL_CERT_DIR");

    setenv("SSL_CERT_FILE", "nothing", 1);
    assert_true(certificates_find("debian/ca.crt", "hashed", places, &found));
    assert_string_equal(found.file, "nothing");
    assert_string_equal(found.file_from, "SSL_CERT_FILE");
    assert_string_equal(found.folder, "/a:/b");

    setenv("CURL_CA_BUNDLE", "own.pem", 1);
    assert_true(certificates_find("debian/ca.crt", "hashed", places, &found));
    assert_string_equal(found.file, "own.pem");
    assert_string_equal(found.file_from, "CURL_CA_BUNDLE");
    assert_null(found.folder);
}

static void test_certificates__an_empty_variable_is_none(void **state)
{
    struct certificates found;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        setenv(variables[i], "", 1);
    assert_true(certificates_find("debian/ca.crt", NULL, places, &found));
    assert_string_equal(found.file, "debian/ca.crt");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_certificates__default_of_the_library_is_first),
        CASE(test_certificates__its_file_or_its_folder_alone),
        CASE(test_certificates__the_first_place_that_is_there),
        CASE(test_certificates__there_may_be_none),
        CASE(test_certificates__variables_replace_all_else),
        CASE(test_certificates__an_empty_variable_is_none),
    };
#undef CASE

    return cmocka_run_group_tests(tests, NULL, NULL);
}
