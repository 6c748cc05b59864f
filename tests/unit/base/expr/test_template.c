/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/base/expr/template_test.h"

static void assert_words(struct expr_env *env, const char *text, const char *v,
                         const char *expected)
{
    struct err err;
    struct template *template = create(env, text, TEMPLATE_WORDS, &err);
    char *actual;

    if (template == NULL)
        fail_msg("%s: %s", text, err.text);
    actual = words_of(template, v);
    if (strcmp(actual, expected) != 0)
        fail_msg("%s: %s, not %s", text, actual, expected);
    free(actual);
    template_destroy(template);
}

static void test_template__splits_words_as_a_shell(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a", "[a]"},
        {"  a\tb\n c \r\n", "[a][b][c]"},
        {"a 'b c' \"d e\"", "[a][b c][d e]"},
        {"a'b'\"c\"d", "[abcd]"},
        {"a '' \"\"", "[a][][]"},
        {"a\\ b \\'c \\\\", "[a b]['c][\\]"},
        {"a \\\n b", "[a][b]"},
        {"a\\\nb", "[ab]"},
        {"\"a\\\"b\\$\\`\\\\\\n\\\nc\"", "[a\"b$`\\\\nc]"},
        {"'a\\'", "[a\\]"},
        {"a \\", "[a][\\]"},
        {"$HOME $(id) `id` * ~ ; | & > < # {a,b} ?",
         "[$HOME][$(id)][`id`][*][~][;][|][&][>][<][#][{a,b}][?]"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_words(*state, cases[i].text, "", cases[i].expected);
}

static void test_template__expands_within_words(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"t --lr ${{ lr }} --width=${{width}}", "[t][--lr][0.1][--width=-5]"},
        {"t ${{ lr }}${{ width }}x", "[t][0.1-5x]"},
        {"t ${{ on }} ${{ on + 0 }}", "[t][true][1]"},
        {"t '${{ lr }}' \"a ${{ lr * 2 }} b\"", "[t][0.1][a 0.2 b]"},
        {"t ${{ iif(opt = 's d', 'x y', 'it''s \"}}\"') }}",
         "[t][it's \"}}\"]"},
        {"t \"${{ opt || '\"' }}\"", "[t][sgd\"]"},
        {"t ${{ '${{ lr }}' }}", "[t][${{ lr }}]"},
        {"t ${{\n  lr\n}}", "[t][0.1]"},
        {"t $${{ lr }} x$${{", "[t][${{][lr][}}][x${{]"},
        {"t $$${{ lr }}", "[t][$${{][lr][}}]"},
        {"t '$${{ lr }}'", "[t][${{ lr }}]"},
        {"t \\${{ lr }}", "[t][${{][lr][}}]"},
        {"t $ {{ lr }} }}", "[t][$][{{][lr][}}][}}]"},
        {"${{ opt }} x", "[sgd][x]"},
        {"t ${{ \"opt\" || '}}' }}", "[t][sgd}}]"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_words(*state, cases[i].text, "", cases[i].expected);
}

static void test_template__a_value_never_adds_a_word(void **state)
{
    static const char *const values[] = {
        "",         "a b",       "$(touch x)", "`touch x`", "; touch x",
        "x\ny",     "'",         "\"",         "\\",        "-rf",
        "--help",   "${{ lr }}", "}}",         "*",         "x' y 'z",
        "\" -o \"", "a\tb",      "$HOME",      "\xff\xfe",  "# x",
    };
    struct template *template =
        create(*state, "t --v ${{ v }} -x${{ v }}y \"${{ v }}\" end",
               TEMPLATE_WORDS, NULL);

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char *expected = mem_printf("[t][--v][%s][-x%sy][%s][end]", values[i],
                                    values[i], values[i]);
        char *actual = words_of(template, values[i]);

        assert_string_equal(actual, expected);
        free(actual);
        free(expected);
    }
    template_destroy(template);
}

