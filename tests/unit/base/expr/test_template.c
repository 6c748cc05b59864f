/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/expr/template_shell.h"
#include "base/mem.h"

static const char *const columns[] = {"lr", "width", "opt", "none", "v", "on"};
static const struct expr_table table = {.columns = columns,
                                        .column_count = ARRAY_LEN(columns)};

static void fill(struct value values[ARRAY_LEN(columns)], const char *v)
{
    values[0] = value_real(0.1);
    values[1] = value_int(-5);
    values[2] = value_text("sgd");
    values[3] = value_null();
    values[4] = value_text(v);
    values[5] = value_bool(true);
}

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

static struct template *create(struct expr_env *env, const char *text,
                               enum template_mode mode, struct err *err)
{
    return template_create(env, text, mode, &table, 1, err);
}

/* The words, each in brackets; or the error. */
static char *words_of(struct template *template, const char *v)
{
    struct value values[ARRAY_LEN(columns)];
    struct buf out = BUF_INIT;
    struct err err;
    char **words;

    fill(values, v);
    words = template_expand_words(template, values, &err);
    if (words == NULL)
        buf_printf(&out, "error: %s", err.text);
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        buf_printf(&out, "[%s]", words[i]);
    words_free(words);
    return buf_take(&out);
}

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

static void test_template__null_leaves_its_word_of_a_script_out(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"t --m ${{ none }} --lr ${{ lr }}", "t  --lr '0.1'"},
        {"t --m=${{ none }} x", "t  x"},
        {"t --m \\\n  ${{ none }}; t -n ${{ none }}", "t ; t "},
        {"t --m=1 ${{ none }} -1 ${{ none }}", "t --m=1  -1 "},
        {"t --v ${{ none > 3 }} | u ${{ none }}>f", "t --v  | u >f"},
        {"t ${{ flag('--amp', 1) }} ${{ flag('--x', 0) }}", "t '--amp' "},
        {"X=${{ none }} Y=1 t", " Y=1 t"},
        {"X=${{ none }}\nt", "unset -v X\nt"},
        {"if X=${{ none }}; then t; fi", "if unset -v X; then t; fi"},
        {"Y=1 X=${{ none }}", "Y=1 X=''"},
        {"export X=${{ none }} Y=${{ lr }}", "export X Y='0.1'"},
        {"env X=${{ none }} t", "env  t"},
        {"(t --m ${{ none }}) && { u --m ${{ none }}; }", "(t ) && { u ; }"},
        {"x=$(t --m ${{ none }} y)", "x=$(t  y)"},
        {"x=\"$(t --m ${{ none }})\" u ${{ none }}", "x=\"$(t )\" u "},
        {"diff <(t) --m ${{ none }}", "diff <(t) "},
        {"t --m # x\n${{ none }}", "t --m # x\n''"},
        {"t --m\n${{ none }}", "t --m\n''"},
        {"[ -z ${{ none }} ] && test -n ${{ none }}",
         "[ -z '' ] && test -n ''"},
        {"if ! [ ${{ none }} = 1 ]; then t ${{ none }}; fi",
         "if ! [ '' = 1 ]; then t ; fi"},
        {"case ${{ none }} in a) t ${{ none }};; esac",
         "case '' in a) t ;; esac"},
        {"for x in ${{ none }}; do t ${{ none }}; done",
         "for x in ; do t ; done"},
        {"t >${{ none }} 2>&1 ${{ none }}", "t >'' 2>&1 "},
        {"t \"\"${{ none }} ''${{ none }}", "t \"\"'' ''''"},
        {"t \"$x\"=${{ none }}", "t \"$x\"=''"},
        {"${{ none }} x", "'' x"},
        {"t a-${{ none }} ${{ none }},${{ none }}", "t a-'' "},
        {"t --m=${{ none }}$${{ x }}", "t --m=''${{ x }}"},
    };
    struct value values[ARRAY_LEN(columns)];

    fill(values, "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct template *template =
            create(*state, cases[i].text, TEMPLATE_SHELL, NULL);
        struct buf out = BUF_INIT;

        assert_non_null(template);
        assert_int_equal(template_expand(template, values, &out, NULL), 0);
        if (strcmp(buf_text(&out), cases[i].expected) != 0)
            fail_msg("%s: %s", cases[i].text, buf_text(&out));
        buf_clear(&out);
        template_destroy(template);
    }
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

/* ---- lists of arguments ---- */

static const size_t arguments[] = {0, 2, 3, 4, 5};
static const struct expr_table with_arguments = {
    .columns = columns,
    .column_count = ARRAY_LEN(columns),
    .arguments = arguments,
    .argument_count = ARRAY_LEN(arguments),
};

static void test_template__lists_all_arguments(void **state)
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

