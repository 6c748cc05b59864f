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
#include "base/clock.h"
#include "base/compiler.h"
#include "base/conf/schema.h"
#include "base/mem.h"

static struct conf_doc *parse_bytes(const char *text, size_t length)
{
    struct diags *diags = diags_create("t.yaml");
    struct conf_doc *doc = conf_parse(text, length, diags);
    struct buf out = BUF_INIT;

    diags_render(diags, false, &out);
    if (doc == NULL)
        fail_msg("'%s' was refused: %s", text, buf_text(&out));
    assert_int_equal(diags_count(diags), 0);
    buf_clear(&out);
    diags_destroy(diags);
    return doc;
}

static struct conf_doc *parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

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

struct refusal {
    const char *text, *message;
};

static void test_conf__refusals_say_what_and_where(void **state)
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

static void test_conf__reports_all_duplicates(void **state)
{
    const char *text = "a: {b: 1, b: 2}\nc: 1\nc: 2\n";
    struct diags *diags = diags_create("t.yaml");

    (void)state;
    assert_null(conf_parse(text, strlen(text), diags));
    assert_int_equal(diags_count(diags), 2);
    diags_destroy(diags);
}

static void repeat(struct buf *out, const char *text, int times)
{
    while (times-- > 0)
        buf_add_string(out, text);
}

static void test_conf__depth_is_bounded(void **state)
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

static void test_conf__hostile_depth_is_refused_at_once(void **state)
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

static void test_conf__depth_counts_through_aliases(void **state)
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

static void test_conf__expansion_of_aliases_is_bounded(void **state)
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
static void test_conf__nodes_are_bounded(void **state)
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

static void test_conf__size_is_bounded(void **state)
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

static void expect_set(const char *text, const char *assignment,
                       const char *key, const char *sub, const char *expected)
{
    struct conf_doc *doc = parse(text);
    const struct conf_node *node;
    struct err err;

    if (conf_set(doc, NULL, assignment, &err) != 0)
        fail_msg("%s: %s", assignment, err.text);
    node = conf_get(conf_root(doc), key);
    if (sub != NULL)
        node = conf_get(node, sub);
    assert_non_null(node);
    assert_string_equal(node->text, expected);
    conf_destroy(doc);
}

static void test_conf__set_replaces_and_adds(void **state)
{
    (void)state;
    expect_set("a: {b: 1}\n", "a.b=2", "a", "b", "2");
    expect_set("a: {b: 1}\n", "a.c=x = y", "a", "c", "x = y");
    expect_set("a: {b: 1}\n", "n.c='3'", "n", "c", "3");
    expect_set("a:\n", "a.c=1", "a", "c", "1");
    expect_set("a: {x.y: 1}\n", "a.x.y=2", "a", "x.y", "2");
    expect_set("x.y: {b: 1}\n", "x.y.b=2", "x.y", "b", "2");
    expect_set("x.y: 1\n", "x.yz=2", "x", "yz", "2");
    expect_set("abc: 1\na: {b: 1}\n", "a.b=2", "a", "b", "2");
    expect_set("a: 1\n", "a=", "a", NULL, "~");
    expect_set("a: 1\n", "a={b: {c: 1}, d: e}", "a", "d", "e");
}

static const struct schema_key method_keys[] = {
    {.name = "method"}, {.name = "seed"}, {.name = NULL}};
static const struct schema_key receiver = {
    .name = "receiver", .shorthand = "url", .keys = method_keys};
static const struct schema_key keys[] = {
    {.name = "search", .shorthand = "method", .keys = method_keys},
    {.name = "by_name", .element = &receiver},
    {.name = NULL},
};

static void expect_type(const char *text, const char *assignment,
                        const char *key, enum conf_type type)
{
    static const struct schema_key parameter_keys[] = {
        {.name = "value", .type = SCHEMA_SCALAR}, {.name = NULL}};
    static const struct schema_key elements[] = {
        {.name = "any", .type = SCHEMA_SCALAR},
        {.name = "typed", .type = SCHEMA_DURATION},
        {.name = "short", .shorthand = "value", .keys = parameter_keys},
        {.name = NULL}};
    struct conf_doc *doc = parse(text);

    assert_int_equal(conf_set(doc, elements, assignment, NULL), 0);
    assert_int_equal(conf_get(conf_root(doc), key)->type, type);
    conf_destroy(doc);
}

