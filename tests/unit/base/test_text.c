/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

static const char *const keys[] = {"type",  "min",  "max",
                                   "scale", "step", "distribution"};

static const char *nearest(const char *word)
{
    return text_nearest(word, keys, ARRAY_LEN(keys));
}

static void test_text__nearest_finds_slips(void **state)
{
    (void)state;
    assert_string_equal(nearest("distributon"), "distribution");
    assert_string_equal(nearest("scael"), "scale"); /* one transposition */
    assert_string_equal(nearest("mni"), "min");
    assert_string_equal(nearest("TYPE"), "type");
    assert_string_equal(nearest("steps"), "step");
}

static void test_text__nearest_knows_when_nothing_is_near(void **state)
{
    char huge[200];

    (void)state;
    assert_null(nearest("colour"));
    assert_null(nearest(""));
    assert_null(nearest("mx")); /* one edit is half of it */
    memset(huge, 'a', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    assert_null(nearest(huge));
    assert_null(text_nearest("a", NULL, 0));
}

static void test_text__next_rune_refuses_bad_utf8(void **state)
{
    uint32_t rune = 0;

    (void)state;
    assert_int_equal(text_next_rune("a", 1, &rune), 1);
    assert_int_equal(rune, 'a');
    assert_int_equal(text_next_rune("\xc3\xbc", 2, &rune), 2);
    assert_int_equal(rune, 0xfc);
    assert_int_equal(text_next_rune("\xf0\x9f\x98\x80", 4, &rune), 4);
    assert_int_equal(rune, 0x1f600);
    assert_int_equal(text_next_rune("\xc3", 1, NULL), 0);         /* cut */
    assert_int_equal(text_next_rune("\xc0\xaf", 2, NULL), 0);     /* long */
    assert_int_equal(text_next_rune("\xe0\x80\xaf", 3, NULL), 0); /* long */
    assert_int_equal(text_next_rune("\xed\xa0\x80", 3, NULL), 0); /* half */
    assert_int_equal(text_next_rune("\xf4\x90\x80\x80", 4, NULL), 0);
    assert_int_equal(text_next_rune("\xff", 1, NULL), 0);
    assert_int_equal(text_next_rune("\xc3q", 2, NULL), 0);
}

static void test_text__put_rune_is_the_other_way(void **state)
{
    static const uint32_t runes[] = {'a',    0x7f,    0x80,    0x7ff,   0x800,
                                     0xffff, 0x10000, 0x1f600, 0x10ffff};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(runes); i++) {
        char bytes[4];
        uint32_t rune = 0;
        size_t length = text_put_rune(runes[i], bytes);

        assert_int_equal(text_next_rune(bytes, length, &rune), length);
        assert_int_equal(rune, runes[i]);
    }
}

static void test_text__escapes_of_json_are_characters(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        uint32_t rune;
    } cases[] = {
        {"\\u0041b", 6, 'A'},
        {"\\u00E9", 6, 0xe9},
        {"\\uffff", 6, 0xffff},
        {"\\ud83d\\ude00x", 12, 0x1f600},
        {"\\uDBFF\\uDFFF", 12, 0x10ffff},
        {"\\ud800\\udc00", 12, 0x10000},
        {"\\ud83d", 0, 0},
        {"\\ud83d\\ud83d", 0, 0},
        {"\\ud83d\\u0041", 0, 0},
        {"\\ud83d\\ue000", 0, 0},
        {"\\ud83d-ude00", 0, 0},
        {"\\ude00\\ud83d", 0, 0},
        {"\\u004", 0, 0},
        {"\\u004g", 0, 0},
        {"\\n0041 ", 0, 0},
        {"u0041  ", 0, 0},
        {"", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = cases[i].text;
        uint32_t rune = 0;
        size_t length = text_escaped_rune(text, strlen(text), &rune);

        if (length != cases[i].length || (length > 0 && rune != cases[i].rune))
            fail_msg("'%s': %zu bytes, U+%04X", text, length, (unsigned)rune);
    }
}

static void test_text__columns_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("lr\t1"), 4);
    assert_int_equal(text_columns("gr\xc3\xb6\xc3\x9f"), 4);
    assert_int_equal(text_columns("\xe6\x97\xa5\xe6\x9c\xac"), 4); /* wide */
    assert_int_equal(text_columns("e\xcc\x81"), 1); /* combining accent */
    assert_int_equal(text_columns("\xff\xfe"), 2);
}