static void test_template__null_leaves_its_word_out(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"t --m ${{ none }} --lr ${{ lr }}", "[t][--lr][0.1]"},
        {"t -m ${{ none }}", "[t]"},
        {"t --m \"${{ none }}\"", "[t]"},
        {"t --m=${{ none }}", "[t]"},
        {"t m=${{ none }} +a.b=${{ none }} x", "[t][x]"},
        {"t ${{ opt }}.m=${{ none }} x", "[t][x]"},
        {"t --v --m=${{ none }} ${{ none }}", "[t][--v]"},
        {"t --m=[${{ none }}] \"--n='${{ none }}'\"", "[t]"},
        {"t --b=${{ none }},${{ none }}", "[t]"},
        {"t --b=${{ none }},${{ lr }}", "[t][--b=,0.1]"},
        {"t --b ${{ none }},${{ none }}", "[t]"},
        {"t --m=${{ lr }} ${{ none }}", "[t][--m=0.1]"},
        {"t --m=1 ${{ none }}", "[t][--m=1]"},
        {"t m ${{ none }} x", "[t][m][x]"},
        {"t ${{ none }} ${{ none }} x", "[t][x]"},
        {"t --a ${{ none }} ${{ none }} x", "[t][x]"},
        {"t --a --b ${{ none }}", "[t][--a]"},
        {"t ${{ width }} ${{ none }}", "[t][-5]"},
        {"t -1 ${{ none }} -.5 ${{ none }}", "[t][-1][-.5]"},
        {"t -- ${{ none }}", "[t][--]"},
        {"t --${{ opt }} ${{ none }} x", "[t][x]"},
        {"t -O${{ opt }} ${{ none }} x", "[t][-Osgd][x]"},
        {"t --v -O${{ none }} -j ${{ none }} -x${{ none }}y -ab${{ none }}",
         "[t][--v][-xy][-ab]"},
        {"t - ${{ none }}", "[t][-]"},
        {"t --m ${{ coalesce(none, '') }}", "[t][--m][]"},
        {"t --m ${{ none > 3 }}", "[t][--m]"},
        {"t --v ${{ case when on then null else '--amp' end }} x",
         "[t][--v][x]"},
        {"t --v ${{ flag('--amp', \"on\") }} ${{ flag('--x', not \"on\") }}",
         "[t][--v][--amp]"},
        {"t run-${{ none }}-${{ lr }} x${{ none }}", "[t][run--0.1][x]"},
        {"t '' ${{ none }}", "[t][]"},
        {"${{ none }} x", "error: the command's program is null"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_words(*state, cases[i].text, "", cases[i].expected);
}

static void test_template__a_text_is_null_as_a_whole(void **state)
{
    static const struct {
        const char *text;
        int expected;
    } cases[] = {
        {"${{ none }}", 1},
        {" [${{ none }}] ", 1},
        {"--m=${{ none }}", 1},
        {"x${{ none }}", 0},
        {"${{ lr }}", 0},
        {"", 0},
        {"-", 0},
        {"${{ none }},1", 0},
        {"\xc3\xa9${{ none }}", 0},
        {"${{ abs(v) }}", -1},
    };
    struct value values[ARRAY_LEN(columns)];
    struct err err;

    fill(values, "");
    values[4] = value_int(INT64_MIN);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct template *template =
            create(*state, cases[i].text, TEMPLATE_TEXT, NULL);

        assert_int_equal(template_is_null(template, values, &err),
                         cases[i].expected);
        template_destroy(template);
    }
}

static void test_template__numbers_keep_their_form(void **state)
{
    struct template *template =
        create(*state, "${{ lr }} ${{ lr * 10 }} ${{ width }} ${{ lr + v }}",
               TEMPLATE_TEXT, NULL);
    struct value values[ARRAY_LEN(columns)];
    struct buf out = BUF_INIT;

    fill(values, "");
    values[0] = value_real(4);
    values[4] = value_real(1e21);
    assert_int_equal(template_expand(template, values, &out, NULL), 0);
    assert_string_equal(buf_text(&out), "4.0 40.0 -5 1e+21");
    buf_clear(&out);
    template_destroy(template);
}

static void test_template__a_list_is_words_already(void **state)
{
    const char *const words[] = {"t",           "a b",        "",        "--m",
                                 "${{ none }}", "'${{ v }}'", "x $${{ y"};
    const char *const bad[] = {"t", "\n\n${{ lrr }}"};
    struct template *template =
        template_create_words(*state, words, ARRAY_LEN(words), &table, 1, NULL);
    char *actual = words_of(template, "1 2");
    struct err err;

    assert_string_equal(actual, "[t][a b][]['1 2'][x ${{ y]");
    assert_string_equal(template_source(template),
                        "t a b  --m ${{ none }} '${{ v }}' x $${{ y");
    free(actual);
    template_destroy(template);
    assert_null(template_create_words(*state, bad, 2, &table, 1, &err));
    assert_int_equal(err.line, 1);
    assert_int_equal(err.column, 2);
    assert_null(template_create_words(*state, bad, 2, &table, 1, NULL));
    assert_null(template_create_words(*state, bad, 0, &table, 1, &err));
    assert_string_equal(err.text, "the command is empty");
}