static void test_conf__set_keeps_what_is_text_in_the_file(void **state)
{
    (void)state;
    expect_type("any: '3.1'\n", "any=3.10", "any", CONF_TEXT);
    expect_type("any: v\n", "any=true", "any", CONF_TEXT);
    expect_type("short: '3.1'\n", "short=3.10", "short", CONF_TEXT);
    expect_type("any: 3.1\n", "any=3.10", "any", CONF_REAL);
    expect_type("any: v\n", "any=~", "any", CONF_NULL);
    expect_type("any: v\n", "any=[1]", "any", CONF_LIST);
    expect_type("typed: 10m\n", "typed=600", "typed", CONF_INT);
}

static void test_conf__set_opens_a_short_form(void **state)
{
    struct conf_doc *doc =
        parse("search: random\nby_name: {a: x, b: [1]}\nother: y\n");
    const struct conf_node *search, *receivers;
    struct err err;

    (void)state;
    assert_int_equal(conf_set(doc, keys, "search.seed=2", NULL), 0);
    assert_int_equal(conf_set(doc, keys, "by_name.a.seed=3", NULL), 0);
    search = conf_get(conf_root(doc), "search");
    receivers = conf_get(conf_root(doc), "by_name");
    assert_string_equal(conf_get(search, "method")->text, "random");
    assert_int_equal(conf_get(search, "method")->place.line, 1);
    assert_int_equal(search->place.line, 1);
    assert_int_equal(conf_get(search, "seed")->integer, 2);
    assert_string_equal(conf_get(conf_get(receivers, "a"), "url")->text, "x");
    assert_int_equal(conf_set(doc, keys, "by_name.b.seed=3", &err), -1);
    assert_non_null(strstr(err.text, "before 'seed' is a list, not a map"));
    assert_int_equal(conf_set(doc, keys, "other.seed=3", &err), -1);
    assert_non_null(strstr(err.text, "before 'seed' is text, not a map"));
    conf_destroy(doc);
}

static bool has_no_type(const struct conf_node *map)
{
    return conf_get(map, "type") == NULL;
}

static void test_conf__flattens_groups(void **state)
{
    struct conf_doc *doc =
        parse("p:\n  a: {type: x}\n  g: &g {b: 1, h: {c: {type: y}}}\n"
              "  i: *g\n  e: {type: {f: 1}}\nq: {g: {b: 1}}\n");
    static const char *const names[] = {"a",   "g.b",   "g.h.c",
                                        "i.b", "i.h.c", "e"};
    const struct conf_node *p;

    (void)state;
    conf_flatten(doc, "p", has_no_type);
    conf_flatten(doc, "none", has_no_type);
    p = conf_get(conf_root(doc), "p");
    assert_int_equal(p->count, ARRAY_LEN(names));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_string_equal(p->keys[i]->text, names[i]);
    assert_int_equal(conf_get(p, "i.b")->integer, 1);
    assert_int_equal(conf_get_key(p, "g.h.c")->place.line, 3);
    assert_non_null(conf_get(conf_get(conf_root(doc), "q"), "g"));
    conf_destroy(doc);
}

static void test_conf__set_leaves_other_aliases_alone(void **state)
{
    struct conf_doc *doc = parse("a: &x {k: 1}\nb: *x\n");
    const struct conf_node *root;

    (void)state;
    assert_int_equal(conf_set(doc, NULL, "b.k=2", NULL), 0);
    root = conf_root(doc);
    assert_int_equal(conf_get(conf_get(root, "a"), "k")->integer, 1);
    assert_int_equal(conf_get(conf_get(root, "b"), "k")->integer, 2);
    assert_int_equal(conf_get(conf_get(root, "b"), "k")->place.line, 0);
    conf_destroy(doc);
}

