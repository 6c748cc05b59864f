/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/json.h"

static const char *const scales[] = {"linear", "log", NULL};
static const char *const scales_known_as[] = {NULL, "logarithmic exp"};

static const char *const *methods(void)
{
    static const char *const names[] = {"random", "grid", NULL};

    return names;
}

static const struct schema_key text_element = {.name = "word",
                                               .type = SCHEMA_SCALAR};

static const struct schema_key param_keys[] = {
    {.name = "min", .type = SCHEMA_NUMBER, .required = true, .example = "1"},
    {.name = "scale",
     .known_as = "log",
     .type = SCHEMA_TEXT,
     .choices = scales,
     .choices_known_as = scales_known_as},
    {.name = "value", .type = SCHEMA_SCALAR},
    {.name = NULL},
};

static const struct schema_key param_element = {
    .name = "parameter",
    .type = SCHEMA_MAP,
    .keys = param_keys,
    .shorthand = "value",
};

static const struct schema_key search_keys[] = {
    {.name = "method", .type = SCHEMA_TEXT, .names = methods},
    {.name = "limit", .type = SCHEMA_INT},
    {.name = NULL},
};

static const struct schema_key inner_keys[] = {
    {.name = "cpus", .type = SCHEMA_INT | SCHEMA_AUTO, .min = 1, .max = 64},
    {.name = "memory",
     .known_as = "mem ram",
     .type = SCHEMA_BYTES,
     .min = 1 << 24,
     .max = 1e15},
    {.name = NULL},
};

static const struct schema_key trial_keys[] = {
    {.name = "resources", .type = SCHEMA_MAP, .keys = inner_keys},
    {.name = "limit", .type = SCHEMA_INT},
    {.name = NULL},
};

static const struct schema_key table[] = {
    {.name = "version",
     .type = SCHEMA_INT,
     .required = true,
     .doc = "The `format`'s version - 1.",
     .example = "1"},
    {.name = "name", .type = SCHEMA_TEXT, .fallback = "the file's name"},
    {.name = "on", .type = SCHEMA_BOOL},
    {.name = "time", .type = SCHEMA_DURATION, .min = 0.001, .max = 3600},
    {.name = "words",
     .type = SCHEMA_LIST,
     .element = &text_element,
     .example = "[a, b]"},
    {.name = "metrics",
     .type = SCHEMA_MAP | SCHEMA_NULL,
     .element = &text_element},
    {.name = "parameters", .type = SCHEMA_MAP, .element = &param_element},
    {.name = "search",
     .type = SCHEMA_MAP,
     .keys = search_keys,
     .shorthand = "method"},
    {.name = "trial", .type = SCHEMA_MAP, .keys = trial_keys},
    {.name = NULL},
};

/* What is said of "version: 1" with these lines behind it. */
static void expect(const char *lines, const char *expected)
{
    struct diags *diags = diags_create("");
    struct buf text = BUF_INIT, found = BUF_INIT;
    struct conf_doc *doc;
    int rc;

    buf_printf(&text, "version: 1\n%s", lines);
    doc = conf_parse(text.data, text.length, diags);
    assert_non_null(doc);
    rc = schema_check(table, conf_root(doc), NULL, diags);
    for (size_t i = 0; i < diags_count(diags); i++) {
        const struct diag *diag = diags_get(diags, i);

        buf_printf(&found, "%s%d:%d %s%s%s", i > 0 ? "; " : "",
                   diag->place.line, diag->place.column, diag->text,
                   diag->help != NULL ? " | " : "",
                   diag->help != NULL ? diag->help : "");
    }
    assert_string_equal(buf_text(&found), expected);
    assert_int_equal(rc, *expected == '\0' ? 0 : -1);
    assert_int_equal(schema_check(table, conf_root(doc), NULL, NULL), rc);
    conf_destroy(doc);
    buf_clear(&found);
    buf_clear(&text);
    diags_destroy(diags);
}

