/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/outputs.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "orchestrator/job/value_file.h"
#include "tests/unit/env.h"
#include "tests/unit/folder.h"

/* -- Files of values ------------------------------------------------------*/

/* As JSON text; or the error. */
static char *parse(const char *name, const char *text)
{
    struct buf out = BUF_INIT;
    struct value_file file;
    struct err err;

    if (value_file_parse(name, text, strlen(text), &file, &err) == 0)
        json_print(file.values, &out);
    else
        buf_printf(&out, "error: %s", err.text);
    value_file_clear(&file);
    return buf_take(&out);
}

static void test_outputs__lines_are_keys_and_values(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "{}"},
        {"# nothing\n\n  # else\n", "{}"},
        {"a=1\nb=2.5\nc=text of words\n",
         "{\"a\":1,\"b\":2.5,\"c\":\"text of words\"}"},
        {" a = -3 \r\n\tb\t=\t1e-4\t", "{\"a\":-3,\"b\":0.0001}"},
        {"a=true\nb=false\nc=True\nd=null\n",
         "{\"a\":true,\"b\":false,\"c\":\"True\",\"d\":\"null\"}"},
        {"a=\"1\"\nb='x y '\nc=\"it's\"\nd='\ne=\"\"\n",
         "{\"a\":\"1\",\"b\":\"x y \",\"c\":\"it's\",\"d\":\"'\",\"e\":\"\"}"},
        {"a=1 # no comment\nb=x=y\nc=\n",
         "{\"a\":\"1 # no comment\",\"b\":\"x=y\",\"c\":\"\"}"},
        {"a=007\nb=0x10\nc=nan\nd=inf\ne=1e999\nf=.5\ng=+2\nh=0.5\ni=0\n",
         "{\"a\":\"007\",\"b\":\"0x10\",\"c\":\"nan\",\"d\":\"inf\","
         "\"e\":\"1e999\",\"f\":0.5,\"g\":2,\"h\":0.5,\"i\":0}"},
        {"a=9223372036854775808\nb=1.2.3\nc=1e\nd=-\n",
         "{\"a\":\"9223372036854775808\",\"b\":\"1.2.3\",\"c\":\"1e\","
         "\"d\":\"-\"}"},
        {"a=0e5\nb='x\nc=\"y'\n", "{\"a\":0.0,\"b\":\"'x\",\"c\":\"\\\"y'\"}"},
        {"a=1\na=2\n", "{\"a\":2}"},
        {"a.b=1\n", "{\"a.b\":1}"},
        {"  {\"a\": [1]}\n", "{\"a\":[1]}"},
        {"a=1\nword\n", "error: line 2 of 'f': expected KEY=VALUE"},
        {"=1\n", "error: line 1 of 'f': missing key before '='"},
        {"a=1\n\nb=\xff\n", "error: line 3 of 'f': not UTF-8"},
        {"\xff=1\n", "error: line 1 of 'f': not UTF-8"},
        {"{\"a\": 1", "error: 'f' is not JSON: line 1, column 7: not valid "
                      "JSON: '}' expected near end of file"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *parsed = parse("f", cases[i].text);

        assert_string_equal(parsed, cases[i].expected);
        free(parsed);
    }
}

static void test_outputs__json_is_known_by_its_name(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"{\"a\": 1}", "{\"a\":1}"},
        {"[1]", "error: type mismatch: 'f.json' is not a JSON object"},
        {"3", "error: type mismatch: 'f.json' is not a JSON object"},
        {"a=1", "error: 'f.json' is not JSON: line 1, column 1: not valid "
                "JSON: invalid token near 'a'"},
    };

    struct value_file file;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *parsed = parse("f.json", cases[i].text);

        assert_string_equal(parsed, cases[i].expected);
        free(parsed);
    }
    assert_int_equal(value_file_parse("f", "a\0=1", 4, &file, NULL), -1);
    value_file_clear(&file);
}

static void test_outputs__numbers_keep_their_text(void **state)
{
    static const char text[] = "a=7e2\nb=1.10\nc=-0\nd=0.5\ne=3\nf=700.0\n"
                               "g=+2\nh='1.10'\ni=true\nj=1.10\nj=1.1\n";
    struct value_file file;
    struct buf out = BUF_INIT;

    (void)state;
    assert_int_equal(value_file_parse("f", text, strlen(text), &file, NULL), 0);
    json_print(file.texts, &out);
    assert_string_equal(buf_text(&out), "{\"a\":\"7e2\",\"b\":\"1.10\","
                                        "\"c\":\"-0\",\"g\":\"+2\"}");
    value_file_clear(&file);
    buf_clear(&out);
}

