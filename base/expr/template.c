/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expansion of a parsed template. base/expr/template_parse.c makes it a list of
 * parts, each a literal or an expression, and for commands a list of words over
 * these parts.
 *
 * The words of a command are fixed before any value is known. Expansion fills
 * them and may drop one, but a value never becomes a second word or an option.
 * For a shell the same holds because base/expr/template_shell.c refuses every
 * place where quoting would not be enough.
 */
#include "base/expr/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/expr/template_parts.h"
#include "base/expr/template_shell.h"
#include "base/mem.h"

void template_destroy(struct template *template)
{
    if (template == NULL)
        return;
    for (size_t i = 0; i < template->part_count; i++) {
        free(template->parts[i].literal);
        expr_destroy(template->parts[i].expr);
    }
    free(template->source);
    free(template->parts);
    free(template->words);
    free(template);
}

const char *template_source(const struct template *template)
{
    return template->source;
}

bool template_uses(const struct template *template, size_t index)
{
    for (size_t i = 0; i < template->part_count; i++) {
        const struct expr *expr = template->parts[i].expr;

        if (expr != NULL && expr_uses(expr, index))
            return true;
    }
    return false;
}

static int expand_part(const struct template *template, const struct part *part,
                       const struct value *values, struct buf *out,
                       struct err *err)
{
    struct buf printed = BUF_INIT;
    struct value value;

    if (part->literal != NULL) {
        buf_add_string(out, part->literal);
        return 0;
    }
    if (expr_eval(part->expr, values, &value, err) < 0)
        return -1;
    if (template->mode != TEMPLATE_SHELL) {
        value_print(&value, out);
        return 0;
    }
    value_print(&value, &printed);
    shell_quote(buf_text(&printed), out);
    buf_clear(&printed);
    return 0;
}

int template_expand(struct template *template, const struct value *values,
                    struct buf *out, struct err *err)
{
    size_t before = out->length;

    for (size_t i = 0; i < template->part_count; i++)
        if (expand_part(template, &template->parts[i], values, out, err) < 0) {
            buf_truncate(out, before);
            return -1;
        }
    return 0;
}

/* 1 when the word is one expression alone and its value is null. */
static int is_null_word(const struct template *template, size_t i,
                        const struct value *values, struct err *err)
{
    const struct word *word = &template->words[i];
    struct value value;

    if (word->count != 1 || template->parts[word->first].expr == NULL)
        return 0;
    if (expr_eval(template->parts[word->first].expr, values, &value, err) < 0)
        return -1;
    return value.type == VALUE_NULL;
}

/* Whether the word itself, not a value in it, reads as an option. */
static bool is_option(const struct template *template, size_t i)
{
    const struct word *word = &template->words[i];
    const char *literal =
        word->count > 0 ? template->parts[word->first].literal : NULL;

    if (literal == NULL || literal[0] != '-')
        return false;
    return word->count > 1 || strcmp(literal, "--") != 0;
}

static char *expand_word(const struct template *template, size_t i,
                         const struct value *values, struct err *err)
{
    const struct word *word = &template->words[i];
    struct buf out = BUF_INIT;

    for (size_t j = word->first; j < word->first + word->count; j++)
        if (expand_part(template, &template->parts[j], values, &out, err) < 0) {
            buf_clear(&out);
            return NULL;
        }
    return buf_take(&out);
}

char **template_expand_words(struct template *template,
                             const struct value *values, struct err *err)
{
    char **words = mem_array(template->word_count + 1, sizeof(*words));
    size_t count = 0;

    for (size_t i = 0; i < template->word_count; i++) {
        int null = is_null_word(template, i, values, err);

        if (null < 0)
            goto fail;
        if (null && i == 0) {
            err_set(err, ERR_FAILED, "the command's program is null");
            goto fail;
        }
        if (null && is_option(template, i - 1)) {
            free(words[--count]);
            words[count] = NULL;
        }
        if (null)
            continue;
        words[count] = expand_word(template, i, values, err);
        if (words[count++] == NULL)
            goto fail;
    }
    return words;
fail:
    template_free_words(words);
    return NULL;
}

void template_free_words(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}