static void test_schema__takes_what_fits(void **state)
{
    (void)state;
    expect("", "");
    expect("name: x\non: false\ntime: 90\nwords: [a, 1, true]\n", "");
    expect("time: 1h\nmetrics:\n", "");
    expect("metrics: {a: b}\nparameters: {x: 1, y: {min: 1e3}}\n", "");
    expect("search: grid\n", "");
    expect("search: {method: grid}\n", "");
    expect("trial: {resources: {cpus: auto, memory: 1G}}\n", "");
    expect("trial: {resources: {cpus: 1e1}}\n", "");
}

static void test_schema__refuses_unknown_keys_and_words(void **state)
{
    (void)state;
    expect("nmae: x\n", "2:1 unknown key 'nmae' | did you mean 'name'?");
    expect("parameters: {x: {min: 1, foo: 2}}\n",
           "2:26 unknown key 'foo' in parameter 'x' | one of: min, scale, "
           "value");
    expect("parameters: {x: {min: 1, scale: lgo}}\n",
           "2:33 'scale' in parameter 'x' cannot be 'lgo' | did you mean "
           "'log'?");
    expect("search: gird\n",
           "2:9 'search.method' cannot be 'gird' | did you mean 'grid'?");
    expect("trial: {resources: {gpu: 1}}\n",
           "2:21 unknown key 'gpu' in 'trial.resources' | one of: cpus, "
           "memory");
}

static void test_schema__knows_what_others_call_a_key_or_word(void **state)
{
    (void)state;
    expect("parameters: {x: {min: 1, log: true}}\n",
           "2:26 unknown key 'log' in parameter 'x' | did you mean 'scale'?");
    expect("trial: {resources: {ram: 1G}}\n",
           "2:21 unknown key 'ram' in 'trial.resources' | did you mean "
           "'memory'?");
    expect("trial: {resources: {me: 1G}}\n",
           "2:21 unknown key 'me' in 'trial.resources' | one of: cpus, memory");
    expect("parameters: {x: {min: 1, scale: exp}}\n",
           "2:33 'scale' in parameter 'x' cannot be 'exp' | did you mean "
           "'log'?");
    expect("parameters: {x: {min: 1, scale: loga}}\n",
           "2:33 'scale' in parameter 'x' cannot be 'loga' | did you mean "
           "'log'?");
    expect("parameters: {x: {min: 1, scale: ranks}}\n",
           "2:33 'scale' in parameter 'x' cannot be 'ranks' | one of: linear, "
           "log");
}

static void test_schema__knows_in_which_map_a_key_is(void **state)
{
    (void)state;
    expect("method: grid\n",
           "2:1 unknown key 'method' | did you mean 'search.method'?");
    expect("trial: {mem: 1G}\n",
           "2:9 unknown key 'mem' in 'trial' | did you mean "
           "'resources.memory'?");
    expect("cpus: 1\n",
           "2:1 unknown key 'cpus' | did you mean 'trial.resources.cpus'?");
    expect("parameters: {x: 1}\nx: 2\n",
           "3:1 unknown key 'x' | did you mean 'parameters.x'?");
    /* in two maps, so that it is neither */
    expect("limit: 1\n",
           "2:1 unknown key 'limit' | one of: version, name, on, time, words, "
           "metrics, parameters, search, trial");
}