static void test_outputs__keys_go_into_objects(void **state)
{
    static const struct {
        const char *key, *expected;
    } cases[] = {
        {"a", "{\"b\":{\"c\":1},\"x.y\":2}"},
        {"a.b.c", "1"},
        {"a.x.y", "2"},
        {"p.q", "3"},
        {"p.q.r", "4"},
        {"z", "null"},
        {"a.c", "error: missing key 'a.c'"},
        {"list.0", "error: missing key 'list.0' (did you mean 'list'?)"},
        {".", "error: missing key '.'"},
        {"accurcy", "error: missing key 'accurcy' (did you mean 'accuracy'?)"},
    };
    json_t *object = json_loads("{\"a\": {\"b\": {\"c\": 1}, \"x.y\": 2}, "
                                "\"p.q\": 3, \"p\": {\"q.r\": 4}, \"z\": null, "
                                "\"list\": [1], \"accuracy\": 0.5}",
                                0, NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = BUF_INIT;
        struct err err;
        const json_t *found = value_file_find(object, cases[i].key, &err);

        if (found != NULL)
            json_print(found, &out);
        else
            buf_printf(&out, "error: %s", err.text);
        assert_string_equal(buf_text(&out), cases[i].expected);
        buf_clear(&out);
    }
    json_decref(object);
}

/* -- Outputs --------------------------------------------------------------*/

static const char *const columns[] = {"copy", "none", "least"};
static const struct expr_table table = {.columns = columns,
                                        .column_count = ARRAY_LEN(columns)};

/* What one output is read as; "error: ..." where it is not. */
static char *read_one(const char *root, enum output_kind kind, const char *path,
                      const char *key)
{
    const struct value values[] = {value_int(7), value_null(),
                                   value_int(INT64_MIN)};
    char *attempt = fs_join(root, "attempt");
    const struct outputs_site site = {values, root, attempt, false};
    const struct output output = {
        .name = "rows",
        .kind = kind,
        .path = path != NULL
                    ? template_create(env, path, TEMPLATE_TEXT, &table, 1, NULL)
                    : NULL,
        .key = key};
    const struct step step = {.outputs = &output, .output_count = 1};
    json_t *into = json_object();
    struct buf out = BUF_INIT;
    struct err err;

    if (outputs_read(&step, &site, into, &err) == 0)
        json_print(json_object_get(into, "rows"), &out);
    else
        buf_printf(&out, "error: %s", err.text);
    json_decref(into);
    template_destroy(output.path);
    free(attempt);
    return buf_take(&out);
}

static void expect(const char *root, enum output_kind kind, const char *path,
                   const char *key, const char *expected)
{
    char *shown = read_one(root, kind, path, key);

    assert_string_equal(shown, expected);
    free(shown);
}

static void test_outputs__the_nearest_of_many_keys_is_named(void **state)
{
    json_t *object = json_object();
    char key[16];
    struct err err;

    (void)state;
    for (int i = 1000; i < 1400; i++) {
        snprintf(key, sizeof(key), "key-%d", i);
        json_object_set_new(object, key, json_true());
    }
    json_object_set_new(object, "accuracy", json_true());
    assert_null(value_file_find(object, "accurcy", &err));
    assert_string_equal(err.text,
                        "missing key 'accurcy' (did you mean 'accuracy'?)");
    json_decref(object);
}

static void test_outputs__a_file_is_its_path(void **state)
{
    const char *root = *state;
    char *there = mem_printf("\"%s/out/7.bin\"", root);
    char *folder = mem_printf("\"%s/out\"", root);

    expect(root, OUTPUT_FILE, "out/${{ copy }}.bin", NULL,
           "error: output 'rows': no such file: 'out/7.bin'");
    put(root, "out", "7.bin", "");
    expect(root, OUTPUT_FILE, "out/${{ copy }}.bin", NULL, there);
    expect(root, OUTPUT_FILE, "out", NULL, folder);
    expect(root, OUTPUT_FILE, "/", NULL, "\"/\"");
    expect(root, OUTPUT_FILE, "out/7.bin/x", NULL,
           "error: output 'rows': no such file: 'out/7.bin/x'");
    expect(root, OUTPUT_FILE, "${{ none }}", NULL,
           "error: output 'rows': the path is empty");
    put(root, "out", "\xff", "");
    expect(root, OUTPUT_FILE, "out/\xff", NULL,
           "error: output 'rows': path 'out/\xff' is not UTF-8");
    expect(root, OUTPUT_FILE, "out/${{ abs(least) }}", NULL,
           "error: output 'rows': cannot evaluate the "
           "expression: integer overflow");
    free(there);
    free(folder);
}

