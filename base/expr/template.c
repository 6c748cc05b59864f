/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expansion of a parsed template. base/expr/template_parse.c makes it a list of
 * parts, each a literal, an expression or a list of arguments, and for commands
 * a list of words over these parts.
 *
 * The words of a command are fixed before any value is known. Expansion fills
 * them and may leave one out, but a value never becomes a second word or an
 * option. For a shell the same holds because base/expr/template_shell.c refuses
 * every place where quoting would not be enough.
 */
#include "base/expr/template.h"

#include <ctype.h>
#include <stdint.h>
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
    for (size_t i = 0; i < template->argument_count; i++)
        free(template->arguments[i].name);
    free(template->arguments);
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
    for (size_t i = 0; i < template->argument_count; i++)
        if (template->arguments[i].column == index)
            return true;
    return false;
}

/* ---- what is null ---- */

/* The value of a word, read part by part. */
struct reading {
    bool is_value; /* behind the first '=' */
    bool is_bare;  /* without '=', its templates are nothing but names */
    bool has_null, has_value, has_text;
};

/* What is before '=' is no part of the value. */
static void read_literal(struct reading *reading, const char *literal)
{
    for (; *literal != '\0'; literal++) {
        unsigned char c = (unsigned char)*literal;

        if (c == '=' && !reading->is_value)
            *reading = (struct reading){.is_value = true};
        else
            reading->has_text |= isalnum(c) || c >= 0x80;
    }
}

static int read_expr(struct reading *reading, struct expr *expr,
                     const struct value *values, struct err *err)
{
    struct value value;

    if (expr_eval(expr, values, &value, err) < 0)
        return -1;
    if (value_is_null(&value))
        reading->has_null = true;
    else
        reading->has_value = true;
    reading->is_bare &= expr_is_name(expr);
    return 0;
}

/* -x of a word that goes on with a value: it goes where the value is null, as a
 * name before '=' does. */
static bool is_short_option(const char *literal)
{
    return literal[0] == '-' && isalpha((unsigned char)literal[1]) &&
           literal[2] == '\0';
}

/* 1: the parts are null as a whole; 0; -1 on error. *is_bare, unless NULL:
 * then the option before goes with them. */
static int is_null(const struct template *template, const struct word *word,
                   const struct value *values, bool *is_bare, struct err *err)
{
    struct reading reading = {.is_bare = true};

    for (size_t i = word->first; i < word->first + word->count; i++) {
        const struct part *part = &template->parts[i];

        if (part->literal != NULL && i == word->first &&
            is_short_option(part->literal))
            reading.is_bare = false;
        else if (part->literal != NULL)
            read_literal(&reading, part->literal);
        else if (part->expr == NULL)
            return 0;
        else if (read_expr(&reading, part->expr, values, err) < 0)
            return -1;
    }
    if (is_bare != NULL)
        *is_bare = reading.is_bare;
    return reading.has_null && !reading.has_value && !reading.has_text;
}

bool template_is_option(const char *word)
{
    if (word[0] != '-' || strchr(word, '=') != NULL)
        return false;
    return word[1] == '-' ? word[2] != '\0' : isalpha((unsigned char)word[1]);
}

int template_is_null(struct template *template, const struct value *values,
                     struct err *err)
{
    const struct word all = {.first = 0, .count = template->part_count};

    return is_null(template, &all, values, NULL, err);
}

/* ---- scripts and texts ---- */

static void expand_list(const struct template *template,
                        const struct part *part, const struct value *values,
                        struct buf *out)
{
    struct word_list words = {NULL, 0, 0};

    template_list_arguments(template, part->list, values, &words);
    for (size_t i = 0; i < words.count; i++) {
        if (i > 0)
            buf_add_char(out, ' ');
        shell_quote(words.items[i], out);
    }
    words_free(words.items);
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
    if (part->expr == NULL) {
        expand_list(template, part, values, out);
        return 0;
    }
    if (expr_eval(part->expr, values, &value, err) < 0)
        return -1;
    if (part->files != FILES_NONE && !value_is_null(&value))
        template_print_files(template, part, &value, values, &printed);
    else
        value_print_argument(&value, &printed);
    if (template->mode != TEMPLATE_SHELL) {
        buf_add_string(out, buf_text(&printed));
        buf_clear(&printed);
        return 0;
    }
    shell_quote(buf_text(&printed), out);
    buf_clear(&printed);
    return 0;
}

