/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/expr/expr.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Expressions: compiled or refused with a place; the same answer twice. */

static void evaluate(struct expr *expr)
{
    const struct value values[] = {value_real(0.5), value_int(INT64_MAX),
                                   value_text("it's"), value_null()};
    struct value first, second;
    struct err err = {0};

    if (expr_eval(expr, values, &first, &err) < 0) {
        assert(err.text[0] != '\0');
        return;
    }
    if (first.type == VALUE_TEXT) {
        char *text = mem_copy_string(first.text);

        assert(expr_eval(expr, values, &second, &err) == 0);
        assert(second.type == VALUE_TEXT && strcmp(text, second.text) == 0);
        free(text);
    } else {
        assert(expr_eval(expr, values, &second, &err) == 0);
        assert(value_equal(&first, &second));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"lr", "width", "name"};
    static const char *const outputs[] = {"loss"};
    static const struct expr_table tables[] = {
        {.table = NULL, .columns = columns, .column_count = ARRAY_LEN(columns)},
        {.table = "train",
         .columns = outputs,
         .column_count = ARRAY_LEN(outputs)},
    };
    char *text = mem_copy_bytes(data, size);
    struct err err = {0};
    struct expr_env *env = expr_env_create(&err);
    struct expr *expr =
        expr_compile(env, text, tables, ARRAY_LEN(tables), &err);

    assert(env != NULL);
    if (expr != NULL)
        evaluate(expr);
    else
        assert(err.column >= 1 && (size_t)err.column <= strlen(text) + 1);
    expr_destroy(expr);
    expr_env_destroy(env);
    free(text);
    return 0;
}
