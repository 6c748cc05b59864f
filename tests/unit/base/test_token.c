/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_token__is_random_and_hexadecimal(void **state)
{
    char one[TOKEN_SIZE(16)], other[TOKEN_SIZE(16)];

    (void)state;
    token_draw(one, 16);
    token_draw(other, 16);
    assert_int_equal(strspn(one, "0123456789abcdef"), 32);
    assert_int_equal(strlen(one), 32);
    assert_string_not_equal(one, other);
}

static void test_token__is_equal_as_a_whole(void **state)
{
    (void)state;
    assert_true(token_is_equal("12ab", "12ab", 4));
    assert_true(token_is_equal("12ab", "12abc", 4));
    assert_false(token_is_equal("12ab", "12ab", 3));
    assert_false(token_is_equal("12ab", "12ac", 4));
    assert_false(token_is_equal("12ab", "12AB", 4));
    assert_false(token_is_equal("12ab", "12abc", 5));
    assert_false(token_is_equal("", "", 0));
    assert_false(token_is_equal("", "a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token__is_random_and_hexadecimal),
        cmocka_unit_test(test_token__is_equal_as_a_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