static void test_template__errors_have_a_place(void **state)
{
    static const struct {
        enum template_mode mode;
        const char *text;
        int line, column;
        const char *part;
    } cases[] = {
        {TEMPLATE_WORDS, "", 1, 1, "the command is empty"},
        {TEMPLATE_WORDS, " \n", 1, 1, "the command is empty"},
        {TEMPLATE_WORDS, "t 'x", 1, 3, "missing closing '"},
        {TEMPLATE_WORDS, "t\n  x\"y", 2, 4, "missing closing \""},
        {TEMPLATE_WORDS, "t ${{ lr", 1, 3, "missing }} of this ${{"},
        {TEMPLATE_WORDS, "t \"${{ lr", 1, 4, "missing }} of this ${{"},
        {TEMPLATE_WORDS, "t ${{ lr }", 1, 3, "missing }} of this ${{"},
        {TEMPLATE_WORDS, "t ${{ ' }}", 1, 3, "missing }} of this ${{"},
        {TEMPLATE_WORDS, "t ${{ }}", 1, 6, "the expression is empty"},
        {TEMPLATE_WORDS, "t ${{ ${{ lr }} }}", 1, 7, "'$'"},
        {TEMPLATE_TEXT, "a\n\xc3\xa9 ${{ 'x' ||\n widht }}", 3, 2,
         "did you mean 'width'?"},
        {TEMPLATE_TEXT, "\xc3\xa9 ${{ widht }}", 1, 7, "'width'"},
        {TEMPLATE_TEXT, "${{ '\xc3\xa9' || widht }}", 1, 12, "'width'"},
        {TEMPLATE_SHELL, "echo '${{ lr }}'", 1, 7, "inside single quotes"},
        {TEMPLATE_SHELL, "echo \"${{ lr }}\"", 1, 7, "inside double quotes"},
        {TEMPLATE_SHELL, "a\n# ${{ lr }}", 2, 3, "inside a comment"},
        {TEMPLATE_SHELL, "echo `x ${{ lr }}`", 1, 9, "inside backquotes"},
        {TEMPLATE_SHELL, "echo ${x:-${{ lr }}}", 1, 11, "inside ${...}"},
        {TEMPLATE_SHELL, "echo $((1 + ${{ lr }}))", 1, 13, "inside $((...))"},
        {TEMPLATE_SHELL, "((x = ${{ lr }}))", 1, 7, "inside ((...))"},
        {TEMPLATE_SHELL, "cat <<E\n${{ lr }}\nE\n", 2, 1, "here-document"},
        {TEMPLATE_SHELL, "x=$'\\'' ${{ lr }}", 1, 9, "behind $'...'"},
        {TEMPLATE_SHELL, "x=\"${y:-\"a\"}\" ${{ lr }}", 1, 15, "behind"},
        {TEMPLATE_SHELL, "echo \"$(echo \"${{ lr }}\")\"", 1, 15,
         "inside double quotes"},
        {TEMPLATE_SHELL, "\"$(case x in a) echo \"${{ lr }}\";; esac)\"", 1, 23,
         "behind a case"},
        {TEMPLATE_SHELL, "echo \\\n# '\necho \"' ${{ lr }}\"", 3, 9,
         "inside double quotes"},
        {TEMPLATE_SHELL, "echo $${{ x; ${{ lr }}", 1, 14, "a literal ${{"},
        {TEMPLATE_SHELL, "x $(y)#'\n ${{ lr }}'", 2, 2, "inside single"},
        {TEMPLATE_SHELL, "x $((1))#'\n ${{ lr }}'", 2, 2, "inside single"},
        {TEMPLATE_SHELL, "(x)# '\n '${{ lr }}'", 2, 3, "inside single"},
        {TEMPLATE_SHELL, "\"$$(\"x\" ${{ lr }}\"", 1, 9, "behind $$"},
        {TEMPLATE_SHELL, "echo `x \\` ${{ lr }}`", 1, 12, "inside backquotes"},
        {TEMPLATE_SHELL, "echo ${x:-$y ${{ lr }}}", 1, 14, "inside ${...}"},
        {TEMPLATE_SHELL, "echo ${x:-$(y)} ${{ lr }}", 1, 17, "behind"},
        {TEMPLATE_SHELL, "x=(${{ lr }})", 1, 4,
         "behind an array (put the value in a variable before it)"},
        {TEMPLATE_SHELL, "echo $[ ${{ lr }} ]", 1, 9, "$[...]"},
        {TEMPLATE_SHELL, "echo ${{ nope }}", 1, 10, "unknown name 'nope'"},
        {TEMPLATE_SHELL, "echo $$${{ x; ${{ lr }}", 1, 15, "a literal ${{"},
        {TEMPLATE_SHELL, "x <(y)#'\n ${{ lr }}'", 2, 2, "inside single"},
        {TEMPLATE_SHELL, "echo \\ #'\n ${{ lr }}'", 2, 2, "inside single"},
    };
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = cases[i].text;

        if (create(*state, text, cases[i].mode, &err) != NULL)
            fail_msg("parsed: %s", text);
        if (strstr(err.text, cases[i].part) == NULL)
            fail_msg("%s: %s", text, err.text);
        if (err.line != cases[i].line || err.column != cases[i].column)
            fail_msg("%s: at %d:%d", text, err.line, err.column);
        assert_int_equal(err.kind, ERR_FILE);
        assert_null(create(*state, text, cases[i].mode, NULL));
    }
}

