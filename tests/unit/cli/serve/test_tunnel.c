/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/serve/tunnel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/system/user_name.h"

/* The words are safe in a shell, and ssh reads the path as it is. */
static void test_tunnel__is_a_line_for_a_shell(void **state)
{
    static const struct {
        const char *socket, *word;
    } rows[] = {
        {"/home/you/s", "8420:/home/you/s"},     {"/a b/s", "'8420:/a b/s'"},
        {"/it's/$(x)", "'8420:/it'\\''s/$(x)'"}, {"/a:b/s", "'8420:/a\\:b/s'"},
        {"/a\\b/s", "'8420:/a\\\\b/s'"},         {"/100%/s", "8420:/100%%/s"},
    };
    char host[256] = "", *user = user_name(geteuid());

    (void)state;
    gethostname(host, sizeof(host) - 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *command = tunnel_command(8420, rows[i].socket);
        char *expected =
            mem_printf("ssh -L %s %s@%s", rows[i].word, user, host);

        assert_string_equal(command, expected);
        free(expected);
        free(command);
    }
    free(user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tunnel__is_a_line_for_a_shell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
