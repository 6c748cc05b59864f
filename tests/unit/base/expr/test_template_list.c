/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/template.h"
#include "base/mem.h"
#include "tests/unit/base/expr/template_test.h"

static const size_t arguments[] = {0, 2, 3, 4, 5};
static const struct expr_table with_arguments = {
    .columns = columns,
    .column_count = ARRAY_LEN(columns),
    .arguments = arguments,
    .argument_count = ARRAY_LEN(arguments),
};

static void test_template_list__lists_all_arguments(void **state)
{
    static const struct {
        const char *text, *v, *expected;
    } cases[] = {
        {"t ${{ args }} x", "a b",
         "[t][--lr][0.1][--opt][sgd][--v][a b][--on][true][x]"},
        {"t ${{args( flags )}}", "", "[t][--lr][0.1][--opt][sgd][--v][][--on]"},
        {"t -m ${{ overrides }} ${{ none }}", "a,b",
         "[t][-m][lr=0.1][opt=sgd][v='a,b'][on=true]"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct template *template = template_create(
            *state, cases[i].text, TEMPLATE_WORDS, &with_arguments, 1, NULL);
        char *actual;

        assert_non_null(template);
        actual = words_of(template, cases[i].v);
        assert_string_equal(actual, cases[i].expected);
        assert_true(template_uses(template, 4));
        assert_false(template_uses(template, 1));
        free(actual);
        template_destroy(template);
    }
}

static void test_template_list__overrides_are_quoted_where_hydra_needs_it(
    void **state)
{
    static const char *const cases[][2] = {
        {"sgd", "sgd"},
        {"a/b-c_1.x", "a/b-c_1.x"},
        {"", "''"},
        {"1", "'1'"},
        {"true", "'true'"},
        {"Null", "'Null'"},
        {"1e5", "'1e5'"},
        {"1_000", "'1_000'"},
        {"-inf", "'-inf'"},
        {"a b", "'a b'"},
        {"[1,2]", "'[1,2]'"},
        {"a=b", "'a=b'"},
        {"x:y", "'x:y'"},
        {"\xc3\xa9", "'\xc3\xa9'"},
        {"it's", "'it\\'s'"},
        {"a\\b\\", "'a\\b\\\\'"},
        {"a\\'", "'a\\\\\\''"},
        {"${x}", "'\\${x}'"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct template *template =
            template_create(*state, "t ${{ overrides }}", TEMPLATE_WORDS,
                            &with_arguments, 1, NULL);
        char *actual = words_of(template, cases[i][0]);
        char *expected =
            mem_printf("[t][lr=0.1][opt=sgd][v=%s][on=true]", cases[i][1]);

        assert_string_equal(actual, expected);
        free(actual);
        free(expected);
        template_destroy(template);
    }
}

static void test_template_list__is_a_word(void **state)
{
    static const struct {
        enum template_mode mode;
        const char *text;
        int column;
        const char *part;
    } cases[] = {
        {TEMPLATE_WORDS, "t x${{ args }}", 4, "'args' must be a word of its"},
        {TEMPLATE_WORDS, "t ${{ args }}x", 3, "a word of its own"},
        {TEMPLATE_WORDS, "t \"${{ overrides }}\"", 4, "'overrides' must be"},
        {TEMPLATE_WORDS, "${{ args }}", 1, "missing program before 'args'"},
        {TEMPLATE_SHELL, "t --x=${{ args(flags) }}", 7, "'args(flags)' must"},
        {TEMPLATE_TEXT, "${{ args }}", 1, "only allowed in a command or a"},
        {TEMPLATE_WORDS, "t ${{ args(x) }}", 7,
         "unknown function 'args' (write args, args(flags) or overrides)"},
    };
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_null(template_create(*state, cases[i].text, cases[i].mode,
                                    &with_arguments, 1, &err));
        if (strstr(err.text, cases[i].part) == NULL ||
            err.column != cases[i].column)
            fail_msg("%s: %d: %s", cases[i].text, err.column, err.text);
    }
    assert_null(create(*state, "t ${{ args }}", TEMPLATE_WORDS, &err));
    assert_string_equal(err.text, "unknown name 'args'");
}

static void test_template_list__a_script_lists_all_arguments(void **state)
{
    struct template *template = template_create(
        *state, "t ${{ args }}; u", TEMPLATE_SHELL, &with_arguments, 1, NULL);
    struct value values[ARRAY_LEN(columns)];
    struct buf out = BUF_INIT;

    fill(values, "it's");
    assert_int_equal(template_expand(template, values, &out, NULL), 0);
    assert_string_equal(buf_text(&out),
                        "t '--lr' '0.1' '--opt' 'sgd' '--v' 'it'\\''s' "
                        "'--on' 'true'; u");
    buf_clear(&out);
    template_destroy(template);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template_list__lists_all_arguments),
        cmocka_unit_test(
            test_template_list__overrides_are_quoted_where_hydra_needs_it),
        cmocka_unit_test(test_template_list__is_a_word),
        cmocka_unit_test(test_template_list__a_script_lists_all_arguments),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
