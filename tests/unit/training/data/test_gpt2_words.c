/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/gpt2_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "training/data/rune_class.h"

/* By GPT-2's regular expression; Python's package regex cuts them so. */
static void test_gpt2_words__cuts_as_the_expression_does(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"Hello world", "Hello| world"},
        {"it's we'll I'd've", "it|'s| we|'ll| I|'d|'ve"},
        {"'S 'tis ''s x'", "'|S| '|tis| ''|s| x|'"},
        {"a  b", "a| | b"},
        {"a   b", "a|  | b"},
        {"a \n b", "a| \n| b"},
        {"a\n\nb", "a|\n|\n|b"},
        {"a\tb", "a|\t|b"},
        {"a  ", "a|  "},
        {" ", " "},
        {"abc123def", "abc|123|def"},
        {" 12.5%!", " 12|.|5|%!"},
        {"\xc3\xa9t\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87\xe3\x80\x82",
         "\xc3\xa9t\xc3\xa9| \xe4\xb8\xad\xe6\x96\x87|\xe3\x80\x82"},
        /* U+00A0 is a space, but not the one that words begin with. */
        {"a\xc2\xa0 b", "a|\xc2\xa0| b"},
        {"a\xc2\xa0"
         "b",
         "a|\xc2\xa0|b"},
        /* U+0301, a mark; U+00B2 and U+0660, numbers. */
        {"e\xcc\x81 x\xc2\xb2\xd9\xa0", "e|\xcc\x81| x|\xc2\xb2\xd9\xa0"},
        /* Bytes that are no UTF-8 */
        {"a\xff\xfe!b", "a|\xff\xfe!|b"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const uint8_t *text = (const uint8_t *)cases[i].text;
        size_t length = strlen(cases[i].text), word;
        struct buf words = BUF_INIT;

        for (size_t at = 0; at < length; at += word) {
            word = gpt2_word(text + at, length - at);
            assert_true(word > 0 && word <= length - at);
            if (at > 0)
                buf_add_char(&words, '|');
            buf_add(&words, text + at, word);
        }
        assert_string_equal(buf_text(&words), cases[i].words);
        buf_clear(&words);
    }
}

static void test_rune_class__has_the_first_and_last_of_its_tables(void **state)
{
    static const struct {
        uint32_t rune;
        enum rune_class expected;
    } cases[] = {
        {0x40, RUNE_OTHER},     {0x41, RUNE_LETTER},    {0x5b, RUNE_OTHER},
        {0x7a, RUNE_LETTER},    {0x85, RUNE_SPACE},     {0xa9, RUNE_OTHER},
        {0xaa, RUNE_LETTER},    {0xbc, RUNE_NUMBER},    {0x3000, RUNE_SPACE},
        {0x3007, RUNE_NUMBER},  {0x4e00, RUNE_LETTER},  {0x9fff, RUNE_LETTER},
        {0xd7a3, RUNE_LETTER},  {0xe000, RUNE_OTHER},   {0x1f600, RUNE_OTHER},
        {0x1fbf9, RUNE_NUMBER}, {0x323af, RUNE_LETTER}, {0x323b0, RUNE_OTHER},
        {0x10ffff, RUNE_OTHER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(rune_class(cases[i].rune), cases[i].expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpt2_words__cuts_as_the_expression_does),
        cmocka_unit_test(test_rune_class__has_the_first_and_last_of_its_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