static void test_text__escape_shows_what_a_terminal_would_obey(void **state)
{
    struct buf out = BUF_INIT;

    (void)state;
    text_escape("a\033[31m\xff\0\xc3\xbc\xc2\x9b", 12, &out);
    assert_string_equal(buf_text(&out),
                        "a\\x1b[31m\\xff\\x00\xc3\xbc\\xc2\\x9b");
    buf_clear(&out);
}

static void test_text__escape_shows_what_turns_the_direction(void **state)
{
    static const uint32_t turns[] = {0x061c, 0x200e, 0x200f, 0x202a,
                                     0x202b, 0x202c, 0x202d, 0x202e,
                                     0x2066, 0x2067, 0x2068, 0x2069};
    static const uint32_t others[] = {0x061b, 0x061d, 0x200d, 0x2010, 0x2029,
                                      0x202f, 0x2065, 0x206a, 0x05d0, 0x0627};
    struct buf out = BUF_INIT;
    char bytes[4];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        buf_truncate(&out, 0);
        text_escape(bytes, text_put_rune(turns[i], bytes), &out);
        assert_true(out.length >= 8 && out.data[0] == '\\');
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        size_t length = text_put_rune(others[i], bytes);

        buf_truncate(&out, 0);
        text_escape(bytes, length, &out);
        assert_int_equal(out.length, length);
    }
    buf_truncate(&out, 0);
    text_escape("a\xe2\x80\xae"
                "b",
                5, &out);
    assert_string_equal(buf_text(&out), "a\\xe2\\x80\\xaeb");
    buf_clear(&out);
}

static void test_text__names(void **state)
{
    char name[130];

    (void)state;
    assert_true(text_is_name("lr"));
    assert_true(text_is_name("_a.b-c_9"));
    assert_true(text_is_name("3d"));
    assert_false(text_is_name(""));
    assert_false(text_is_name("-x"));
    assert_false(text_is_name(".x"));
    assert_false(text_is_name("a b"));
    assert_false(text_is_name("a/b"));
    assert_false(text_is_name("\xc3\xbc"));
    memset(name, 'n', sizeof(name));
    name[129] = '\0';
    assert_false(text_is_name(name));
    name[128] = '\0';
    assert_true(text_is_name(name));
}

