/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "tests/unit/base/conf/conf_test.h"

/* "LINE:COLUMN text (help)" of the first message. */
static void expect_refusal(const char *text, size_t length,
                           const char *expected)
{
    struct diags *diags = diags_create("t.yaml");
    struct conf_doc *doc = conf_parse(text, length, diags);
    const struct diag *diag;
    char found[1024];

    assert_null(doc);
    assert_true(diags_count(diags) > 0);
    diag = diags_get(diags, 0);
    snprintf(found, sizeof(found), "%d:%d %s%s%s%s", diag->place.line,
             diag->place.column, diag->text, diag->help ? " (" : "",
             diag->help ? diag->help : "", diag->help ? ")" : "");
    assert_string_equal(found, expected);
    diags_destroy(diags);
}

static void test_conf_refusals__say_what_and_where(void **state)
{
    static const struct refusal refusals[] = {
        {"", "0:0 the file is empty"},
        {"# nothing\n", "0:0 the file is empty"},
        {"a: 1\nb: 2\na: 3\n",
         "3:1 duplicate key 'a' (first defined at line 1, column 1)"},
        {"a: 1\n\"a\": 3\n",
         "2:1 duplicate key 'a' (first defined at line 1, column 1)"},
        {"a: 1\n---\nb: 1\n",
         "2:1 a second document starts here, but a file has only one"},
        {"a:\n\tb: 1\n",
         "2:1 a tab is not valid as indentation in YAML (indent with spaces)"},
        {"a:\n  b: 1\n  \tc: 1\n",
         "3:3 a tab is not valid as indentation in YAML (indent with spaces)"},
        {"a: b: c\n", "1:5 unexpected ':' (put text with ': ' in "
                      "quotes; else check the indentation)"},
        {"a: @x\n", "1:4 text cannot start with this character (put the text "
                    "in quotes)"},
        {"a: [1, 2\nb: 3\n",
         "2:2 expected ',' or ']' (of the text that starts in line "
         "1)"},
        {"a: {b: run ${{ x }}}\n",
         "1:13 a template inside { } or [ ] needs quotes (put the text in "
         "quotes: \"... ${{ }}\")"},
        {"a: [${{ x }}]\n",
         "1:6 a template inside { } or [ ] needs quotes (put the text in "
         "quotes: \"... ${{ }}\")"},
        {"\xc3\xa4: [${{ x }}]\n",
         "1:6 a template inside { } or [ ] needs quotes (put the text in "
         "quotes: \"... ${{ }}\")"},
        {"a: [1 }\n", "1:7 expected ',' or ']'"},
        {"a: \"\\ud83d\"\n", "1:7 an escape that is no character (half of a "
                             "surrogate pair, or beyond \\U0010ffff)"},
        {"a: \"\\ude00\\ud83d\\ude00\"\n",
         "1:7 an escape that is no character (half of a surrogate pair, or "
         "beyond \\U0010ffff)"},
        {"# \xf4\x8f\xbf\xbf\na: \"\\ud83d\\ude00\"\n",
         "2:7 an escape that is no character (half of a surrogate pair, or "
         "beyond \\U0010ffff)"},
        {"a: 'x\n",
         "2:1 the file ends inside quotes (of the text that starts in line "
         "1)"},
        {"a: 1\n  b: 2\n", "2:4 unexpected ':' (put text with ': ' in quotes; "
                           "else check the indentation)"},
        {"a: *b\n", "1:4 unknown anchor '&b': define it before this alias"},
        {"a: &lr 1\nb: &width 2\nc: *wdith\n",
         "3:4 unknown anchor '&wdith': define it before this alias (did you "
         "mean 'width'?)"},
        {"a: &b [*b]\n", "1:8 alias '*b' is inside its own anchor"},
        {"a: &x {b: 1}\nc:\n  <<: *x\n",
         "3:3 merge keys ('<<') are not supported (write the keys out, or use "
         "an alias for a whole map)"},
        {"a: !python/object 1\n",
         "1:4 tags such as '!python/object' are not supported"},
        {"a: !x [1]\n", "1:4 tags such as '!x' are not supported"},
        {"a: !x {b: 1}\n", "1:4 tags such as '!x' are not supported"},
        {"a: !!int 1\n",
         "1:4 tags such as 'tag:yaml.org,2002:int' are not supported"},
        {"? [1]\n: 2\n", "1:3 type mismatch: a key must be a word, not a list"},
        {"? {a: 1}\n: 2\n",
         "1:3 type mismatch: a key must be a word, not a map"},
        {"a: \"x\\0y\"\n", "1:4 text contains a NUL character"},
        {"a: \xff\n", "1:4 byte 0xff is not UTF-8 (save the file as UTF-8)"},
        {"\xff\xfe"
         "a",
         "0:0 the file is UTF-16 (save it as UTF-8)"},
        {"a: \xc3\xa4\x07\n", "1:5 the control character U+0007"},
        {"a: 1\rb: 2\n", "1:5 a carriage return that ends no line (end lines "
                         "with LF or CR LF)"},
        {"a: \xe2\x80\xa8\n", "1:4 the line separator U+2028 (end lines with "
                              "LF or CR LF)"},
        {"a: \xe2\x80\xa9\n", "1:4 the line separator U+2029 (end lines with "
                              "LF or CR LF)"},
        {"a: \xc2\x85\n", "1:4 the line separator U+0085 (end lines with LF "
                          "or CR LF)"},
        {"a: \xef\xbb\xbf\n", "1:4 the control character U+FEFF"},
        {"a: \xef\xbf\xbe\n", "1:4 the control character U+FFFE"},
        {"a: \xef\xbf\xbf\n", "1:4 the control character U+FFFF"},
        {"a: \x7f\n", "1:4 the control character U+007F"},
        {"a: 1\r", "1:5 a carriage return that ends no line (end lines with "
                   "LF or CR LF)"},
        {"\xfe\xff"
         "a",
         "0:0 the file is UTF-16 (save it as UTF-8)"},
        {"%YAML 1.9\n---\na: 1\n", "1:1 found incompatible YAML document"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        expect_refusal(refusals[i].text, strlen(refusals[i].text),
                       refusals[i].message);
    expect_refusal("a: \0b\n", 6, "1:4 a NUL byte: this is not a text file");
}

static void test_conf_refusals__reports_all_duplicates(void **state)
{
    const char *text = "a: {b: 1, b: 2}\nc: 1\nc: 2\n";
    struct diags *diags = diags_create("t.yaml");

    (void)state;
    assert_null(conf_parse(text, strlen(text), diags));
    assert_int_equal(diags_count(diags), 2);
    diags_destroy(diags);
}

static void test_conf_refusals__depth_is_bounded(void **state)
{
    struct buf text = BUF_INIT;

    (void)state;
    repeat(&text, "[", 64);
    repeat(&text, "]", 64);
    conf_destroy(parse(buf_text(&text)));
    buf_truncate(&text, 0);
    repeat(&text, "[", 65);
    repeat(&text, "]", 65);
    expect_refusal(text.data, text.length,
                   "1:65 lists and maps are nested more than 64 deep");
    buf_clear(&text);
}

static void test_conf_refusals__hostile_depth_is_refused_at_once(void **state)
{
    static const char *const pieces[] = {"[", "{", "- ", "[\n", "? ", "{a: "};
    int64_t start = clock_monotonic_ms();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        struct buf text = BUF_INIT;
        struct diags *diags = diags_create("t.yaml");

        repeat(&text, pieces[i], 200000);
        assert_null(conf_parse(text.data, text.length, diags));
        assert_non_null(strstr(diags_get(diags, 0)->text, "64 deep"));
        diags_destroy(diags);
        buf_clear(&text);
    }
    assert_true(clock_monotonic_ms() - start < 5000);
}

static void test_conf_refusals__depth_counts_through_aliases(void **state)
{
    struct buf text = BUF_INIT;

    (void)state;
    buf_add_string(&text, "a: &a ");
    repeat(&text, "[", 40);
    repeat(&text, "]", 40);
    buf_add_string(&text, "\nb: ");
    repeat(&text, "[", 30);
    buf_add_string(&text, "*a");
    repeat(&text, "]", 30);
    expect_refusal(text.data, text.length,
                   "2:34 lists and maps are nested more than 64 deep");
    buf_clear(&text);
}

static void test_conf_refusals__expansion_of_aliases_is_bounded(void **state)
{
    struct buf text = BUF_INIT;

    (void)state;
    buf_add_string(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++) {
        buf_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++)
            buf_printf(&text, "*a%d, ", i - 1);
        buf_add_string(&text, "]\n");
    }
    expect_refusal(text.data, text.length,
                   "7:35 the file has more than 4000000 nodes, those behind "
                   "aliases counted each time");
    buf_clear(&text);
}