static void test_template__overrides_are_quoted_where_hydra_needs_it(
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

static void test_template__a_list_of_arguments_is_a_word(void **state)
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
        {TEMPLATE_WORDS, "t ${{ args(x) }}", 7, "unknown function 'args'"},
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

static void test_template__a_script_lists_all_arguments(void **state)
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
        {TEMPLATE_SHELL, "x=(${{ lr }})", 1, 4, "behind an array"},
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

/* What the shell prints for the script. */
static char *output_of(const char *shell, const char *script)
{
    struct buf out = BUF_INIT;
    char piece[4096];
    ssize_t length;
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execlp(shell, shell, "-c", script, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while ((length = read(ends[0], piece, sizeof(piece))) > 0)
        buf_add(&out, piece, (size_t)length);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return buf_take(&out);
}

static void assert_shell(struct template *template, const char *shell,
                         const char *v)
{
    struct value values[ARRAY_LEN(columns)];
    struct buf script = BUF_INIT;
    char *actual, *expected = mem_printf("[%s]", v);

    fill(values, v);
    assert_int_equal(template_expand(template, values, &script, NULL), 0);
    actual = output_of(shell, buf_text(&script));
    if (strcmp(actual, expected) != 0)
        fail_msg("%s: %s: %s", shell, buf_text(&script), actual);
    free(actual);
    free(expected);
    buf_clear(&script);
}

static void test_template__shells_read_a_value_as_one_word(void **state)
{
    static const char *const scripts[] = {
        "printf '[%s]' ${{ v }}",
        "printf \"[%s]\" ${{ v }} # it's \"",
        "x=${{ v }}; printf '[%s]' \"$x\"",
        "printf '[%s]' \"$(printf %s.  ${{ v }} | sed '$s/\\.$//')\"",
        "# don't\nprintf '[%s]' ${{ v }}",
        "(printf '[%s]' ${{ v }})",
        "echo $# $((1 + (2))) `echo a` >&2 2>/dev/null; "
        "printf '[%s]' ${{ v }}",
        "y=${HOME:-$x}${#x}\"${x}\"; printf '[%s]' ${{ v }}",
        "case x in x) printf '[%s]' ${{ v }};; esac",
        "if [ ${{ v }} = ${{ v }} ]; then printf '[%s]' ${{ v }}; fi",
        "printf '[%s]' \"\"''${{ v }}\"\"",
        "x=\"$'\"; printf '[%s]' ${{ v }}",
        "x=$$; printf '[%s]' ${{ v }}",
        "(cd /; printf '[%s]' ${{ v }})",
        "x='$${{ y'; printf '[%s]' ${{ v }}",
        "# $${{ x\nprintf '[%s]' ${{ v }}",
    };
    static const char *const values[] = {
        "a b",       "$(echo x)", "`echo x`", "; echo x",     "x\ny z",
        "it's",      "\"",        "\\",       "'; echo x; '", "$HOME",
        "' \" ` $(", "*",         "#",        "!!",           "a'\\''b",
    };
    static const char *const shells[] = {"sh", "bash"};

    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct err err;
        struct template *template =
            create(*state, scripts[i], TEMPLATE_SHELL, &err);

        if (template == NULL)
            fail_msg("%s: %s", scripts[i], err.text);
        for (size_t j = 0; j < ARRAY_LEN(values) * ARRAY_LEN(shells); j++)
            assert_shell(template, shells[j % 2], values[j / 2]);
        template_destroy(template);
    }
}

/* Whether the shell takes what comes behind is between the two of them. */
static void test_template__a_value_is_safe_before_a_loose_end(void **state)
{
    static const char *const scripts[] = {
        "echo ${{ lr }} `x \\",
        "echo ${{ lr }} \\",
        "echo ${{ lr }} ${x:-$",
        "echo ${{ lr }} $$",
    };

    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct template *template =
            create(*state, scripts[i], TEMPLATE_SHELL, NULL);
        struct value values[ARRAY_LEN(columns)];
        struct buf script = BUF_INIT;

        fill(values, "");
        assert_int_equal(template_expand(template, values, &script, NULL), 0);
        assert_memory_equal(buf_text(&script), "echo '0.1' ", 11);
        assert_string_equal(buf_text(&script) + 11, scripts[i] + 15);
        buf_clear(&script);
        template_destroy(template);
    }
}

static void test_template__shell_nesting_is_bounded(void **state)
{
    struct buf text = BUF_INIT;
    struct err err;

    for (int i = 0; i < 100; i++)
        buf_add_string(&text, "$(");
    buf_add_string(&text, "${{ lr }}");
    assert_null(create(*state, buf_text(&text), TEMPLATE_SHELL, &err));
    assert_non_null(strstr(err.text, "put the value in a variable first"));
    buf_clear(&text);
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

static void test_shell__quotes_a_word_where_it_has_to(void **state)
{
    static const char *const cases[][2] = {
        {"train.py", "train.py"},
        {"--lr=0.1", "--lr=0.1"},
        {"/a-b/c:d", "/a-b/c:d"},
        {"", "''"},
        {"two words", "'two words'"},
        {"it's", "'it'\\''s'"},
        {"~", "'~'"},
        {"$HOME", "'$HOME'"},
        {"=ls", "'=ls'"},
        {"a\nb", "'a\nb'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = BUF_INIT;

        shell_add_word(cases[i][0], &out);
        assert_string_equal(buf_text(&out), cases[i][1]);
        buf_clear(&out);
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
        cmocka_unit_test(test_template__null_leaves_its_word_of_a_script_out),
        cmocka_unit_test(test_template__a_text_is_null_as_a_whole),
        cmocka_unit_test(test_template__numbers_keep_their_form),
        cmocka_unit_test(test_template__lists_all_arguments),
        cmocka_unit_test(
            test_template__overrides_are_quoted_where_hydra_needs_it),
        cmocka_unit_test(test_template__a_list_of_arguments_is_a_word),
        cmocka_unit_test(test_template__a_script_lists_all_arguments),
        cmocka_unit_test(test_template__a_list_is_words_already),
        cmocka_unit_test(test_template__errors_have_a_place),
        cmocka_unit_test(test_template__text_prints_values),
        cmocka_unit_test(test_template__an_error_leaves_the_output_alone),
        cmocka_unit_test(test_template__shells_read_a_value_as_one_word),
        cmocka_unit_test(test_template__a_value_is_safe_before_a_loose_end),
        cmocka_unit_test(test_template__shell_nesting_is_bounded),
        cmocka_unit_test(test_template__finds_expressions_in_text),
        cmocka_unit_test(test_shell__quotes_a_word_where_it_has_to),
        cmocka_unit_test(test_template__size_is_bounded),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