static void test_text__an_unknown_word_is_quoted_with_what_there_is(
    void **state)
{
    static const char *const words[] = {"asha", "median", "pbt"};
    struct err err;

    (void)state;
    assert_int_equal(text_unknown("rule", "medain", words, 3, ERR_FILE, &err),
                     -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_string_equal(err.text,
                        "unknown rule 'medain' (did you mean 'median'?)");
    text_unknown("op", "x", words, 3, ERR_USAGE, &err);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_string_equal(err.text, "unknown op 'x' (one of: asha, median, pbt)");
}

static void test_text__no_text_is_the_same_as_none_alone(void **state)
{
    const char copy[] = "a";

    (void)state;
    assert_true(text_same("a", copy));
    assert_false(text_same("a", "ab"));
    assert_false(text_same("", NULL));
    assert_false(text_same(NULL, ""));
    assert_true(text_same(NULL, NULL));
}

static void test_text__a_variable_is_what_a_shell_has(void **state)
{
    (void)state;
    assert_int_equal(text_variable_length("A_1=x"), 3);
    assert_int_equal(text_variable_length("_"), 1);
    assert_int_equal(text_variable_length("a-b"), 1);
    assert_int_equal(text_variable_length("1a=x"), 0);
    assert_int_equal(text_variable_length("=x"), 0);
    assert_int_equal(text_variable_length(""), 0);
}

static void test_text__has_whole_words(void **state)
{
    (void)state;
    assert_true(text_has_word("cwd  chdir", "cwd"));
    assert_true(text_has_word("cwd  chdir", "chdir"));
    assert_false(text_has_word("cwd chdir", "dir"));
    assert_false(text_has_word("cwd chdir", "cwd "));
    assert_false(text_has_word("", "cwd"));
    assert_false(text_has_word(NULL, "cwd"));
}

static void test_text__lists_have_whole_texts(void **state)
{
    static const char *const list[] = {"n1", "n12", "", NULL};
    static const char *const none[] = {NULL};

    (void)state;
    assert_true(text_is_among("n12", list, 2));
    assert_false(text_is_among("n", list, 3));
    assert_true(text_is_among("", list, 3));
    assert_false(text_is_among("", list, 2));
    assert_false(text_is_among("n1", NULL, 0));
    assert_true(text_list_has(list, "n12"));
    assert_true(text_list_has(list, ""));
    assert_false(text_list_has(list, "n"));
    assert_false(text_list_has(none, "n1"));
    assert_false(text_list_has(NULL, "n1"));
}

static void test_text__lists_have_words_in_any_case(void **state)
{
    static const char *const list[] = {"val", "eval"};

    (void)state;
    assert_true(text_is_word_among("Eval. loss", 4, list, 2));
    assert_true(text_is_word_among("VAL", 3, list, 1));
    assert_false(text_is_word_among("val", 2, list, 2));
    assert_false(text_is_word_among("valid", 5, list, 2));
    assert_false(text_is_word_among("eval", 4, list, 1));
}

static void test_text__begins_as_asked(void **state)
{
    (void)state;
    assert_true(text_begins_with("docker://a", "docker://"));
    assert_true(text_begins_with("docker://", "docker://"));
    assert_true(text_begins_with("docker", ""));
    assert_false(text_begins_with("docker:/", "docker://"));
    assert_false(text_begins_with(" docker://", "docker://"));
}

static void test_text__ends_as_asked(void **state)
{
    (void)state;
    assert_true(text_ends_with("box.sif", ".sif"));
    assert_true(text_ends_with(".sif", ".sif"));
    assert_false(text_ends_with("sif", ".sif"));
    assert_false(text_ends_with("box.sif.lock", ".sif"));
}

static void test_text__is_cut_between_characters(void **state)
{
    static const char text[] = "a\u00e9\u20ac\U0001f600"; /* of 1, 2, 3, 4 */
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};

    (void)state;
    for (size_t max = 0; max < ARRAY_LEN(expected); max++)
        assert_int_equal(text_cut(text, strlen(text), max), expected[max]);
    assert_int_equal(text_cut(NULL, 0, 8), 0);
    assert_int_equal(text_cut("\x80\x80\x80", 3, 2), 0);
    assert_int_equal(text_cut("ab\xff", 3, 2), 2);
}

/* Values that are published with the algorithm. */
static void test_text__hash_is_fnv_1a(void **state)
{
    (void)state;
    assert_int_equal(text_hash("", 0), 0x811c9dc5);
    assert_int_equal(text_hash("a", 1), 0xe40c292c);
    assert_int_equal(text_hash("foobar!", 6), 0xbf9cf968);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__no_text_is_the_same_as_none_alone),
        cmocka_unit_test(test_text__a_variable_is_what_a_shell_has),
        cmocka_unit_test(test_text__has_whole_words),
        cmocka_unit_test(test_text__lists_have_whole_texts),
        cmocka_unit_test(test_text__lists_have_words_in_any_case),
        cmocka_unit_test(test_text__begins_as_asked),
        cmocka_unit_test(test_text__ends_as_asked),
        cmocka_unit_test(test_text__is_cut_between_characters),
        cmocka_unit_test(test_text__hash_is_fnv_1a),
        cmocka_unit_test(test_text__nearest_finds_slips),
        cmocka_unit_test(test_text__nearest_knows_when_nothing_is_near),
        cmocka_unit_test(test_text__next_rune_refuses_bad_utf8),
        cmocka_unit_test(test_text__put_rune_is_the_other_way),
        cmocka_unit_test(test_text__escapes_of_json_are_characters),
        cmocka_unit_test(test_text__columns_are_those_of_a_terminal),
        cmocka_unit_test(test_text__escape_shows_what_a_terminal_would_obey),
        cmocka_unit_test(test_text__escape_shows_what_turns_the_direction),
        cmocka_unit_test(test_text__names),
        cmocka_unit_test(
            test_text__an_unknown_word_is_quoted_with_what_there_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
