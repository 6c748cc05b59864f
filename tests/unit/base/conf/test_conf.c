/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/conf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "tests/unit/base/conf/conf_test.h"

struct scalar {
    const char *text;
    enum conf_type type;
    double number;
};

static void test_conf__scalars_follow_the_core_schema(void **state)
{
    static const struct scalar scalars[] = {
        {"~", CONF_NULL, 0},
        {"null", CONF_NULL, 0},
        {"nUll", CONF_TEXT, 0},
        {"true", CONF_BOOL, 1},
        {"False", CONF_BOOL, 0},
        {"yes", CONF_TEXT, 0},
        {"no", CONF_TEXT, 0},
        {"on", CONF_TEXT, 0},
        {"tRUE", CONF_TEXT, 0},
        {"0", CONF_INT, 0},
        {"-19", CONF_INT, -19},
        {"+12", CONF_INT, 12},
        {"010", CONF_INT, 10},
        {"0o17", CONF_INT, 15},
        {"0o8", CONF_TEXT, 0},
        {"0xFf", CONF_INT, 255},
        {"0xg", CONF_TEXT, 0},
        {"0b1", CONF_TEXT, 0},
        {"-0x1", CONF_TEXT, 0},
        {"1_000", CONF_TEXT, 0},
        {"1:30", CONF_TEXT, 0},
        {"1e-4", CONF_REAL, 1e-4},
        {"1.", CONF_REAL, 1},
        {"+1.5e+3", CONF_REAL, 1500},
        {"\xf0\x9f\x98\x80", CONF_TEXT, 0},
        {".5", CONF_REAL, 0.5},
        {"-.5E+2", CONF_REAL, -50},
        {".", CONF_TEXT, 0},
        {"1e", CONF_TEXT, 0},
        {"e1", CONF_TEXT, 0},
        {"1.2.3", CONF_TEXT, 0},
        {"inf", CONF_TEXT, 0},
        {".inf", CONF_REAL, INFINITY},
        {"-.INF", CONF_REAL, -INFINITY},
        {"9223372036854775807", CONF_INT, 9223372036854775807.0},
        {"9223372036854775808", CONF_REAL, 9223372036854775808.0},
        {"0xffffffffffffffff", CONF_REAL, 18446744073709551615.0},
        {"1,5", CONF_TEXT, 0},
        {"2026-11-21", CONF_TEXT, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scalars); i++) {
        struct conf_doc *doc = parse(scalars[i].text);
        const struct conf_node *root = conf_root(doc);

        if (root->type != scalars[i].type)
            fail_msg("'%s' became %s", scalars[i].text,
                     conf_type_name(root->type));
        assert_string_equal(root->text, scalars[i].text);
        if (root->type == CONF_INT || root->type == CONF_REAL)
            assert_true(conf_number(root) == scalars[i].number);
        else
            assert_true(isnan(conf_number(root)));
        if (root->type == CONF_BOOL)
            assert_int_equal(root->boolean, scalars[i].number != 0);
        conf_destroy(doc);
    }
}

static void test_conf__quotes_and_tags_make_text(void **state)
{
    struct conf_doc *doc = parse("['1', \"true\", !!str 2, ! 3, .nan, '']");
    const struct conf_node *root = conf_root(doc);

    (void)state;
    assert_int_equal(root->type, CONF_LIST);
    assert_int_equal(root->count, 6);
    for (size_t i = 0; i < 6; i++)
        if (i != 4)
            assert_int_equal(root->items[i]->type, CONF_TEXT);
    assert_true(root->items[0]->quoted);
    assert_false(root->items[2]->quoted);
    assert_true(isnan(conf_number(root->items[4])));
    conf_destroy(doc);
}

static void test_conf__nodes_know_where_they_stand(void **state)
{
    struct conf_doc *doc = parse("a:\n  \xc3\xa4: [x, 'yz']\n");
    const struct conf_node *a = conf_get(conf_root(doc), "a");
    const struct conf_node *list = conf_get(a, "\xc3\xa4");

    (void)state;
    assert_int_equal(conf_get_key(conf_root(doc), "a")->place.line, 1);
    assert_int_equal(a->place.line, 2);
    assert_int_equal(a->place.column, 3);
    assert_int_equal(list->place.column, 6);
    assert_int_equal(list->items[1]->place.column, 10);
    assert_int_equal(list->items[1]->place.length, 4);
    assert_null(conf_get(a, "b"));
    assert_null(conf_get(NULL, "a"));
    assert_null(conf_get(list, "a"));
    assert_null(conf_get_key(list, "a"));
    conf_destroy(doc);
}

