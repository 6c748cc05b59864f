/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/template_shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/template.h"
#include "base/mem.h"
#include "tests/unit/base/expr/template_test.h"

static void test_template_shell__null_leaves_its_word_out(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"t --m ${{ none }} --lr ${{ lr }}", "t  --lr '0.1'"},
        {"t --m=${{ none }} x", "t  x"},
        {"t -j${{ none }} -j${{ lr }} x", "t  -j'0.1' x"},
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

static void test_template_shell__a_value_is_one_word(void **state)
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
static void test_template_shell__a_value_is_safe_before_a_loose_end(
    void **state)
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

static void test_template_shell__nesting_is_bounded(void **state)
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

static void test_template_shell__quotes_a_word_where_it_has_to(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template_shell__null_leaves_its_word_out),
        cmocka_unit_test(test_template_shell__a_value_is_one_word),
        cmocka_unit_test(
            test_template_shell__a_value_is_safe_before_a_loose_end),
        cmocka_unit_test(test_template_shell__nesting_is_bounded),
        cmocka_unit_test(test_template_shell__quotes_a_word_where_it_has_to),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
