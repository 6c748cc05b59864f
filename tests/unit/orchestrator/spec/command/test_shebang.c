/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/word_list.h"
#include "orchestrator/spec/command/shebang.h"

/* What Linux executes for each first line, words apart by |. */
static void test_shebang__words_are_those_of_linux(void **state)
{
    static const struct {
        const char *script, *words;
        bool is_shell;
    } cases[] = {
        {"#!/bin/sh\necho", "/bin/sh|S", true},
        {"#! /bin/bash -eu \necho", "/bin/bash|-eu|S", true},
        {"#!/usr/bin/env bash\n", "/usr/bin/env|bash|S", true},
        {"#!/usr/bin/env -S zsh -f\n", "/usr/bin/env|-S zsh -f|S", true},
        {"#!/usr/bin/env python3\n", "/usr/bin/env|python3|S", false},
        {"#!/usr/bin/env -S python3 -u\n", "/usr/bin/env|-S python3 -u|S",
         false},
        {"#!/usr/bin/Rscript --vanilla\r\n1", "/usr/bin/Rscript|--vanilla|S",
         false},
        {"#!/opt/bash/bin/perl -w", "/opt/bash/bin/perl|-w|S", false},
        {"#!sh", "sh|S", true},
        {"#!\n/bin/sh", NULL, false},
        {"#! \t", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char **words = shebang_words(cases[i].script, "S");
        struct buf text = BUF_INIT;

        assert_true(shebang_is_in(cases[i].script));
        for (size_t k = 0; words != NULL && words[k] != NULL; k++)
            buf_printf(&text, "%s%s", k > 0 ? "|" : "", words[k]);
        if (words == NULL)
            assert_null(cases[i].words);
        else
            assert_string_equal(buf_text(&text), cases[i].words);
        assert_int_equal(shebang_is_shell(cases[i].script), cases[i].is_shell);
        buf_clear(&text);
        words_free(words);
    }
    assert_false(shebang_is_in("# !/bin/sh"));
    assert_false(shebang_is_in(" #!/bin/sh"));
    assert_false(shebang_is_in("#"));
    assert_false(shebang_is_shell("echo /bin/sh"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shebang__words_are_those_of_linux),
    };

    return cmocka_run_group_tests_name("shebang", tests, NULL, NULL);
}
