/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

static const struct {
    const char *text;
    size_t length; /* 0: up to its end */
    const char *shown;
} cases[] = {
    {"", 0, ""},
    {"plain \xc3\xa9 \xf0\x9f\x98\x80\n\tx\r", 0,
     "plain \xc3\xa9 \xf0\x9f\x98\x80\n\tx\r"},
    {"\033[31mred\033[0m \033[1;38;5;208mbold\033[m \033[38:2:1:2:3mx", 0,
     "\033[31mred\033[0m \033[1;38;5;208mbold\033[m \033[38:2:1:2:3mx"},
    {"\033[2J\033[H\033[?25l\033[1A", 0, "\\x1b[2J\\x1b[H\\x1b[?25l\\x1b[1A"},
    {"\033]0;title\007\033]8;;http://x\033\\y", 0,
     "\\x1b]0;title\\x07\\x1b]8;;http://x\\x1b\\y"},
    {"\033c\033(B\033P1$r\033\\", 0, "\\x1bc\\x1b(B\\x1bP1$r\\x1b\\"},
    {"\033[>4m\033[?4m\033[ m\033[1\033[31mx", 0,
     "\\x1b[>4m\\x1b[?4m\\x1b[ m\\x1b[1\033[31mx"},
    {"\xc2\x9b"
     "31mx\xff\x80",
     0,
     "\\xc2\\x9b"
     "31mx\\xff\\x80"},
    {"a\b\x7f\007\0b", 6, "a\\x08\\x7f\\x07\\x00b"},
    {"x\xe2\x80\xae\xe2\x81\xa6y", 0, "x\\xe2\\x80\\xae\\xe2\\x81\\xa6y"},
    {"\xc3(\xe2\x82", 0, "\\xc3(\\xe2\\x82"},
    {"\033", 0, "\\x1b"},
    {"\033[", 0, "\\x1b["},
    {"\033[1;", 0, "\\x1b[1;"},
    {"\033[0000000000000000000000000000000000000000000000000000000000000000000"
     "0m",
     0,
     "\\x1b[000000000000000000000000000000000000000000000000000000000000000000"
     "00m"},
};

static size_t length_of(size_t i)
{
    return cases[i].length > 0 ? cases[i].length : strlen(cases[i].text);
}

static void test_escape__a_terminal_gets_colours_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = BUF_INIT;
        size_t length = length_of(i);

        assert_int_equal(escape_show(cases[i].text, length, true, &out),
                         length);
        if (strcmp(buf_text(&out), cases[i].shown) != 0)
            fail_msg("%zu: '%s'", i, buf_text(&out));
        buf_clear(&out);
    }
}

/* However a text is cut between writes, it shows as in one. */
static void test_escape__pieces_show_as_the_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t length = length_of(i);

        for (size_t cut = 0; cut <= length; cut++) {
            struct buf out = BUF_INIT;
            size_t taken = escape_show(cases[i].text, cut, false, &out);

            assert_true(taken <= cut);
            escape_show(cases[i].text + taken, length - taken, true, &out);
            if (strcmp(buf_text(&out), cases[i].shown) != 0)
                fail_msg("%zu, %zu: '%s'", i, cut, buf_text(&out));
            buf_clear(&out);
        }
    }
}

/* What can be shown is not held back. */
static void test_escape__only_what_may_go_on_waits(void **state)
{
    static const struct {
        const char *text;
        size_t taken;
    } waits[] = {
        {"abc", 3},           {"a\033", 1},     {"a\033[", 1},
        {"a\033[1;3", 1},     {"a\033]", 3},    {"a\033[2", 1},
        {"a\033[2J", 5},      {"a\xc3", 1},     {"a\xe2\x80", 1},
        {"a\xf0\x9f\x98", 1}, {"a\xff", 2},     {"a\xe2(", 3},
        {"a\x80", 2},         {"a\xc3\xa9", 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        struct buf out = BUF_INIT;

        if (escape_show(waits[i].text, strlen(waits[i].text), false, &out) !=
            waits[i].taken)
            fail_msg("%zu: '%s'", i, buf_text(&out));
        buf_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape__a_terminal_gets_colours_alone),
        cmocka_unit_test(test_escape__pieces_show_as_the_whole),
        cmocka_unit_test(test_escape__only_what_may_go_on_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
