/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parser of templates: one pass over the text, in one of three modes (see
 * base/expr/template.h). It cuts the text into literals and compiled
 * expressions.
 *
 * In every mode a marker is recognized first, so that `${{` means the same
 * within quotes and outside of them. Words are split here, before values exist.
 * In a shell script, base/expr/template_shell.c follows the script's syntax
 * byte by byte and decides whether a value may be inserted at the current
 * place.
 *
 * An error carries line and column within the text. Columns count characters,
 * not bytes.
 */
#include "base/expr/template_parts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/expr/template_shell.h"
#include "base/mem.h"
#include "base/text.h"

enum { EXPRESSIONS_MAX = 1000 };

struct parser {
    struct template *template;
    struct expr_env *env;
    const struct expr_table *tables;
    size_t table_count;
    const char *text;
    const char *at;
    struct buf literal; /* not yet a part */
    bool in_word;
    struct shell_scan shell;
    struct err *err;
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The error's place: line and column of `at`. Always -1. */
static int place(const struct parser *p, const char *at)
{
    const char *line = p->text;

    if (p->err == NULL)
        return -1;
    p->err->line = 1;
    p->err->column = 1;
    for (const char *c = p->text; c < at; c++)
        if (*c == '\n') {
            p->err->line++;
            line = c + 1;
        }
    for (; line < at; line++)
        p->err->column += ((unsigned char)*line & 0xc0) != 0x80;
    return -1;
}

static struct part *add_part(struct template *template)
{
    template->parts =
        mem_grow(template->parts, template->part_count,
                 &template->part_capacity, sizeof(*template->parts));
    template->parts[template->part_count] = (struct part){NULL, NULL};
    return &template->parts[template->part_count++];
}

static void end_literal(struct parser *p)
{
    if (p->literal.length > 0)
        add_part(p->template)->literal = buf_take(&p->literal);
}

static void begin_word(struct parser *p)
{
    struct template *template = p->template;

    if (p->in_word)
        return;
    p->in_word = true;
    template->words =
        mem_grow(template->words, template->word_count,
                 &template->word_capacity, sizeof(*template->words));
    template->words[template->word_count++] =
        (struct word){.first = template->part_count};
}

static void end_word(struct parser *p)
{
    struct template *template = p->template;
    struct word *word;

    if (!p->in_word)
        return;
    end_literal(p);
    p->in_word = false;
    word = &template->words[template->word_count - 1];
    word->count = template->part_count - word->first;
}

/* The }} that ends the expression at `at`; those in quotes do not. */
static const char *expression_end(const char *at)
{
    char quote = 0;

    for (; *at != '\0'; at++) {
        if (quote != 0)
            quote = *at == quote ? 0 : quote;
        else if (*at == '\'' || *at == '"')
            quote = *at;
        else if (starts_with(at, "}}"))
            return at;
    }
    return NULL;
}

const char *template_find_expression(const char *text, size_t *length)
{
    const char *start, *end;

    while ((start = strstr(text, "${{")) != NULL && start > text &&
           start[-1] == '$')
        text = start + strlen("${{");
    if (start == NULL)
        return NULL;
    start += strlen("${{");
    end = expression_end(start);
    *length = end != NULL ? (size_t)(end - start) : strlen(start);
    return start;
}

static int expression(struct parser *p)
{
    const char *start = p->at + strlen("${{");
    const char *end = expression_end(start);
    struct expr *expr;
    struct err why;
    char *text;

    if (end == NULL) {
        err_set(p->err, ERR_FILE, "missing }} of this ${{");
        return place(p, p->at);
    }
    if (p->template->expr_count == EXPRESSIONS_MAX) {
        err_set(p->err, ERR_FILE, "more than %d expressions", EXPRESSIONS_MAX);
        return place(p, p->at);
    }
    text = mem_copy_bytes(start, (size_t)(end - start));
    expr = expr_compile(p->env, text, p->tables, p->table_count, &why);
    free(text);
    if (expr == NULL) {
        err_set(p->err, why.kind, "%s", why.text);
        return place(p, text_skip_runes(start, why.column - 1));
    }
    end_literal(p);
    add_part(p->template)->expr = expr;
    p->template->expr_count++;
    p->at = end + strlen("}}");
    return 0;
}

/* Takes a `${{ }}` or a `$${{`, wherever they stand: 1; 0 when neither is
 * here; -1 on error. */
static int take_marker(struct parser *p)
{
    if (starts_with(p->at, "$${{")) {
        buf_add_string(&p->literal, "${{");
        p->at += strlen("$${{");
        return 1;
    }
    if (!starts_with(p->at, "${{"))
        return 0;
    return expression(p) < 0 ? -1 : 1;
}

static int parse_text(struct parser *p)
{
    while (*p->at != '\0') {
        int rc = take_marker(p);

        if (rc < 0)
            return -1;
        if (rc == 0)
            buf_add_char(&p->literal, *p->at++);
    }
    end_literal(p);
    return 0;
}

static int parse_shell(struct parser *p)
{
    while (*p->at != '\0') {
        const char *refusal = shell_scan_refusal(&p->shell);
        size_t length;

        if (starts_with(p->at, "$${{")) {
            shell_scan_literal(&p->shell);
            take_marker(p);
        } else if (!starts_with(p->at, "${{")) {
            length = shell_scan_step(&p->shell, p->at);
            buf_add(&p->literal, p->at, length);
            p->at += length;
        } else if (refusal != NULL) {
            err_set(p->err, ERR_FILE, "a ${{ }} is not allowed %s", refusal);
            return place(p, p->at);
        } else if (expression(p) < 0) {
            return -1;
        } else {
            shell_scan_value(&p->shell);
        }
    }
    end_literal(p);
    return 0;
}

static void take_backslash(struct parser *p, char quote)
{
    char next = p->at[1];

    if (next == '\0' || (quote == '"' && strchr("$`\"\\\n", next) == NULL)) {
        buf_add_char(&p->literal, *p->at++);
        return;
    }
    if (next != '\n')
        buf_add_char(&p->literal, next);
    p->at += 2;
}

/* From behind the opening quote to behind the closing one. */
static int parse_quoted(struct parser *p)
{
    const char *open = p->at++;

    while (*p->at != *open) {
        int rc = take_marker(p);

        if (rc < 0)
            return -1;
        if (rc > 0)
            continue;
        if (*p->at == '\0') {
            err_set(p->err, ERR_FILE, "missing closing %c", *open);
            return place(p, open);
        }
        if (*p->at == '\\' && *open == '"')
            take_backslash(p, *open);
        else
            buf_add_char(&p->literal, *p->at++);
    }
    p->at++;
    return 0;
}

static int parse_word_piece(struct parser *p)
{
    int rc;

    begin_word(p);
    if (*p->at == '\'' || *p->at == '"')
        return parse_quoted(p);
    rc = take_marker(p);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (*p->at == '\\')
        take_backslash(p, 0);
    else
        buf_add_char(&p->literal, *p->at++);
    return 0;
}

static int parse_words(struct parser *p)
{
    while (*p->at != '\0') {
        if (strchr(" \t\r\n", *p->at) != NULL) {
            end_word(p);
            p->at++;
        } else if (starts_with(p->at, "\\\n")) {
            p->at += 2;
        } else if (parse_word_piece(p) < 0) {
            return -1;
        }
    }
    end_word(p);
    return 0;
}

/* Ends a parse that returned rc: without a template where it failed. */
static void finish(struct parser *p, int rc)
{
    buf_clear(&p->literal);
    if (rc == 0 && p->template->mode == TEMPLATE_WORDS &&
        p->template->word_count == 0) {
        rc = err_set(p->err, ERR_FILE, "the command is empty");
        if (p->err != NULL)
            p->err->line = p->err->column = 1;
    }
    if (rc == 0)
        return;
    template_destroy(p->template);
    p->template = NULL;
}

struct template *template_create(struct expr_env *env, const char *text,
                                 enum template_mode mode,
                                 const struct expr_table *tables,
                                 size_t table_count, struct err *err)
{
    static int (*const parse[])(struct parser *) = {
        [TEMPLATE_WORDS] = parse_words,
        [TEMPLATE_SHELL] = parse_shell,
        [TEMPLATE_TEXT] = parse_text,
    };
    struct parser p = {.template = mem_zero(sizeof(*p.template)),
                       .env = env,
                       .tables = tables,
                       .table_count = table_count,
                       .text = text,
                       .at = text,
                       .shell = SHELL_SCAN_INIT,
                       .err = err};

    p.template->mode = mode;
    p.template->source = mem_copy_string(text);
    finish(&p, parse[mode](&p));
    return p.template;
}

struct template *template_create_words(struct expr_env *env,
                                       const char *const *words, size_t count,
                                       const struct expr_table *tables,
                                       size_t table_count, struct err *err)
{
    struct parser p = {.template = mem_zero(sizeof(*p.template)),
                       .env = env,
                       .tables = tables,
                       .table_count = table_count,
                       .err = err};
    struct buf source = BUF_INIT;
    int rc = 0;

    p.template->mode = TEMPLATE_WORDS;
    for (size_t i = 0; i < count; i++)
        buf_printf(&source, "%s%s", i > 0 ? " " : "", words[i]);
    p.template->source = buf_take(&source);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        p.text = p.at = words[i];
        begin_word(&p);
        rc = parse_text(&p);
        end_word(&p);
        if (rc < 0 && err != NULL) {
            err->line = 1;
            err->column = (int)i + 1;
        }
    }
    finish(&p, rc);
    return p.template;
}
