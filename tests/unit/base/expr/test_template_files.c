/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/expr/template.h"

static const char *const columns[] = {"dir", "all", "none", "n"};
static const struct expr_table table = {
    .columns = columns, .column_count = ARRAY_LEN(columns), .directory = 1};
static const struct expr_table without = {.columns = columns,
                                          .column_count = ARRAY_LEN(columns)};

static const struct value values[] = {
    {.type = VALUE_TEXT, .text = "/jobs/1"},
    {.type = VALUE_TEXT, .text = "[\"a\", \"b\"]"},
    {.type = VALUE_NULL},
    {.type = VALUE_INT, .integer = 3},
};

static int setup(void **state)
{
    *state = expr_env_create(NULL);
    return *state == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    expr_env_destroy(*state);
    return 0;
}

static int note(void *user, const char *path, const char *text, bool has_nuls,
                struct err *err)
{
    (void)err;
    buf_printf(user, "%s %s %d;", path, text, has_nuls);
    return 0;
}

static void test_template_files__a_path_stands_for_the_list(void **state)
{
    struct template *template = template_create(
        *state,
        "x @${{ files(all) }} --z=${{files0 ( all ) }} ${{ files(all)}}",
        TEMPLATE_WORDS, &table, 1, NULL);
    struct buf out = BUF_INIT;
    char **words;

    assert_non_null(template);
    assert_true(template_has_files(template));
    words = template_expand_words(template, values, NULL);
    assert_string_equal(words[1], "@/jobs/1/lists/c8935436b6945b7d.txt");
    assert_string_equal(words[2], "--z=/jobs/1/lists/c8935436b6945b7d.nul");
    assert_string_equal(words[3], words[1] + 1);
    assert_null(words[4]);
    assert_int_equal(template_each_files(template, values, note, &out, NULL),
                     0);
    assert_string_equal(buf_text(&out),
                        "/jobs/1/lists/c8935436b6945b7d.txt [\"a\", \"b\"] 0;"
                        "/jobs/1/lists/c8935436b6945b7d.nul [\"a\", \"b\"] 1;"
                        "/jobs/1/lists/c8935436b6945b7d.txt [\"a\", \"b\"] 0;");
    buf_clear(&out);
    words_free(words);
    template_destroy(template);
}

static void test_template_files__a_list_may_be_long(void **state)
{
    enum { LENGTH = 1 << 20 };
    struct template *template = template_create(
        *state, "${{ files(all) }}", TEMPLATE_SHELL, &table, 1, NULL);
    char *text = malloc(LENGTH + 1);
    struct value own[ARRAY_LEN(values)];
    struct buf out = BUF_INIT;

    memset(text, 'x', LENGTH);
    text[LENGTH] = '\0';
    memcpy(own, values, sizeof(own));
    own[1].text = text;
    assert_int_equal(template_expand(template, own, &out, NULL), 0);
    assert_int_equal(out.length,
                     strlen("'/jobs/1/lists/c8935436b6945b7d.txt'"));
    buf_truncate(&out, 0);
    assert_int_equal(template_each_files(template, own, note, &out, NULL), 0);
    assert_true(out.length > LENGTH);
    buf_clear(&out);
    free(text);
    template_destroy(template);
}

static void test_template_files__null_is_no_file(void **state)
{
    struct template *template =
        template_create(*state, "x --from ${{ files(none) }} ${{ n }}",
                        TEMPLATE_WORDS, &table, 1, NULL);
    struct buf out = BUF_INIT;
    char **words = template_expand_words(template, values, NULL);

    assert_string_equal(words[1], "3");
    assert_int_equal(template_each_files(template, values, note, &out, NULL),
                     0);
    assert_int_equal(out.length, 0);
    words_free(words);
    template_destroy(template);
}

static void test_template_files__what_is_refused(void **state)
{
    static const struct {
        const char *text;
        const struct expr_table *table;
        const char *message;
        int column;
    } cases[] = {
        {"x ${{ files(all) || 'x' }}", &table, "must be all of a ${{ }}", 3},
        {"x ${{ files(all }}", &table, "must be all of a ${{ }}", 3},
        {"x ${{ files() }}", &table, "", 13},
        {"x ${{ files(al) }}", &table, "unknown name", 13},
        {"x ${{ files0(all) }}", &without, "steps of a workflow", 3},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;

        assert_null(template_create(*state, cases[i].text, TEMPLATE_WORDS,
                                    cases[i].table, 1, &err));
        if (strstr(err.text, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_int_equal(err.column, cases[i].column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template_files__a_path_stands_for_the_list),
        cmocka_unit_test(test_template_files__a_list_may_be_long),
        cmocka_unit_test(test_template_files__null_is_no_file),
        cmocka_unit_test(test_template_files__what_is_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