static void test_schema__refuses_wrong_types(void **state)
{
    (void)state;
    expect("name: 5\n",
           "2:7 type mismatch: 'name' must be text, not the number 5 "
           "| for text, write '5' in quotes");
    expect("on: yes\n",
           "2:5 type mismatch: 'on' must be true or false, not 'yes'");
    expect("on:\n", "2:4 'on' has no value");
    expect("words: x\n",
           "2:8 type mismatch: 'words' must be a list, not 'x' | for "
           "example [a, b]");
    expect("words: [[1]]\n",
           "2:9 type mismatch: an item of 'words' must be a number, "
           "text, true or false, not a list");
    expect("metrics: {a: [1]}\n",
           "2:14 type mismatch: word 'a' must be a number, text, true "
           "or false, not a list");
    expect("parameters: {x: {min: low}}\n",
           "2:23 type mismatch: 'min' in parameter 'x' must be a "
           "number, not 'low'");
    expect("search: 1\n",
           "2:9 type mismatch: 'search.method' must be text, not the "
           "number 1 | one of: random, grid");
    expect("parameters: {x: {min: .inf}}\n",
           "2:23 type mismatch: 'min' in parameter 'x' must be a "
           "number, not '.inf'");
    expect("parameters: {x: [1]}\n",
           "2:17 type mismatch: parameter 'x' must be a number, text, "
           "true or false or a map, not a list");
    expect("time: 5 minutes\n",
           "2:7 type mismatch: 'time' must be a duration such as 90s "
           "or 2h, not '5 minutes'");
    expect("trial: {resources: {cpus: many, memory: big}}\n",
           "2:27 type mismatch: 'trial.resources.cpus' must be a "
           "whole number or 'auto', not 'many'; 2:41 type mismatch: "
           "'trial.resources.memory' must be an amount such as 512M "
           "or 2G, not 'big'");
    expect("trial: {resources: {cpus: 1.5}}\n",
           "2:27 type mismatch: 'trial.resources.cpus' must be a "
           "whole number or 'auto', not the number 1.5");
    expect("name: [a]\n", "2:7 type mismatch: 'name' must be text, not a list");
    expect("name: {a: 1}\n",
           "2:7 type mismatch: 'name' must be text, not a map");
    expect("search:\n", "2:8 'search' has no value");
    expect("trial: 3\n",
           "2:8 type mismatch: 'trial' must be a map, not the number 3");
}

static void test_schema__refuses_what_is_out_of_range(void **state)
{
    (void)state;
    expect("trial: {resources: {cpus: 0}}\n",
           "2:27 out of range: 'trial.resources.cpus' must be at "
           "least 1, not 0");
    expect("trial: {resources: {cpus: 65}}\n",
           "2:27 out of range: 'trial.resources.cpus' must be at most "
           "64, not 65");
    expect("time: 0\n",
           "2:7 out of range: 'time' must be at least 0.001s, not 0");
    expect("time: 2h\n",
           "2:7 out of range: 'time' must be at most 3600s, not 2h");
    expect("trial: {resources: {memory: 8000}}\n",
           "2:29 out of range: 'trial.resources.memory' must be at least "
           "16.0 MiB, not 8000 | a number without a unit is in bytes; write "
           "8000M for megabytes");
    expect("trial: {resources: {memory: 1M}}\n",
           "2:29 out of range: 'trial.resources.memory' must be at least "
           "16.0 MiB, not 1M");
}

static void test_schema__asks_for_what_is_missing(void **state)
{
    static const struct schema_key bare[] = {
        {.name = "x", .type = SCHEMA_INT, .required = true},
        {.name = NULL},
    };
    struct conf_doc *doc = conf_parse("name: x\n", 8, NULL);
    struct diags *diags = diags_create("");

    (void)state;
    assert_int_equal(schema_check(table, conf_root(doc), NULL, diags), -1);
    assert_string_equal(diags_get(diags, 0)->text, "missing key 'version'");
    assert_string_equal(diags_get(diags, 0)->help,
                        "add for example version: 1");
    assert_int_equal(schema_check(bare, conf_root(doc), "this", diags), -1);
    assert_string_equal(diags_get(diags, 1)->text, "missing key 'x' in this");
    assert_null(diags_get(diags, 1)->help);
    conf_destroy(doc);
    diags_destroy(diags);
    expect("parameters: {x: {}}\n", "2:17 missing key 'min' in parameter 'x' "
                                    "| add for example min: 1");
}