/* The last node that there may be, and one more. */
static void test_conf_refusals__nodes_are_bounded(void **state)
{
    static const char *const last[] = {"1", "[]", "{}"};
    struct buf text = BUF_INIT;
    char expected[128];
    size_t before;

    (void)state;
    buf_add_string(&text, "[&a [");
    repeat(&text, "1,", 999);
    buf_add_string(&text, "],");
    repeat(&text, "*a,", CONF_MAX_NODES / 1000 - 2);
    repeat(&text, "1,", 999);
    before = text.length;
    snprintf(expected, sizeof(expected),
             "1:%zu the file has more than 4000000 nodes, those behind "
             "aliases counted each time",
             before + 1);
    for (size_t i = 0; i < ARRAY_LEN(last); i++) {
        buf_truncate(&text, before);
        buf_printf(&text, "%s]", last[i]);
        expect_refusal(text.data, text.length, expected);
    }
    text.data[before - 1] = ']';
    conf_destroy(parse_bytes(text.data, before));
    buf_clear(&text);
}

/* Two millions of them end at the first that is too many, in any reading. */
static void test_conf_refusals__values_of_a_list_are_bounded(void **state)
{
    int64_t start = clock_monotonic_ms();
    struct buf text = BUF_INIT;
    char expected[64];
    size_t before;

    (void)state;
    buf_add_string(&text, "a:\n  b: [");
    repeat(&text, "[],", 3);
    repeat(&text, "1,", CONF_MAX_SCALARS);
    before = text.length;
    repeat(&text, "1,", 2000000 - CONF_MAX_SCALARS);
    buf_add_string(&text, "1]\nsteps: 1\n");
    snprintf(expected, sizeof(expected),
             "2:%zu the list has more than 100000 values",
             before - strlen("a:\n") + 1);
    expect_refusal(text.data, text.length, expected);
    assert_false(conf_has_key(text.data, text.length, "steps"));
    assert_true(clock_monotonic_ms() - start < 5000);
    buf_truncate(&text, before);
    buf_add_string(&text, "]\nsteps: 1\n");
    conf_destroy(parse_bytes(text.data, text.length));
    assert_true(conf_has_key(text.data, text.length, "steps"));
    buf_clear(&text);
}