static void test_conf__set_refuses(void **state)
{
    static const struct refusal refusals[] = {
        {"a", "'a': expected KEY=VALUE"},
        {"=1", "'=1': expected KEY=VALUE"},
        {"a.b=1", "type mismatch: cannot set 'a.b': the value before 'b' is "
                  "text, not a map"},
        {"c..d=1", "'c..d' is not a path of keys"},
        {"c.=1", "'c.' is not a path of keys"},
        {"a=[1", "cannot set 'a': expected ',' or ']' (of the text that starts "
                 "in line 1)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct conf_doc *doc = parse("a: x\n");
        struct err err = {0};

        assert_int_equal(conf_set(doc, NULL, refusals[i].text, &err), -1);
        assert_int_equal(err.kind, ERR_USAGE);
        assert_string_equal(err.text, refusals[i].message);
        assert_int_equal(conf_set(doc, NULL, refusals[i].text, NULL), -1);
        conf_destroy(doc);
    }
}

static void test_conf__set_goes_32_maps_deep(void **state)
{
    struct conf_doc *doc = parse("a: 1\n");
    struct buf path = BUF_INIT;

    (void)state;
    repeat(&path, "b.", 31);
    buf_add_string(&path, "c=2");
    assert_int_equal(conf_set(doc, NULL, buf_text(&path), NULL), 0);
    buf_truncate(&path, 0);
    repeat(&path, "b.", 32);
    buf_add_string(&path, "c=2");
    assert_int_equal(conf_set(doc, NULL, buf_text(&path), NULL), -1);
    buf_clear(&path);
    conf_destroy(doc);
}

static void test_conf__merges_maps(void **state)
{
    struct conf_doc *doc = parse("over: {a: 1, b: {c: 2}, d: {e: 3}}\n"
                                 "under: {a: 4, b: {c: 5, f: 6}, d: 7, g: 8}\n"
                                 "nothing: {}\n"
                                 "text: x\n");
    const struct conf_node *root = conf_root(doc);
    const struct conf_node *over = conf_get(root, "over"), *both;

    (void)state;
    both = conf_merge(doc, over, conf_get(root, "under"));
    assert_int_equal(conf_get(both, "a")->integer, 1);
    assert_int_equal(conf_get(conf_get(both, "b"), "c")->integer, 2);
    assert_int_equal(conf_get(conf_get(both, "b"), "f")->integer, 6);
    assert_ptr_equal(conf_get(both, "d"), conf_get(over, "d"));
    assert_int_equal(conf_get(both, "g")->integer, 8);
    assert_ptr_equal(conf_merge(doc, over, conf_get(root, "nothing")), over);
    assert_ptr_equal(conf_merge(doc, over, conf_get(root, "text")), over);
    assert_ptr_equal(conf_merge(doc, over, NULL), over);
    assert_ptr_equal(conf_merge(doc, conf_get(root, "text"), over),
                     conf_get(root, "text"));
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
        cmocka_unit_test(test_conf__refusals_say_what_and_where),
        cmocka_unit_test(test_conf__takes_windows_files),
        cmocka_unit_test(test_conf__reports_all_duplicates),
        cmocka_unit_test(test_conf__depth_is_bounded),
        cmocka_unit_test(test_conf__hostile_depth_is_refused_at_once),
        cmocka_unit_test(test_conf__depth_counts_through_aliases),
        cmocka_unit_test(test_conf__expansion_of_aliases_is_bounded),
        cmocka_unit_test(test_conf__nodes_are_bounded),
        cmocka_unit_test(test_conf__size_is_bounded),
        cmocka_unit_test(test_conf__has_a_key_in_its_outermost_map),
        cmocka_unit_test(test_conf__loads_a_file),
        cmocka_unit_test(test_conf__load_tells_missing_files),
        cmocka_unit_test(test_conf__places_inside_scalars),
        cmocka_unit_test(test_conf__a_place_is_as_long_as_its_name),
        cmocka_unit_test(test_conf__set_replaces_and_adds),
        cmocka_unit_test(test_conf__set_opens_a_short_form),
        cmocka_unit_test(test_conf__set_keeps_what_is_text_in_the_file),
        cmocka_unit_test(test_conf__flattens_groups),
        cmocka_unit_test(test_conf__set_leaves_other_aliases_alone),
        cmocka_unit_test(test_conf__set_refuses),
        cmocka_unit_test(test_conf__set_goes_32_maps_deep),
        cmocka_unit_test(test_conf__merges_maps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