static void test_schema__a_label_says_where_a_key_is(void **state)
{
    static const struct {
        const char *what, *expected;
    } cases[] = {
        {NULL, "'x'"},
        {"'a.b'", "'a.b.x'"},
        {"parameter 'a'", "'x' in parameter 'a'"},
        {"'b' in parameter 'a'", "'x' in 'b' in parameter 'a'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *label = schema_label(cases[i].what, "x");

        assert_string_equal(label, cases[i].expected);
        free(label);
    }
}

static void test_schema__a_file_is_a_map(void **state)
{
    struct conf_doc *doc = conf_parse("[1]", 3, NULL);
    struct diags *diags = diags_create("");

    (void)state;
    assert_int_equal(schema_check(table, conf_root(doc), NULL, diags), -1);
    assert_string_equal(
        diags_get(diags, 0)->text,
        "type mismatch: the file must be a map of keys, not a list");
    assert_int_equal(schema_check(table, conf_root(doc), "this", diags), -1);
    assert_string_equal(
        diags_get(diags, 1)->text,
        "type mismatch: this must be a map of keys, not a list");
    conf_destroy(doc);
    diags_destroy(diags);
}

static json_t *at(json_t *json, const char *a, const char *b, const char *c)
{
    json_t *found = json_object_get(json, a);

    found = json_object_get(found, b);
    return c != NULL ? json_object_get(found, c) : found;
}

static void test_schema__prints_json_schema(void **state)
{
    struct buf out = BUF_INIT;
    json_t *json, *version;

    (void)state;
    schema_print_json(table, "a file", &out);
    json = json_loads(buf_text(&out), 0, NULL);
    assert_non_null(json);
    version = at(json, "properties", "version", NULL);
    assert_string_equal(json_string_value(json_object_get(version, "type")),
                        "integer");
    assert_int_equal(json_integer_value(json_array_get(
                         json_object_get(version, "examples"), 0)),
                     1);
    assert_string_equal(
        json_string_value(at(json, "properties", "name", "description")),
        " Default: the file's name.");
    assert_int_equal(json_array_size(at(json, "properties", "search", "anyOf")),
                     2);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(json, "required"), 0)),
        "version");
    assert_true(json_is_false(json_object_get(json, "additionalProperties")));
    json_decref(json);
    buf_clear(&out);
}

static void test_schema__prints_roff(void **state)
{
    struct buf out = BUF_INIT;

    (void)state;
    schema_print_roff(table, &out);
    assert_non_null(strstr(buf_text(&out),
                           ".SS \\fBversion\\fR (a whole number, required)\n"
                           "The \\fBformat\\fR\\(aqs version \\- 1.\n"
                           "Example: \\fB1\\fR\n"));
    assert_non_null(strstr(buf_text(&out),
                           ".TP\n\\fBparameters.NAME.scale\\fR (text)\n"
                           "One of \\fBlinear\\fR, \\fBlog\\fR.\n"));
    assert_non_null(strstr(buf_text(&out), "\\fBtrial.resources.cpus\\fR"));
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema__takes_what_fits),
        cmocka_unit_test(test_schema__refuses_unknown_keys_and_words),
        cmocka_unit_test(test_schema__knows_what_others_call_a_key_or_word),
        cmocka_unit_test(test_schema__knows_in_which_map_a_key_is),
        cmocka_unit_test(test_schema__refuses_wrong_types),
        cmocka_unit_test(test_schema__refuses_what_is_out_of_range),
        cmocka_unit_test(test_schema__asks_for_what_is_missing),
        cmocka_unit_test(test_schema__a_label_says_where_a_key_is),
        cmocka_unit_test(test_schema__a_file_is_a_map),
        cmocka_unit_test(test_schema__prints_json_schema),
        cmocka_unit_test(test_schema__prints_roff),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
