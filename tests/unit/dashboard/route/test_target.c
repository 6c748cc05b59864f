/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"

static void test_target__has_three_parts(void **state)
{
    static const struct {
        const char *text, *base_path;
        const char *file, *asked, *key; /* key "": none */
        bool lacks_slash;
    } rows[] = {
        {"/", "", "/", "/", "", false},
        {"/api/v1/runs?x=/s/", "", "/api/v1/runs?x=/s/", "/api/v1/runs?x=/s/",
         "", false},
        {"/s/K/api", "", "/s/K/api", "/api", "K", false},
        {"/s/K", "", "/s/K", "/s/K", "", false},
        {"/s/K?a/b", "", "/s/K?a/b", "/s/K?a/b", "", false},
        /* Kept by the proxy, and removed. */
        {"/you/80/", "/you/80", "/", "/", "", false},
        {"/you/80/s/K/api", "/you/80", "/s/K/api", "/api", "K", false},
        {"/", "/you/80", "/", "/", "", false},
        {"/s/K/api", "/you/80", "/s/K/api", "/api", "K", false},
        /* The path alone, and others that begin like it. */
        {"/you/80", "/you/80", "/you/80", "/you/80", "", true},
        {"/you/80?a", "/you/80", "/you/80?a", "/you/80?a", "", true},
        {"/you/8080/x", "/you/80", "/you/8080/x", "/you/8080/x", "", false},
        {"/you/8", "/you/80", "/you/8", "/you/8", "", false},
        {"/you/80/you/80/", "/you/80", "/you/80/", "/you/80/", "", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct target target = target_read(rows[i].text, rows[i].base_path);

        assert_string_equal(target.file, rows[i].file);
        assert_string_equal(target.asked, rows[i].asked);
        assert_int_equal(target.session_key_length, strlen(rows[i].key));
        assert_int_equal(target.session_key != NULL, rows[i].key[0] != '\0');
        if (target.session_key != NULL)
            assert_memory_equal(target.session_key, rows[i].key,
                                target.session_key_length);
        assert_int_equal(target.lacks_slash, rows[i].lacks_slash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target__has_three_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