static void test_conf__a_merge_key_in_quotes_is_a_word(void **state)
{
    struct conf_doc *doc = parse("\"<<\": 1\n");

    (void)state;
    assert_int_equal(conf_get(conf_root(doc), "<<")->integer, 1);
    conf_destroy(doc);
}

static void test_conf__aliases_share_nodes(void **state)
{
    struct conf_doc *doc = parse("a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x\n");
    const struct conf_node *root = conf_root(doc);

    (void)state;
    assert_ptr_equal(conf_get(root, "a"), conf_get(root, "b"));
    assert_int_equal(conf_get(root, "d")->integer, 3);
    conf_destroy(doc);
}

static void test_conf__takes_windows_files(void **state)
{
    struct conf_doc *doc = parse("\xef\xbb\xbf"
                                 "a: 1\r\nb: x\r\n");

    (void)state;
    assert_string_equal(conf_get(conf_root(doc), "b")->text, "x");
    assert_int_equal(conf_get_key(conf_root(doc), "a")->place.column, 1);
    assert_string_equal(conf_source(doc), "a: 1\r\nb: x\r\n");
    conf_destroy(doc);
}

/* JSON writes a character beyond U+FFFF as two escapes, which in any other
 * kind of text are no escapes. */
static void test_conf__surrogate_pairs_are_characters_in_double_quotes(
    void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
        {"\"a\\uD83D\\uDE00b\\u00e9\\ud83d\\ude01\"",
         "a\xf0\x9f\x98\x80"
         "b\xc3\xa9\xf0\x9f\x98\x81"},
        {"\"\\\\\\ud83d\\ude00\"", "\\\xf0\x9f\x98\x80"},
        {"\"\\\\ud83d\\\\ude00 \\ud83d\\ude00\"",
         "\\ud83d\\ude00 \xf0\x9f\x98\x80"},
        {"'\\ud83d\\ude00'", "\\ud83d\\ude00"},
        {"\\ud83d\\ude00 plain", "\\ud83d\\ude00 plain"},
        {"|-\n  \\ud83d\\ude00\n  b", "\\ud83d\\ude00\nb"},
        {"\"\\U0010ffff \\ud83d\\ude00\"", "\xf4\x8f\xbf\xbf \xf0\x9f\x98\x80"},
        {"\"\\U0010ffff\\U0010ffff\\U0010ffff00000000\\U0010ffff "
         "\\ud83d\\ude00\"",
         "\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf"
         "00000000\xf4\x8f\xbf\xbf \xf0\x9f\x98\x80"},
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
    };
    static const char json[] = "{\"\\ud83d\\ude00\": [\"\\ud83d\\ude00\", "
                               "tail],\n \"steps\": 1}";
    struct conf_doc *doc;
    const struct conf_node *root;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        doc = parse(cases[i].text);
        assert_string_equal(conf_root(doc)->text, cases[i].expected);
        conf_destroy(doc);
    }
    doc = parse(json);
    root = conf_root(doc);
    assert_string_equal(root->keys[0]->text, "\xf0\x9f\x98\x80");
    assert_int_equal(root->items[0]->items[1]->place.column, 35);
    assert_string_equal(conf_source(doc), json);
    conf_destroy(doc);
    assert_true(conf_has_key(json, strlen(json), "steps"));
}

static void test_conf__has_a_key_in_its_outermost_map(void **state)
{
    static const struct {
        const char *text;
        bool has;
    } cases[] = {
        {"", false},
        {"steps", false},
        {"[steps]", false},
        {"steps: 1", true},
        {"a: steps\nb: {steps: 1}\nc: [steps]\n", false},
        {"a: steps\n'steps': {}\n", true},
        {"a: &x steps\nb: *x\nsteps: 1\n", true},
        {"a: &x steps\n*x : 1\n", false},
        {"a: [1\nsteps: 1\n", false},
        {"steps: 1\na: [1\n", true},
        {"a: 1\n---\nsteps: 1\n", false},
    };
    struct buf deep = BUF_INIT;
    char *huge;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = cases[i].text;

        if (conf_has_key(text, strlen(text), "steps") != cases[i].has)
            fail_msg("%s", text);
    }
    buf_add_string(&deep, "a: ");
    repeat(&deep, "[", 64);
    repeat(&deep, "]", 64);
    buf_add_string(&deep, "\nsteps: 1\n");
    assert_false(conf_has_key(deep.data, deep.length, "steps"));
    buf_clear(&deep);
    huge = mem_printf("steps: 1%*s", CONF_MAX_BYTES, "");
    assert_true(conf_has_key(huge, CONF_MAX_BYTES, "steps"));
    assert_false(conf_has_key(huge, CONF_MAX_BYTES + 1, "steps"));
    free(huge);
}