static void test_outputs__a_value_is_a_files_key(void **state)
{
    const char *root = *state;

    put(root, "out", "7.json",
        "{\"n\": 12, \"deep\": {\"list\": [1, \"b\"]}, \"t\": \"x\"}");
    put(root, "out", "kv", "n = 0.5\nword = some words\n");
    expect(root, OUTPUT_VALUE, "out/${{ copy }}.json", "n", "12");
    expect(root, OUTPUT_VALUE, "out/7.json", "t", "\"x\"");
    put(root, "\xff", "kv", "n = 1\n");
    expect(root, OUTPUT_VALUE, "\xff/kv", "n", "1");
    expect(root, OUTPUT_VALUE, "out/7.json", "deep",
           "\"{\\\"list\\\":[1,\\\"b\\\"]}\"");
    expect(root, OUTPUT_VALUE, "out/7.json", "deep.list", "\"[1,\\\"b\\\"]\"");
    expect(root, OUTPUT_VALUE, "out/kv", "n", "0.5");
    expect(root, OUTPUT_VALUE, "out/kv", "word", "\"some words\"");
    expect(root, OUTPUT_VALUE, "out/7.json", "a.b",
           "error: output 'rows': missing key 'a.b' in 'out/7.json'");
    expect(root, OUTPUT_VALUE, "out/kv", "wrod",
           "error: output 'rows': missing key 'wrod' (did you mean "
           "'word'?) in 'out/kv'");
    expect(root, OUTPUT_VALUE, "out/rows.json", "n",
           "error: output 'rows': no such file: 'out/rows.json'");
    put(root, "out", "bad.json", "{\"n\": }");
    expect(root, OUTPUT_VALUE, "out/bad.json", "n",
           "error: output 'rows': 'out/bad.json' is not JSON: line 1, column "
           "7: not valid JSON: unexpected token near '}'");
}

static void test_outputs__reported_ones_are_in_the_attempts_file(void **state)
{
    const char *root = *state;

    expect(root, OUTPUT_REPORTED, NULL, "n",
           "error: output 'rows': nothing was written to $SMTUNE_OUTPUTS");
    put(root, "attempt", "output", "n=1\nn=3\nother=x\n");
    expect(root, OUTPUT_REPORTED, NULL, "n", "3");
    expect(root, OUTPUT_REPORTED, NULL, "m",
           "error: output 'rows': missing key 'm' in '$SMTUNE_OUTPUTS'");
    put(root, "attempt", "output", "{\"n\": true}");
    expect(root, OUTPUT_REPORTED, NULL, "n", "true");
}

/* None of them may ever hold up who reads. */
static void test_outputs__what_is_no_file_is_not_waited_for(void **state)
{
    const char *root = *state;
    char *pipe = fs_join(root, "pipe"), *link = fs_join(root, "link");
    char *loop = fs_join(root, "loop");
    char *expected =
        mem_printf("error: output 'rows': '%s/pipe' is not a file", root);

    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("/dev/zero", link), 0);
    assert_int_equal(symlink("loop", loop), 0);
    expect(root, OUTPUT_VALUE, "pipe", "n", expected);
    free(expected);
    expected =
        mem_printf("error: output 'rows': '%s/link' is not a file", root);
    expect(root, OUTPUT_VALUE, "link", "n", expected);
    free(expected);
    expected = mem_printf("error: output 'rows': '%s/.' is not a file", root);
    expect(root, OUTPUT_VALUE, ".", "n", expected);
    expect(root, OUTPUT_FILE, "loop", NULL,
           "error: output 'rows': cannot read 'loop': Too many levels "
           "of symbolic links");
    free(expected);
    free(pipe);
    free(link);
    free(loop);
}

/* What cannot be read is the last thing that is looked for. */
static void test_outputs__end_with_the_first_that_is_missing(void **state)
{
    const char *root = *state;
    const struct outputs_site site = {NULL, root, root, false};
    const struct output outputs[] = {{"a", OUTPUT_REPORTED, NULL, "a", false},
                                     {"b", OUTPUT_REPORTED, NULL, "b", false},
                                     {"c", OUTPUT_REPORTED, NULL, "c", false}};
    const struct step step = {.outputs = outputs, .output_count = 3};
    json_t *into = json_object();
    struct err err;

    put(root, ".", OUTPUTS_FILE, "a=1\nc=3\n");
    assert_int_equal(outputs_read(&step, &site, into, &err), -1);
    assert_string_equal(err.text,
                        "output 'b': missing key 'b' in '$SMTUNE_OUTPUTS'");
    assert_int_equal(json_object_size(into), 1);
    json_decref(into);
}

