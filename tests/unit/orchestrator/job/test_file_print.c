/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/file_print.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/conf/json.h"

static json_t *parse(const char *text)
{
    json_t *json = json_parse(text, strlen(text), NULL);

    assert_non_null(json);
    return json;
}

static void test_file_print__yaml(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "{}\n"},
        {"{\"a\":1,\"b\":2.0,\"c\":1e-05,\"d\":null,\"e\":true}",
         "a: 1\nb: 2.0\nc: 1.0e-05\nd: null\ne: true\n"},
        {"{\"a\":\"\",\"b\":\"1\",\"c\":\"no\",\"d\":\"x: y # z\\n\"}",
         "a: \"\"\nb: \"1\"\nc: \"no\"\nd: \"x: y # z\\n\"\n"},
        {"{\"no\":1,\"a b\":2,\"1\":3,\"x.y\":4}",
         "\"no\": 1\n\"a b\": 2\n\"1\": 3\n\"x.y\": 4\n"},
        {"{\"m\":{\"k\":{},\"l\":[1,[2,3],[],{\"a\":1,\"b\":[4]}]}}",
         "m:\n  k: {}\n  l:\n    - 1\n    -\n      - 2\n      - 3\n    - []\n"
         "    - a: 1\n      b:\n        - 4\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *json = parse(cases[i][0]);
        struct buf out = BUF_INIT;

        file_print_yaml(json, &out);
        assert_string_equal(buf_text(&out), cases[i][1]);
        buf_clear(&out);
        json_decref(json);
    }
}

static void test_file_print__yaml_has_plain_texts_and_keys(void **state)
{
    char *key = file_print_plain_key("10");
    json_t *map = json_object();
    struct buf out = BUF_INIT;

    (void)state;
    json_object_set_new(map, key, file_print_plain("no"));
    json_object_set_new(map, "10", file_print_real((double)INFINITY));
    file_print_yaml(map, &out);
    assert_string_equal(buf_text(&out), "10: no\n\"10\": .inf\n");
    buf_clear(&out);
    json_decref(map);
    free(key);
}

static void test_file_print__yaml_reads_back(void **state)
{
    static const char text[] =
        "{\"a\":[1,2.5,\"x\",null,true,[],{}],\"b\":{\"c\":[{\"d\":[{\"e\":-1}]"
        "},[[\"f\"]]],\"yes\":\"no\",\"\\u00e9 \\\"\":\"\\t\",\"o\":"
        "\"\\u0080\\u009f\\u00a0\\u2028\\u2029\\ufeff\\uffff\"}}";
    json_t *json = parse(text), *back;
    struct buf out = BUF_INIT;
    struct conf_doc *doc;

    (void)state;
    file_print_yaml(json, &out);
    doc = conf_parse(out.data, out.length, NULL);
    assert_non_null(doc);
    back = conf_to_json(conf_root(doc));
    assert_true(json_equal(json, back));
    json_decref(back);
    json_decref(json);
    conf_destroy(doc);
    buf_clear(&out);
}

static void test_file_print__toml(void **state)
{
    static const char *const cases[][2] = {
        {"{}", ""},
        {"{\"t\":{\"x\":1},\"a\":1,\"b\":2.0,\"1\":\"\x7f\",\"d\":\"it's\"}",
         "a = 1\nb = 2.0\n1 = \"\\u007f\"\nd = \"it's\"\n\n[t]\nx = 1\n"},
        {"{\"t\":{\"u v\":{\"l\":[1,[\"x\"]],\"m\":[{\"a\":1,\"b\":[]}]}}}",
         "[t]\n\n[t.\"u v\"]\nl = [1, [\"x\"]]\nm = [{ a = 1, b = [] }]\n"},
    };
    struct buf out = BUF_INIT;
    struct err err;
    json_t *json;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json = parse(cases[i][0]);
        buf_truncate(&out, 0);
        assert_int_equal(file_print_toml(json, &out, NULL), 0);
        assert_string_equal(buf_text(&out), cases[i][1]);
        json_decref(json);
    }
    json = parse("{\"layers\":[64,{\"x\":null}]}");
    assert_int_equal(file_print_toml(json, &out, &err), -1);
    assert_string_equal(err.text, "'layers': 'x': TOML has no null");
    json_decref(json);
    buf_clear(&out);
}

static void test_file_print__numbers_that_are_not_finite(void **state)
{
    static const double numbers[] = {INFINITY, -INFINITY, NAN, 1e300};
    json_t *json = json_object(), *list = json_array();
    struct buf out = BUF_INIT;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        json_array_append_new(list, file_print_real(numbers[i]));
    json_object_set_new(json, "l", list);
    file_print_yaml(json, &out);
    assert_string_equal(buf_text(&out),
                        "l:\n  - .inf\n  - -.inf\n  - .nan\n  - 1.0e+300\n");
    buf_truncate(&out, 0);
    assert_int_equal(file_print_toml(json, &out, NULL), 0);
    assert_string_equal(buf_text(&out), "l = [inf, -inf, nan, 1.0e+300]\n");
    buf_truncate(&out, 0);
    assert_int_equal(file_print_json(json, &out, &err), -1);
    assert_string_equal(err.text, "'l': JSON has no inf and no nan");
    assert_int_equal(out.length, 0);
    json_decref(json);
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_print__yaml),
        cmocka_unit_test(test_file_print__yaml_has_plain_texts_and_keys),
        cmocka_unit_test(test_file_print__yaml_reads_back),
        cmocka_unit_test(test_file_print__toml),
        cmocka_unit_test(test_file_print__numbers_that_are_not_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
