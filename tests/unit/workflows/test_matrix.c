/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/matrix.h"

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/folder.h"

static struct matrix *parse(const char *text, struct err *err)
{
    json_t *json = json_parse(text, strlen(text), NULL);
    struct matrix *matrix = matrix_create(json, err);

    json_decref(json);
    return matrix;
}

/* "a 1|a 2|b 1|b 2" */
static char *all_copies(const struct matrix *matrix)
{
    struct value values[8];
    struct buf out = BUF_INIT;

    buf_add_string(&out, "");
    for (int64_t copy = 0; copy < matrix_copies(matrix); copy++) {
        matrix_values(matrix, copy, values);
        for (size_t i = 0; i < matrix_axis_count(matrix); i++) {
            buf_add_string(&out, i > 0 ? " " : copy > 0 ? "|" : "");
            value_print(&values[i], &out);
        }
    }
    return buf_take(&out);
}

static void test_matrix__last_axis_is_fastest(void **state)
{
    static const struct {
        const char *axes, *expected;
    } cases[] = {
        {"{\"z\": [\"a\", \"b\"], \"a\": [1, 2.5, true]}",
         "a 1|a 2.5|a true|b 1|b 2.5|b true"},
        {"{\"a\": [0, 1], \"b\": [5], \"c\": [\"x\", \"y\"]}",
         "0 5 x|0 5 y|1 5 x|1 5 y"},
        {"{\"a\": [1, 1]}", "1|1"},
        {"{\"a\": [1, 2], \"b\": []}", ""},
        {"{\"a\": [], \"b\": [1, 2]}", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct matrix *matrix = parse(cases[i].axes, NULL);
        char *copies = all_copies(matrix);

        assert_string_equal(copies, cases[i].expected);
        free(copies);
        matrix_destroy(matrix);
    }
}

static void test_matrix__none_is_one_copy(void **state)
{
    struct matrix *matrix = matrix_create(NULL, NULL);
    struct value none = value_int(7);

    (void)state;
    assert_int_equal(matrix_copies(matrix), 1);
    assert_int_equal(matrix_axis_count(matrix), 0);
    matrix_values(matrix, 0, &none);
    assert_int_equal(none.integer, 7);
    matrix_destroy(matrix);
    matrix_destroy(NULL);
}

static void test_matrix__says_what_is_wrong(void **state)
{
    static const struct {
        const char *axes, *expected;
    } cases[] = {
        {"[1]", "type mismatch: a matrix must be an object of lists"},
        {"{\"a\": 1}", "matrix axis 'a': type mismatch: not a list"},
        {"{\"a\": [1, null]}",
         "matrix axis 'a': type mismatch: element 2 must be a "
         "number, text or boolean, not 'null'"},
        {"{\"a\": [{\"b\": 1}]}",
         "matrix axis 'a': type mismatch: element 1 must be a "
         "number, text or boolean, not '{\"b\":1}'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;

        assert_null(parse(cases[i].axes, &err));
        assert_string_equal(err.text, cases[i].expected);
        assert_int_equal(err.kind, ERR_FILE);
    }
}

static json_t *numbers(int64_t count)
{
    json_t *list = json_array();

    for (int64_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(i));
    return list;
}

static void test_matrix__has_a_bound(void **state)
{
    json_t *axes =
        json_pack("{s:o,s:o}", "a", numbers(1000), "b", numbers(1000));
    struct matrix *matrix = matrix_create(axes, NULL);
    struct value values[3];
    struct err err;

    (void)state;
    assert_int_equal(matrix_copies(matrix), MATRIX_COPIES_MAX);
    matrix_values(matrix, 999001, values);
    assert_int_equal(values[0].integer, 999);
    assert_int_equal(values[1].integer, 1);
    matrix_destroy(matrix);
    json_object_set_new(axes, "c", numbers(2));
    assert_null(matrix_create(axes, &err));
    assert_string_equal(err.text, "out of range: with axis 'c' the matrix "
                                  "has 2000000 copies, more than 1000000");
    json_decref(axes);
    axes = json_pack("{s:o}", "a", numbers(1000001));
    assert_null(matrix_create(axes, &err));
    assert_string_equal(err.text, "out of range: matrix axis 'a' has 1000001 "
                                  "values, more than 1000000");
    json_decref(axes);
}

/* The list as JSON text, or the error. */
static char *show(json_t *list, const struct err *err)
{
    struct buf out = BUF_INIT;

    if (list != NULL)
        json_print(list, &out);
    else
        buf_printf(&out, "error: %s", err->text);
    json_decref(list);
    return buf_take(&out);
}

static void test_matrix__axis_is_read_from_text(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"[1, 2.5, \"a b\", true]", "[1,2.5,\"a b\",true]"},
        {"[]", "[]"},
        {"[null, \"x\", null, 3]", "[\"x\",3]"},
        {"{\"a\": 1}", "error: type mismatch: not a list"},
        {"3", "error: type mismatch: not a list"},
        {"null", "error: type mismatch: not a list"},
        {"[[1]]", "error: type mismatch: element 1 must be a number, text or "
                  "boolean, not '[1]'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;
        char *shown = show(matrix_axis_from_text(cases[i].text, &err), &err);

        assert_string_equal(shown, cases[i].expected);
        free(shown);
    }
    assert_null(matrix_axis_from_text("", NULL));
    assert_null(matrix_axis_from_text("[1", NULL));
}

static void test_matrix__long_text_makes_a_long_axis(void **state)
{
    struct buf text = BUF_INIT;
    struct err err;
    json_t *list;

    (void)state;
    for (int i = 0; i < 200000; i++)
        buf_printf(&text, "%c\"part-%06d\"", i == 0 ? '[' : ',', i);
    buf_add_char(&text, ']');
    list = matrix_axis_from_text(buf_text(&text), &err);
    assert_non_null(list);
    assert_int_equal(json_array_size(list), 200000);
    json_decref(list);
    buf_clear(&text);
}

static void test_matrix__glob_is_sorted_by_bytes(void **state)
{
    static const char *const names[] = {"b.csv",        "B.csv",   "a-1.csv",
                                        "a.csv",        "aB.csv",  "ab.csv",
                                        "\xc3\xa4.csv", "c d.csv", "skip.txt"};
    const char *folder = *state;
    char *pattern = fs_join(folder, "d/*.csv"), *shown;
    struct buf expected = BUF_INIT;
    json_t *list;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        put(folder, "d", names[i], "x");
    list = matrix_axis_from_glob(pattern, NULL);
    for (size_t i = 0; i < json_array_size(list); i++)
        buf_printf(&expected, " %s",
                   strrchr(json_string_value(json_array_get(list, i)), '/') +
                       1);
    assert_string_equal(buf_text(&expected),
                        " B.csv a-1.csv a.csv aB.csv ab.csv b.csv c d.csv "
                        "\xc3\xa4.csv");
    assert_int_equal(strncmp(json_string_value(json_array_get(list, 0)), folder,
                             strlen(folder)),
                     0);
    json_decref(list);
    shown = show(matrix_axis_from_glob("/nowhere/at/all/*", NULL), NULL);
    assert_string_equal(shown, "[]");
    free(shown);
    free(pattern);
    buf_clear(&expected);
}

static void test_matrix__glob_refuses_what_is_no_text(void **state)
{
    char *pattern = fs_join(*state, "d/*");
    struct err err;

    put(*state, "d", "\xff.csv", "x");
    assert_null(matrix_axis_from_glob(pattern, &err));
    assert_non_null(strstr(err.text, "\\xff.csv' is not UTF-8"));
    free(pattern);
}

/* What the lines of a file of that name become. */
static char *lines_of(const char *folder, const char *name, const char *text)
{
    char *path = mem_printf("%s/d/%s", folder, name), *shown;
    struct err err;

    put(folder, "d", name, text);
    shown = show(matrix_axis_from_lines(path, &err), &err);
    free(path);
    return shown;
}

static void test_matrix__lines_of_a_file(void **state)
{
    static const struct {
        const char *name, *text, *expected;
    } cases[] = {
        {"a.txt", "", "[]"},
        {"a.txt", "\n \t\r\n", "[]"},
        {"a.txt", "b\na b\n\n 1\r\n\"x\"",
         "[\"b\",\"a b\",\" 1\",\"\\\"x\\\"\"]"},
        {"a.txt",
         "\xef\xbb\xbf"
         "a\n\xef\xbb\xbf",
         "[\"a\",\"\xef\xbb\xbf\"]"},
        {"a.jsonl", "\xef\xbb\xbf{}\n", "[\"{}\"]"},
        {"a.jsonl", "1\n2.5\r\n\n\"a\\nb\"\ntrue\n", "[1,2.5,\"a\\nb\",true]"},
        {"a.jsonl", "{\"b\": [1], \"a\": null}",
         "[\"{\\\"b\\\":[1],\\\"a\\\":null}\"]"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *shown = lines_of(*state, cases[i].name, cases[i].text);

        assert_string_equal(shown, cases[i].expected);
        free(shown);
    }
}

static void test_matrix__lines_that_are_no_values(void **state)
{
    static const struct {
        const char *name, *text, *part;
    } cases[] = {
        {"a.txt", "a\n\xff\n", "/d/a.txt': line 2: it is not UTF-8"},
        {"a.jsonl", "1\n\n[2]\n",
         "/d/a.jsonl': line 3: type mismatch: expected"},
        {"a.jsonl", "null", "line 1: type mismatch: expected"},
        {"a.jsonl", "1\n{", "line 2: not valid JSON: "},
    };
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *shown = lines_of(*state, cases[i].name, cases[i].text);

        assert_non_null(strstr(shown, cases[i].part));
        free(shown);
    }
    assert_null(matrix_axis_from_line_text("a\n\0b", 4, false, &err));
    assert_string_equal(err.text, "line 2: it contains a NUL byte");
    assert_null(matrix_axis_from_lines("/nowhere/at/all", &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void test_matrix__shards_go_round(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 10; i++)
        assert_int_equal(matrix_shard(i, 3), i % 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix__last_axis_is_fastest),
        cmocka_unit_test(test_matrix__none_is_one_copy),
        cmocka_unit_test(test_matrix__says_what_is_wrong),
        cmocka_unit_test(test_matrix__has_a_bound),
        cmocka_unit_test(test_matrix__axis_is_read_from_text),
        cmocka_unit_test(test_matrix__long_text_makes_a_long_axis),
        cmocka_unit_test_setup_teardown(test_matrix__glob_is_sorted_by_bytes,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            test_matrix__glob_refuses_what_is_no_text, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(test_matrix__lines_of_a_file,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_matrix__lines_that_are_no_values,
                                        make_folder, remove_folder),
        cmocka_unit_test(test_matrix__shards_go_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
