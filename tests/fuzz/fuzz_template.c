/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/template.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Templates: a value, however hostile, never adds a word. */

static size_t count_words(struct template *template, const char *text)
{
    const struct value values[] = {value_text(text), value_text(text)};
    struct err err = {0};
    char **words = template_expand_words(template, values, &err);
    size_t count = 0;

    if (words == NULL) {
        assert(err.text[0] != '\0');
        return 0;
    }
    while (words[count] != NULL)
        count++;
    words_free(words);
    return count;
}

/* Each word but the first has a blank of the template itself before it. */
static size_t most_words(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++)
        count += strchr(" \t\r\n", *text) != NULL;
    return count;
}

static void expand(struct template *template)
{
    const struct value values[] = {value_real(1e-300), value_null()};
    struct err err = {0};
    struct buf out = BUF_INIT;

    if (template_expand(template, values, &out, &err) < 0)
        assert(err.text[0] != '\0');
    buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum template_mode modes[] = {TEMPLATE_WORDS, TEMPLATE_SHELL,
                                               TEMPLATE_TEXT};
    static const char *const columns[] = {"a", "b"};
    static const struct expr_table table = {.columns = columns,
                                            .column_count = ARRAY_LEN(columns)};
    enum template_mode mode = size > 0 ? modes[data[0] % 3] : TEMPLATE_TEXT;
    char *text = mem_copy_bytes(data + (size > 0), size > 0 ? size - 1 : 0);
    struct err err = {0};
    struct expr_env *env = expr_env_create(&err);
    struct template *template =
        template_create(env, text, mode, &table, 1, &err);

    if (template == NULL)
        assert(err.line >= 1 && err.column >= 1);
    else if (mode == TEMPLATE_WORDS)
        assert(count_words(template, " '\"; rm -rf $(y) \n${{ a }}") <=
               most_words(text));
    else
        expand(template);
    template_destroy(template);
    expr_env_destroy(env);
    free(text);
    return 0;
}
