/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parser of templates: one pass over the text, in one of three modes (see
 * base/expr/template.h). It cuts the text into literals and compiled
 * expressions.
 *
 * In every mode a marker is recognized first, so that `${{` means the same
 * within quotes and outside of them. Words are split here, before values exist.
 * base/expr/template_script.c parses shell scripts, base/expr/template_parser.c
 * the ${{ }} of every mode.
 *
 * An error carries line and column within the text. Columns count characters,
 * not bytes.
 */
#include "base/expr/template_parser.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* Takes a `${{ }}` or a `$${{`, wherever they stand: 1; 0 when neither is
 * here; -1 on error. */
static int take_marker(struct parser *p)
{
    if (text_begins_with(p->at, "$${{")) {
        template_begin_word(p);
        buf_add_string(&p->literal, "${{");
        p->at += strlen("$${{");
        return 1;
    }
    if (!text_begins_with(p->at, "${{"))
        return 0;
    return template_expression(p) < 0 ? -1 : 1;
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
    template_end_literal(p);
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
            return template_place(p, open);
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

    if (*p->at == '\'' || *p->at == '"') {
        template_begin_word(p);
        return parse_quoted(p);
    }
    rc = take_marker(p);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    template_begin_word(p);
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
            template_end_word(p);
            p->at++;
        } else if (text_begins_with(p->at, "\\\n")) {
            p->at += 2;
        } else if (parse_word_piece(p) < 0) {
            return -1;
        }
    }
    template_end_word(p);
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
        [TEMPLATE_SHELL] = template_parse_script,
        [TEMPLATE_TEXT] = parse_text,
    };
    struct parser p = {.template = mem_zero(sizeof(*p.template)),
                       .env = env,
                       .tables = tables,
                       .table_count = table_count,
                       .text = text,
                       .at = text,
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
                       .is_split = true,
                       .err = err};
    struct buf source = BUF_INIT;
    int rc = 0;

    p.template->mode = TEMPLATE_WORDS;
    for (size_t i = 0; i < count; i++)
        buf_printf(&source, "%s%s", i > 0 ? " " : "", words[i]);
    p.template->source = buf_take(&source);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        p.text = p.at = words[i];
        template_begin_word(&p);
        rc = parse_text(&p);
        template_end_word(&p);
        if (rc < 0 && err != NULL) {
            err->line = 1;
            err->column = (int)i + 1;
        }
    }
    finish(&p, rc);
    return p.template;
}