static int expand_parts(const struct template *template, size_t first,
                        size_t end, const struct value *values, struct buf *out,
                        struct err *err)
{
    for (size_t i = first; i < end; i++)
        if (expand_part(template, &template->parts[i], values, out, err) < 0)
            return -1;
    return 0;
}

static void add_rest(const struct template *template, const struct word *word,
                     struct buf *out)
{
    const char *literal = template->parts[word->first].literal;

    if (word->rest == REST_NOTHING)
        return;
    if (word->rest == REST_UNSET)
        buf_add_string(out, "unset -v ");
    buf_add(out, literal, strcspn(literal, "="));
}

/* Without the words that are left out. */
static int expand_all(const struct template *template,
                      const struct value *values, struct buf *out,
                      struct err *err)
{
    size_t done = 0;

    for (size_t i = 0; i < template->word_count; i++) {
        const struct word *word = &template->words[i];
        bool is_bare = false;
        int null = is_null(template, word, values, &is_bare, err);
        size_t end = word->first;

        if (null < 0)
            return -1;
        if (null && is_bare && word->option != NO_OPTION)
            end = word->option;
        if (expand_parts(template, done, end, values, out, err) < 0)
            return -1;
        if (null)
            add_rest(template, word, out);
        done = word->first + (null ? word->count : 0);
    }
    return expand_parts(template, done, template->part_count, values, out, err);
}

int template_expand(struct template *template, const struct value *values,
                    struct buf *out, struct err *err)
{
    size_t before = out->length;

    if (expand_all(template, values, out, err) == 0)
        return 0;
    buf_truncate(out, before);
    return -1;
}

/* ---- words ---- */

/* A command under way. */
struct expansion {
    const struct template *template;
    const struct value *values;
    struct word_list words;
    size_t last; /* the template's word that the last one comes from */
    struct err *err;
};

/* Whether the last word is an option that word `i` is the value of: with a
 * template in it only as --NAME, since -x may have its value in the same word.
 */
static bool is_behind_option(const struct expansion *e, size_t i)
{
    const struct word *word = &e->template->words[i - 1];
    const char *literal =
        word->count > 0 ? e->template->parts[word->first].literal : NULL;

    if (e->last != i - 1 || literal == NULL || literal[0] != '-' ||
        !template_is_option(e->words.items[e->words.count - 1]))
        return false;
    return word->count == 1 || strncmp(literal, "--", 2) == 0;
}

static int expand_word(struct expansion *e, size_t i)
{
    const struct template *template = e->template;
    const struct word *word = &template->words[i];
    struct buf out = BUF_INIT;

    if (word->count == 1 && template->parts[word->first].list != LIST_NONE) {
        template_list_arguments(template, template->parts[word->first].list,
                                e->values, &e->words);
        return 0;
    }
    if (expand_parts(template, word->first, word->first + word->count,
                     e->values, &out, e->err) < 0) {
        buf_clear(&out);
        return -1;
    }
    word_list_add(&e->words, buf_take(&out));
    e->last = i;
    return 0;
}

static int take_word(struct expansion *e, size_t i)
{
    bool is_bare = false;
    int null = is_null(e->template, &e->template->words[i], e->values, &is_bare,
                       e->err);

    if (null == 0)
        return expand_word(e, i);
    if (null > 0 && i == 0)
        return err_set(e->err, ERR_FAILED, "the command's program is null");
    if (null > 0 && is_bare && is_behind_option(e, i)) {
        word_list_drop(&e->words);
    }
    return null < 0 ? -1 : 0;
}

char **template_expand_words(struct template *template,
                             const struct value *values, struct err *err)
{
    struct expansion e = {.template = template, .values = values, .err = err};

    for (size_t i = 0; i < template->word_count; i++) {
        if (take_word(&e, i) == 0)
            continue;
        words_free(e.words.items);
        return NULL;
    }
    return e.words.items;
}
