/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/each/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "cli/each/input.h"

enum { WORDS_MAX = 8 };

static char name[] = "name", with_dot[] = "a.b", quoted[] = "it's";
static char *const columns[] = {name, with_dot, quoted};

/* The templates in brackets, or the error. */
static char *build(const struct each_input *input, const char *const *words,
                   bool is_shell)
{
    struct each_command command;
    struct buf out = BUF_INIT;
    struct err err;
    size_t count = 0;

    while (count < WORDS_MAX && words[count] != NULL)
        count++;
    if (each_command_build(&command, input, words, count, is_shell, &err) != 0)
        buf_printf(&out, "error: %s", err.text);
    else
        for (size_t i = 0; i < json_array_size(command.words); i++)
            buf_printf(&out, "[%s]",
                       json_string_value(json_array_get(command.words, i)));
    each_command_clear(&command);
    return buf_take(&out);
}

static void test_each_command__of_lines(void **state)
{
    static const struct {
        const char *words[WORDS_MAX];
        bool is_shell;
        const char *expected;
    } cases[] = {
        {{"a", "{}"}, false, "[a][${{ line }}]"},
        {{"a"}, false, "[a][${{ line }}]"},
        {{"a", "b c"}, false, "[a][b c][${{ line }}]"},
        {{"{}"}, false, "[${{ line }}]"},
        {{"a", "{.}", "{/}", "{//}", "{/.}", "{#}"},
         false,
         "[a][${{ strip_extension(line) }}][${{ basename(line) }}]"
         "[${{ dirname(line) }}][${{ strip_extension(basename(line)) }}]"
         "[${{ copy + 1 }}]"},
        {{"a", "x{}y{}z"}, false, "[a][x${{ line }}y${{ line }}z]"},
        {{"a", "{print $1}", "{x}", "{a,b}", "{"},
         false,
         "[a][{print $1}][{x}][{a,b}][{][${{ line }}]"},
        {{"a", "\\{}", "\\\\{}", "\\{x}"},
         false,
         "[a][{}][\\{}][\\{x}][${{ line }}]"},
        {{"a", "${{ x }}", "{}"}, false, "[a][$${{ x }}][${{ line }}]"},
        {{"a", "$${{ x }}", "{}"}, false, "[a][$$${{ x }}][${{ line }}]"},
        {{"a", "${}"}, false, "[a][${{ '$' }}${{ line }}]"},
        {{"a", "${{}}"}, false, "[a][${${{ line }}}]"},
        {{"a", "s/x\\{2\\}/y/", "{}"},
         false,
         "[a][s/x\\{2\\}/y/][${{ line }}]"},
        {{"a", ""}, false, "[a][][${{ line }}]"},
        {{"a", "{}", "|", "b"}, true, "[a ${{ line }} | b]"},
        {{"a ${x} ${} {}"}, true, "[a ${x} ${} ${{ line }}]"},
        {{"a | b"}, true, "[a | b ${{ line }}]"},
        {{NULL}, true, "[/bin/sh][-c][${{ line }}]"},
        {{"no such file"},
         false,
         "error: 'no such file' is one word, and no shell splits it (use "
         "--shell, or leave out the quotes)"},
        {{"a", "\xff"}, false, "error: '\\xff' is not UTF-8"},
    };
    const struct each_input input = {.path = "f"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *built = build(&input, cases[i].words, cases[i].is_shell);

        assert_string_equal(built, cases[i].expected);
        free(built);
    }
}

static void test_each_command__of_tables(void **state)
{
    static const struct {
        const char *words[WORDS_MAX];
        bool is_shell;
        const char *expected;
    } cases[] = {
        {{"a", "{name}", "{a.b}", "{it's}"},
         false,
         "[a][${{ field(line, 'name') }}][${{ field(line, 'a.b') }}]"
         "[${{ field(line, 'it''s') }}]"},
        {{"a", "{name.}", "{name//}", "{a.b/.}"},
         false,
         "[a][${{ strip_extension(field(line, 'name')) }}]"
         "[${{ dirname(field(line, 'name')) }}]"
         "[${{ strip_extension(basename(field(line, 'a.b'))) }}]"},
        {{"a", "{}", "{/}"},
         false,
         "[a][${{ field(line, '{}') }}][${{ basename(field(line, '{}')) }}]"},
        {{"a", "{1}", "{3}", "{4}"},
         false,
         "[a][${{ field(line, 'name') }}][${{ field(line, 'it''s') }}][{4}]"},
        {{"a", "{#}"}, false, "[a][${{ copy + 1 }}]"},
        {{"a", "\\{nam}", "\\{name}", "{print $1}", "{name}"},
         false,
         "[a][{nam}][{name}][{print $1}][${{ field(line, 'name') }}]"},
        {{"echo ${HOME} {name}"},
         true,
         "[echo ${HOME} ${{ field(line, 'name') }}]"},
        {{"a", "{nam}"},
         false,
         "error: 'f' has no column 'nam' (did you mean '{name}'?)"},
        {{"a", "{other}"},
         false,
         "error: 'f' has no column 'other' (write \\{other} for this text "
         "itself)"},
        {{"a"},
         false,
         "error: COMMAND uses no column of 'f' (columns: {name}, {a.b}, "
         "{it's})"},
    };
    const struct each_input input = {
        .path = "f",
        .format = EACH_CSV,
        .columns = (char **)(uintptr_t)columns,
        .column_count = ARRAY_LEN(columns),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *built = build(&input, cases[i].words, cases[i].is_shell);

        assert_string_equal(built, cases[i].expected);
        free(built);
    }
}

static void test_each_command__what_it_reads(void **state)
{
    static const char *const words[] = {"a", "{it's}"};
    const struct each_input input = {
        .path = "f",
        .format = EACH_CSV,
        .columns = (char **)(uintptr_t)columns,
        .column_count = ARRAY_LEN(columns),
    };
    struct each_command command;

    (void)state;
    assert_int_equal(
        each_command_build(&command, &input, words, 2, false, NULL), 0);
    assert_false(command.uses[0]);
    assert_true(command.uses[2]);
    assert_false(command.uses_line);
    assert_true(command.computes);
    each_command_clear(&command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_command__of_lines),
        cmocka_unit_test(test_each_command__of_tables),
        cmocka_unit_test(test_each_command__what_it_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