static void test_outputs__have_bounds(void **state)
{
    const char *root = *state;
    struct buf text = BUF_INIT;
    char *expected;

    buf_add_string(&text, "n=");
    for (int i = 0; i < VALUE_FILE_BYTES_MAX - 3; i++)
        buf_add_char(&text, 'x');
    put(root, "out", "full", buf_text(&text));
    expect(root, OUTPUT_VALUE, "out/full", "n",
           "error: out of range: the outputs have 1048584 bytes, more "
           "than 1048576");
    buf_add_string(&text, "yz");
    put(root, "out", "more", buf_text(&text));
    expected = mem_printf("error: output 'rows': '%s/out/more' is longer than "
                          "1048576 bytes",
                          root);
    expect(root, OUTPUT_VALUE, "out/more", "n", expected);
    buf_truncate(&text, 0);
    buf_add_string(&text, "{\"n\":");
    for (int i = 0; i < 100; i++)
        buf_add_char(&text, '[');
    put(root, "out", "deep.json", buf_text(&text));
    expect(root, OUTPUT_VALUE, "out/deep.json", "n",
           "error: output 'rows': 'out/deep.json' is not JSON: line 1, column "
           "69: JSON nested deeper than 64");
    free(expected);
    buf_clear(&text);
}

/* What was there before, metrics, stays. */
static void test_outputs__all_of_a_step_are_read(void **state)
{
    const char *root = *state;
    const struct value values[] = {value_int(0), value_null()};
    const struct outputs_site site = {values, root, root, false};
    const struct output outputs[] = {
        {"first", OUTPUT_REPORTED, NULL, "a", false},
        {"second", OUTPUT_REPORTED, NULL, "b", false},
        {"third", OUTPUT_REPORTED, NULL, "c", false},
    };
    struct step step = {.outputs = outputs, .output_count = 2};
    json_t *into = json_pack("{s:i}", "metric", 1);
    struct buf out = BUF_INIT;
    struct err err;

    put(root, ".", "output", "a=1\nb=two\n");
    assert_int_equal(outputs_read(&step, &site, into, &err), 0);
    json_print(into, &out);
    assert_string_equal(buf_text(&out),
                        "{\"metric\":1,\"first\":1,\"second\":\"two\"}");
    step.output_count = 3;
    assert_int_equal(outputs_read(&step, &site, into, &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_string_equal(err.text,
                        "output 'third': missing key 'c' in '$SMTUNE_OUTPUTS'");
    buf_clear(&out);
    json_decref(into);
}

/* That says nothing of the step. */
static void test_outputs__that_none_can_be_opened_now_may_pass(void **state)
{
    const char *root = *state;
    const struct outputs_site site = {NULL, root, root, false};
    const struct output output = {"a", OUTPUT_REPORTED, NULL, "a", false};
    const struct step step = {.outputs = &output, .output_count = 1};
    json_t *into = json_object();
    struct rlimit limit, none;
    struct err err;

    put(root, ".", "output", "a=1\n");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(outputs_read(&step, &site, into, &err), -1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(err_may_pass(&err));
    assert_int_equal(outputs_read(&step, &site, into, &err), 0);
    json_decref(into);
}

#define WITH_FOLDER(test)                                                      \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs__the_nearest_of_many_keys_is_named),
        cmocka_unit_test(test_outputs__lines_are_keys_and_values),
        cmocka_unit_test(test_outputs__json_is_known_by_its_name),
        cmocka_unit_test(test_outputs__numbers_keep_their_text),
        cmocka_unit_test(test_outputs__keys_go_into_objects),
        WITH_FOLDER(test_outputs__a_file_is_its_path),
        WITH_FOLDER(test_outputs__a_value_is_a_files_key),
        WITH_FOLDER(test_outputs__reported_ones_are_in_the_attempts_file),
        WITH_FOLDER(test_outputs__what_is_no_file_is_not_waited_for),
        WITH_FOLDER(test_outputs__end_with_the_first_that_is_missing),
        WITH_FOLDER(test_outputs__have_bounds),
        WITH_FOLDER(test_outputs__all_of_a_step_are_read),
        WITH_FOLDER(test_outputs__that_none_can_be_opened_now_may_pass),
    };

    return cmocka_run_group_tests(tests, open_env, close_env);
}
