/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/conf/schema.h"
#include "tests/unit/base/conf/conf_test.h"

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

static void test_conf_edit__set_replaces_and_adds(void **state)
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

static void test_conf_edit__set_keeps_what_is_text_in_the_file(void **state)
{
    (void)state;
    expect_type("any: '3.1'\n", "any=3.10", "any", CONF_TEXT);
    expect_type("any: v\n", "any=true", "any", CONF_TEXT);
    expect_type("short: '3.1'\n", "short=3.10", "short", CONF_TEXT);
    expect_type("any: 3.1\n", "any=3.10", "any", CONF_REAL);
    expect_type("any: 3.0\n", "any=3", "any", CONF_REAL);
    expect_type("any: 3\n", "any=3.5", "any", CONF_REAL);
    expect_type("any: v\n", "any=~", "any", CONF_NULL);
    expect_type("any: v\n", "any=[1]", "any", CONF_LIST);
    expect_type("typed: 10m\n", "typed=600", "typed", CONF_INT);
}

static void test_conf_edit__set_opens_a_short_form(void **state)
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

static void test_conf_edit__flattens_groups(void **state)
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

static void test_conf_edit__set_leaves_other_aliases_alone(void **state)
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

static void test_conf_edit__set_refuses(void **state)
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

static void test_conf_edit__set_goes_32_maps_deep(void **state)
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

static void test_conf_edit__merges_maps(void **state)
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
        cmocka_unit_test(test_conf_edit__set_replaces_and_adds),
        cmocka_unit_test(test_conf_edit__set_opens_a_short_form),
        cmocka_unit_test(test_conf_edit__set_keeps_what_is_text_in_the_file),
        cmocka_unit_test(test_conf_edit__flattens_groups),
        cmocka_unit_test(test_conf_edit__set_leaves_other_aliases_alone),
        cmocka_unit_test(test_conf_edit__set_refuses),
        cmocka_unit_test(test_conf_edit__set_goes_32_maps_deep),
        cmocka_unit_test(test_conf_edit__merges_maps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