/* What smtune does not interpret may have more of them. */
static void test_conf_refusals__values_of_a_tree_are_not(void **state)
{
    struct buf text = BUF_INIT;
    struct conf_doc *doc;

    (void)state;
    buf_add_string(&text, "[");
    repeat(&text, "1,", CONF_MAX_SCALARS);
    buf_add_string(&text, "1]");
    assert_null(conf_parse(text.data, text.length, NULL));
    doc = conf_parse_tree(text.data, text.length, NULL);
    assert_non_null(doc);
    assert_int_equal(conf_root(doc)->count, CONF_MAX_SCALARS + 1);
    conf_destroy(doc);
    buf_clear(&text);
}

static void test_conf_refusals__size_is_bounded(void **state)
{
    struct buf text = BUF_INIT;

    (void)state;
    repeat(&text, "# comment line\n", CONF_MAX_BYTES / 15 + 1);
    expect_refusal(text.data, text.length,
                   "0:0 the file is longer than 33554432 bytes");
    buf_truncate(&text, 0);
    repeat(&text, "- &a 1\n", 1001);
    expect_refusal(text.data, text.length,
                   "1001:3 the file has more than 1000 anchors");
    buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conf_refusals__say_what_and_where),
        cmocka_unit_test(test_conf_refusals__reports_all_duplicates),
        cmocka_unit_test(test_conf_refusals__depth_is_bounded),
        cmocka_unit_test(test_conf_refusals__hostile_depth_is_refused_at_once),
        cmocka_unit_test(test_conf_refusals__depth_counts_through_aliases),
        cmocka_unit_test(test_conf_refusals__expansion_of_aliases_is_bounded),
        cmocka_unit_test(test_conf_refusals__nodes_are_bounded),
        cmocka_unit_test(test_conf_refusals__values_of_a_list_are_bounded),
        cmocka_unit_test(test_conf_refusals__values_of_a_tree_are_not),
        cmocka_unit_test(test_conf_refusals__size_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
