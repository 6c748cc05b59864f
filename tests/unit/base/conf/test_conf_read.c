/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/read.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "word: abc\n"
                           "number: 2.5\n"
                           "large: 1e300\n"
                           "infinite: .inf\n"
                           "yes: true\n"
                           "time: 1h30m\n"
                           "size: 2K\n"
                           "list: [1]\n";

static struct conf_doc *parse(void)
{
    struct diags *diags = diags_create("t.yaml");
    struct conf_doc *doc = conf_parse(text, strlen(text), diags);

    assert_non_null(doc);
    diags_destroy(diags);
    return doc;
}

static void test_conf_read__an_item_of_its_type(void **state)
{
    struct conf_doc *doc = parse();
    const struct conf_node *map = conf_root(doc);

    (void)state;
    assert_string_equal(conf_read_text(map, "word", "other"), "abc");
    assert_true(conf_read_number(map, "number", 7) == 2.5);
    assert_int_equal(conf_read_int(map, "number", 7), 2);
    assert_true(conf_read_bool(map, "yes", false));
    assert_int_equal(conf_read_ms(map, "time", 7), 90 * 60 * 1000);
    assert_int_equal(conf_read_ms(map, "number", 7), 2500);
    assert_int_equal(conf_read_bytes(map, "size", 7), 2048);
    conf_destroy(doc);
}

/* Each getter on a key that is missing, and on items of other types. */
static void test_conf_read__else_the_fallback(void **state)
{
    static const char *const keys[] = {"missing", "list"};
    struct conf_doc *doc = parse();
    const struct conf_node *map = conf_root(doc);

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        assert_string_equal(conf_read_text(map, keys[i], "other"), "other");
        assert_true(conf_read_number(map, keys[i], 7) == 7);
        assert_int_equal(conf_read_int(map, keys[i], 7), 7);
        assert_true(conf_read_bool(map, keys[i], true));
        assert_int_equal(conf_read_ms(map, keys[i], 7), 7);
        assert_int_equal(conf_read_bytes(map, keys[i], 7), 7);
    }
    assert_null(conf_read_text(map, "number", NULL));
    assert_false(conf_read_bool(map, "word", false));
    assert_int_equal(conf_read_ms(map, "word", 7), 7);
    assert_int_equal(conf_read_bytes(map, "word", 7), 7);
    conf_destroy(doc);
}

static void test_conf_read__no_number_beyond_its_range(void **state)
{
    struct conf_doc *doc = parse();
    const struct conf_node *map = conf_root(doc);

    (void)state;
    assert_true(conf_read_number(map, "large", 7) == 1e300);
    assert_int_equal(conf_read_int(map, "large", 7), 7);
    assert_true(conf_read_number(map, "infinite", 7) == 7);
    conf_destroy(doc);
}

static void test_conf_read__no_map_is_an_empty_one(void **state)
{
    struct conf_doc *doc = parse();
    const struct conf_node *list = conf_get(conf_root(doc), "list");

    (void)state;
    assert_string_equal(conf_read_text(NULL, "word", "other"), "other");
    assert_int_equal(conf_read_int(list, "number", 7), 7);
    conf_destroy(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conf_read__an_item_of_its_type),
        cmocka_unit_test(test_conf_read__else_the_fallback),
        cmocka_unit_test(test_conf_read__no_number_beyond_its_range),
        cmocka_unit_test(test_conf_read__no_map_is_an_empty_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
