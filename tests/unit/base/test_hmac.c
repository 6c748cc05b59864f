/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/hmac.h"

/* RFC 4231, test cases 2 and 6. */
static void test_hmac__is_that_of_the_rfc(void **state)
{
    const char *words = "what do ya want for nothing?";
    const char *large =
        "Test Using Larger Than Block-Size Key - Hash Key First";
    char key[132] = "", hex[HMAC_HEX_SIZE];

    (void)state;
    hmac_sha256_hex("Jefe", words, strlen(words), hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c7"
                             "5a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, 131);
    hmac_sha256_hex(key, large, strlen(large), hex);
    assert_string_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f"
                             "8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hmac__is_that_of_the_rfc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