static void test_conf__loads_a_file(void **state)
{
    char path[] = "/tmp/smtune-conf.XXXXXX";
    struct diags *diags = diags_create("t.yaml");
    int fd = mkstemp(path);
    struct conf_doc *doc;

    (void)state;
    assert_int_equal(write(fd, "a: 7\n", 5), 5);
    close(fd);
    doc = conf_load(path, diags, NULL);
    assert_int_equal(conf_get(conf_root(doc), "a")->integer, 7);
    conf_destroy(doc);
    diags_destroy(diags);
    unlink(path);
}

static void test_conf__load_tells_missing_files(void **state)
{
    struct diags *diags = diags_create("t.yaml");
    struct err err;

    (void)state;
    assert_null(conf_load("/nonexistent/t.yaml", diags, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_null(conf_load("/nonexistent/t.yaml", diags, NULL));
    assert_int_equal(diags_count(diags), 0);
    assert_null(conf_load("/dev/zero", diags, &err));
    assert_int_equal(diags_count(diags), 1);
    diags_destroy(diags);
}

static void expect_place(const char *text, int line, int column,
                         const char *expected)
{
    struct conf_doc *doc = parse(text);
    struct diag_place place =
        conf_place_in(doc, conf_get(conf_root(doc), "k"), line, column);
    char found[64];

    snprintf(found, sizeof(found), "%d:%d", place.line, place.column);
    assert_string_equal(found, expected);
    conf_destroy(doc);
}

static void test_conf__places_inside_scalars(void **state)
{
    (void)state;
    expect_place("k: abc\n", 1, 3, "1:6");
    expect_place("k: 'abc'\n", 1, 3, "1:7");
    expect_place("k: 'a''bc'\n", 1, 4, "1:9");
    expect_place("k: \"a\\\"bc\"\n", 1, 4, "1:9");
    expect_place("k: \"a\\tbc\"\n", 1, 4, "1:4"); /* the escape hides it */
    expect_place("k: &x !!str abc\n", 1, 1, "1:13");
    expect_place("k: \xc3\xa4\xc3\xb6 bc\n", 1, 4, "1:7");
    expect_place("k: |\n  one\n  two three\n", 2, 5, "3:7");
    expect_place("k: |\n\n  one\n    two\n", 3, 5, "4:7");
    expect_place("k: >-\n  one\n  two three\n", 1, 5, "3:3");
    expect_place("k: one\n  two\n", 1, 5, "2:3");
    expect_place("k: 'one\n\n  two'\n", 2, 1, "3:3");
    expect_place("k: abc\n", 1, 4, "1:7");
    expect_place("k: abc\n", 9, 9, "1:7");
    expect_place("k: ' a'", 1, 1, "1:5");
    expect_place("k: ' a'", 1, 2, "1:6");
    expect_place("k: |", 1, 1, "1:5");
    expect_place("k: &x", 1, 1, "1:6");
    expect_place("k:", 1, 1, "1:3");
}

static void test_conf__a_place_is_as_long_as_its_name(void **state)
{
    struct conf_doc *doc = parse("k: a val_loss + 1\n");
    const struct conf_node *k = conf_get(conf_root(doc), "k");

    (void)state;
    assert_int_equal(conf_place_in(doc, k, 1, 3).length, 8);
    assert_int_equal(conf_place_in(doc, k, 1, 12).length, 1);
    assert_int_equal(conf_set(doc, NULL, "k=a val_loss", NULL), 0);
    k = conf_get(conf_root(doc), "k");
    assert_int_equal(conf_place_in(doc, k, 1, 3).line, 0);
    conf_destroy(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conf__scalars_follow_the_core_schema),
        cmocka_unit_test(test_conf__quotes_and_tags_make_text),
        cmocka_unit_test(test_conf__nodes_know_where_they_stand),
        cmocka_unit_test(test_conf__a_merge_key_in_quotes_is_a_word),
        cmocka_unit_test(test_conf__aliases_share_nodes),
        cmocka_unit_test(test_conf__takes_windows_files),
        cmocka_unit_test(
            test_conf__surrogate_pairs_are_characters_in_double_quotes),
        cmocka_unit_test(test_conf__has_a_key_in_its_outermost_map),
        cmocka_unit_test(test_conf__loads_a_file),
        cmocka_unit_test(test_conf__load_tells_missing_files),
        cmocka_unit_test(test_conf__places_inside_scalars),
        cmocka_unit_test(test_conf__a_place_is_as_long_as_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
