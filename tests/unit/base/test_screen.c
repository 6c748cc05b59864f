/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

static void test_screen__a_line_is_as_a_terminal_shows_it(void **state)
{
    static const struct {
        const char *line, *shown;
    } cases[] = {
        {"", ""},
        {"loss=1", "loss=1"},
        {"loss=1  \t \r", "loss=1"},
        {"\033[31mred\033[0m \033]0;title\007plain\033(B", "red plain"},
        {" 10%\r 50%\r100%", "100%"},
        {"a long bar\rshort", "short"},
        {"a long bar\r\033[Kshort", "short"},
        {"a long bar\033[2Kshort", "short"},
        {"a bar\r     \rend", "end"},
        {"12%\b\b\b34%", "34%"},
        {"\b\bx", "x"},
        {"\xc3\xa9\xe2\x94\x81\re", "e"},
        {"bell\007 \xff", "bell\\x07 \\xff"},
        {"a\xe2\x80\xae"
         "b",
         "a\\xe2\\x80\\xaeb"},
        {"\ta\tb\t", "        a       b"},
        {"1234567\t8", "1234567 8"},
        {"\033", ""},
        {"x\033[3", "x"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = BUF_INIT;

        screen_line(cases[i].line, strlen(cases[i].line), &out);
        if (strcmp(buf_text(&out), cases[i].shown) != 0)
            fail_msg("%zu: '%s', not '%s'", i, buf_text(&out), cases[i].shown);
        buf_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_screen__a_line_is_as_a_terminal_shows_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
