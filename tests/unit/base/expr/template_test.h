/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_BASE_EXPR_TEMPLATE_TEST_H
#define SMTUNE_TESTS_UNIT_BASE_EXPR_TEMPLATE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/template.h"

/* Templates of a table of six columns, and the words of one. */

static const char *const columns[] = {"lr", "width", "opt", "none", "v", "on"};
static const struct expr_table table = {.columns = columns,
                                        .column_count = ARRAY_LEN(columns)};

UNUSED static void fill(struct value values[ARRAY_LEN(columns)], const char *v)
{
    values[0] = value_real(0.1);
    values[1] = value_int(-5);
    values[2] = value_text("sgd");
    values[3] = value_null();
    values[4] = value_text(v);
    values[5] = value_bool(true);
}

UNUSED static int setup(void **state)
{
    *state = expr_env_create(NULL);
    return *state == NULL ? -1 : 0;
}

UNUSED static int teardown(void **state)
{
    expr_env_destroy(*state);
    return 0;
}

UNUSED static struct template *create(struct expr_env *env, const char *text,
                                      enum template_mode mode, struct err *err)
{
    return template_create(env, text, mode, &table, 1, err);
}

/* The words, each in brackets; or the error. */
UNUSED static char *words_of(struct template *template, const char *v)
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

#endif