static void test_template__text_prints_values(void **state)
{
    struct template *template =
        create(*state, "a ${{ lr }}\n'${{ none }}' \\ $${{ ${{ v }}",
               TEMPLATE_TEXT, NULL);
    struct value values[ARRAY_LEN(columns)];
    struct buf out = BUF_INIT;

    fill(values, "$(x)");
    buf_add_string(&out, "> ");
    assert_int_equal(template_expand(template, values, &out, NULL), 0);
    assert_string_equal(buf_text(&out), "> a 0.1\n'' \\ ${{ $(x)");
    buf_clear(&out);
    template_destroy(template);
}

static void test_template__an_error_leaves_the_output_alone(void **state)
{
    struct template *template =
        create(*state, "a ${{ lr }} ${{ abs(v) }}", TEMPLATE_TEXT, NULL);
    struct template *words =
        create(*state, "a ${{ lr }} ${{ abs(v) }}", TEMPLATE_WORDS, NULL);
    struct value values[ARRAY_LEN(columns)];
    struct buf out = BUF_INIT;
    struct err err;

    fill(values, "");
    values[4] = value_int(INT64_MIN);
    buf_add_string(&out, "> ");
    assert_int_equal(template_expand(template, values, &out, &err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_string_equal(buf_text(&out), "> ");
    assert_null(template_expand_words(words, values, &err));
    template_destroy(words);
    words = create(*state, "a x${{ abs(v) }}", TEMPLATE_WORDS, NULL);
    assert_null(template_expand_words(words, values, &err));
    assert_int_equal(err.kind, ERR_FAILED);
    buf_clear(&out);
    template_destroy(template);
    template_destroy(words);
}

static void test_template__finds_expressions_in_text(void **state)
{
    static const struct {
        const char *text, *expected; /* NULL: none */
    } cases[] = {
        {"a", NULL},           {"a ${{ lr }} b", " lr "},
        {"${{'}}'}}", "'}}'"}, {"$${{ a }} ${{ b }}", " b "},
        {"$${{ a }}", NULL},   {"x ${{ open", " open"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t length = 0;
        const char *found = template_find_expression(cases[i].text, &length);

        if (cases[i].expected == NULL) {
            assert_null(found);
            continue;
        }
        assert_non_null(found);
        assert_int_equal(length, strlen(cases[i].expected));
        assert_memory_equal(found, cases[i].expected, length);
    }
}

static void test_template__size_is_bounded(void **state)
{
    struct buf text = BUF_INIT;
    struct template *template;
    struct err err;

    for (int i = 0; i < 1000; i++)
        buf_add_string(&text, "${{ 1 }}");
    template = create(*state, buf_text(&text), TEMPLATE_TEXT, &err);
    assert_non_null(template);
    template_destroy(template);
    buf_add_string(&text, "${{ 1 }}");
    assert_null(create(*state, buf_text(&text), TEMPLATE_TEXT, &err));
    assert_string_equal(err.text, "more than 1000 expressions");
    buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template__splits_words_as_a_shell),
        cmocka_unit_test(test_template__expands_within_words),
        cmocka_unit_test(test_template__a_value_never_adds_a_word),
        cmocka_unit_test(test_template__null_leaves_its_word_out),
        cmocka_unit_test(test_template__a_text_is_null_as_a_whole),
        cmocka_unit_test(test_template__numbers_keep_their_form),
        cmocka_unit_test(test_template__a_list_is_words_already),
        cmocka_unit_test(test_template__errors_have_a_place),
        cmocka_unit_test(test_template__text_prints_values),
        cmocka_unit_test(test_template__an_error_leaves_the_output_alone),
        cmocka_unit_test(test_template__finds_expressions_in_text),
        cmocka_unit_test(test_template__size_is_bounded),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
