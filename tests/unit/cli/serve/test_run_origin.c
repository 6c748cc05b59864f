/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/serve/run_origin.h"

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/store/store_test.h"

static json_t *origin_of(const char *folder, const char *text,
                         const char *words)
{
    struct store *store = must_open(folder, STORE_CREATE);
    struct err err = {0};
    json_t *origin;
    const struct run_row row = {.id = 1,
                                .spec = text,
                                .overrides = words,
                                .edited_spec = "",
                                .edited_overrides = "",
                                .spec_path = "exp.yaml",
                                .work_directory = "/home/you",
                                .revision = "",
                                .seed = UINT64_MAX};

    origin = run_origin_to_json(store, &row, &err);
    store_close(store);
    return origin;
}

static const json_t *setting(const json_t *origin, const char *key)
{
    return json_object_get(json_object_get(origin, "settings"), key);
}

static void test_run_origin__has_the_settings_that_hold(void **state)
{
    static const char text[] = "search: tpe\n"
                               "parameters:\n"
                               "  lr: {type: float, min: 1.0e-3, max: 1}\n"
                               "  kind: {type: categorical, values: [a, 2]}\n"
                               "list: [{run: a}, {run: b}]\n"
                               "budget: {}\n";
    static const struct {
        const char *key, *json;
    } rows[] = {
        {"search.method", "\"random\""},
        {"search.startup", "3"},
        {"parameters.lr.min", "0.001"},
        {"parameters.lr.max", "2"},
        {"parameters.kind.values", "[\"a\",2]"},
        {"list[1].run", "\"b\""},
        {"budget", "{}"},
    };
    json_t *origin = origin_of(*state, text,
                               "[\"search.method=random\", "
                               "\"search.startup=3\", "
                               "\"parameters.lr.max=2\"]");

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf printed = BUF_INIT;

        json_print(setting(origin, rows[i].key), &printed);
        assert_string_equal(buf_text(&printed), rows[i].json);
        buf_clear(&printed);
    }
    assert_null(setting(origin, "search"));
    assert_false(json_boolean_value(json_object_get(origin, "is_cut")));
    assert_string_equal(json_string_value(json_object_get(origin, "seed")),
                        "18446744073709551615");
    assert_true(json_is_null(json_object_get(origin, "revision")));
    json_decref(origin);
}

static void test_run_origin__masks_secrets(void **state)
{
    json_t *origin =
        origin_of(*state, "trial: {command: a, env: {HF_TOKEN: hunter2222}}\n",
                  "[\"trial.env.API_KEY=hunter3333\"]");
    struct buf printed = BUF_INIT;

    json_print(origin, &printed);
    assert_null(strstr(buf_text(&printed), "hunter"));
    assert_string_equal(
        json_string_value(setting(origin, "trial.env.HF_TOKEN")), "***");
    assert_string_equal(json_string_value(setting(origin, "trial.env.API_KEY")),
                        "***");
    buf_clear(&printed);
    json_decref(origin);
}

/* Aliases: few lines that are very many values. */
static void test_run_origin__bounds_what_it_reads(void **state)
{
    struct buf text = BUF_INIT;
    json_t *origin;

    buf_add_string(&text, "a0: &a0 {x: 1, y: 2}\n");
    for (int i = 1; i < 14; i++)
        buf_printf(&text, "a%d: &a%d {x: *a%d, y: *a%d}\n", i, i, i - 1, i - 1);
    origin = origin_of(*state, buf_text(&text), "[]");
    assert_true(json_boolean_value(json_object_get(origin, "is_cut")));
    assert_in_range(json_object_size(json_object_get(origin, "settings")), 1,
                    20000);
    json_decref(origin);
    buf_clear(&text);
}

/* Few nodes, too, that are very many bytes. */
static void test_run_origin__bounds_the_bytes_of_settings(void **state)
{
    struct buf text = BUF_INIT;
    json_t *origin;

    buf_add_string(&text, "a: &a ");
    for (int i = 0; i < 100000; i++)
        buf_add_char(&text, 'x');
    buf_add_char(&text, '\n');
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "b%d: *a\n", i);
    origin = origin_of(*state, buf_text(&text), "[]");
    assert_true(json_boolean_value(json_object_get(origin, "is_cut")));
    assert_in_range(json_object_size(json_object_get(origin, "settings")), 1,
                    50);
    json_decref(origin);
    buf_clear(&text);
}

static void test_run_origin__has_a_file_that_cannot_be_read(void **state)
{
    json_t *origin = origin_of(*state, "a: [", "[]");

    assert_true(json_is_null(json_object_get(origin, "settings")));
    assert_string_equal(json_string_value(json_object_get(origin, "text")),
                        "a: [");
    json_decref(origin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_run_origin__has_the_settings_that_hold),
        STORE_TEST(test_run_origin__masks_secrets),
        STORE_TEST(test_run_origin__bounds_what_it_reads),
        STORE_TEST(test_run_origin__bounds_the_bytes_of_settings),
        STORE_TEST(test_run_origin__has_a_file_that_cannot_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
