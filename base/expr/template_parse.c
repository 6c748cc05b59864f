/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parser of templates: one pass over the text, in one of three modes (see
 * base/expr/template.h). It cuts the text into literals and compiled
 * expressions.
 *
 * In every mode a marker is recognized first, so that `${{` means the same
 * within quotes and outside of them. Words are split here, before values exist.
 * base/expr/template_script.c parses shell scripts.
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

enum { EXPRESSIONS_MAX = 1000 };

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

int template_place(const struct parser *p, const char *at)
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
    template->parts[template->part_count] =
        (struct part){NULL, NULL, LIST_NONE};
    return &template->parts[template->part_count++];
}

void template_end_literal(struct parser *p)
{
    if (p->literal.length > 0)
        add_part(p->template)->literal = buf_take(&p->literal);
}

void template_add_word(struct template *template, const struct word *word)
{
    template->words =
        mem_grow(template->words, template->word_count,
                 &template->word_capacity, sizeof(*template->words));
    template->words[template->word_count++] = *word;
}

static void begin_word(struct parser *p)
{
    struct template *template = p->template;

    if (p->in_word || template->mode != TEMPLATE_WORDS)
        return;
    p->in_word = true;
    template_add_word(template, &(struct word){.first = template->part_count,
                                               .option = NO_OPTION});
}

static void end_word(struct parser *p)
{
    struct template *template = p->template;
    struct word *word;

    if (!p->in_word)
        return;
    template_end_literal(p);
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

/* ---- lists of arguments ---- */

static const struct {
    const char *text; /* without blanks */
    enum template_list list;
} lists[] = {
    {"args", LIST_ARGS},
    {"args(flags)", LIST_FLAGS},
    {"overrides", LIST_OVERRIDES},
};

/* Whether the text between the two is `word`, blanks aside. */
static bool is_word(const char *start, const char *end, const char *word)
{
    for (; start < end; start++) {
        if (strchr(" \t\r\n", *start) != NULL)
            continue;
        if (*start != *word++)
            return false;
    }
    return *word == '\0';
}

static enum template_list find_list(const struct parser *p, const char *start,
                                    const char *end)
{
    for (size_t i = 0; i < ARRAY_LEN(lists) && p->table_count > 0 &&
                       p->tables[0].arguments != NULL;
         i++)
        if (is_word(start, end, lists[i].text))
            return lists[i].list;
    return LIST_NONE;
}

static void take_arguments(struct parser *p)
{
    const struct expr_table *table = &p->tables[0];
    struct template *template = p->template;

    if (template->arguments != NULL)
        return;
    template->arguments =
        mem_array(table->argument_count + 1, sizeof(*template->arguments));
    template->argument_count = table->argument_count;
    for (size_t i = 0; i < table->argument_count; i++)
        template->arguments[i] = (struct template_argument){
            .name = mem_copy_string(table->columns[table->arguments[i]]),
            .column = table->arguments[i],
        };
}

/* It stands for words, so it is one: `end` is behind it. */
static int take_list(struct parser *p, enum template_list list, const char *end)
{
    bool is_alone = p->is_split ? p->at == p->text && *end == '\0'
                                : !p->in_word && strchr(" \t\r\n;&|)", *end);

    if (p->template->mode == TEMPLATE_TEXT || !is_alone) {
        err_set(p->err, ERR_FILE,
                p->template->mode == TEMPLATE_TEXT
                    ? "'%s' is only allowed in a command or a script"
                    : "'%s' must be a word of its own, without quotes",
                lists[list - LIST_ARGS].text);
        return template_place(p, p->at);
    }
    begin_word(p);
    if (p->template->word_count == 1 && p->template->mode == TEMPLATE_WORDS) {
        err_set(p->err, ERR_FILE, "missing program before '%s'",
                lists[list - LIST_ARGS].text);
        return template_place(p, p->at);
    }
    template_end_literal(p);
    take_arguments(p);
    add_part(p->template)->list = list;
    p->at = end;
    return 0;
}

/* ---- expressions ---- */

static int compile(struct parser *p, const char *start, const char *end)
{
    char *text = mem_copy_bytes(start, (size_t)(end - start));
    struct err why;
    struct expr *expr =
        expr_compile(p->env, text, p->tables, p->table_count, &why);

    free(text);
    if (expr == NULL) {
        err_set(p->err, why.kind, "%s", why.text);
        return template_place(p, text_skip_runes(start, why.column - 1));
    }
    begin_word(p);
    template_end_literal(p);
    add_part(p->template)->expr = expr;
    p->at = end + strlen("}}");
    return 0;
}

int template_expression(struct parser *p)
{
    const char *start = p->at + strlen("${{");
    const char *end = expression_end(start);
    enum template_list list;

    if (end == NULL) {
        err_set(p->err, ERR_FILE, "missing }} of this ${{");
        return template_place(p, p->at);
    }
    if (p->template->expr_count == EXPRESSIONS_MAX) {
        err_set(p->err, ERR_FILE, "more than %d expressions", EXPRESSIONS_MAX);
        return template_place(p, p->at);
    }
    p->template->expr_count++;
    list = find_list(p, start, end);
    return list != LIST_NONE ? take_list(p, list, end + strlen("}}"))
                             : compile(p, start, end);
}

/* Takes a `${{ }}` or a `$${{`, wherever they stand: 1; 0 when neither is
 * here; -1 on error. */
static int take_marker(struct parser *p)
{
    if (starts_with(p->at, "$${{")) {
        begin_word(p);
        buf_add_string(&p->literal, "${{");
        p->at += strlen("$${{");
        return 1;
    }
    if (!starts_with(p->at, "${{"))
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
        begin_word(p);
        return parse_quoted(p);
    }
    rc = take_marker(p);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    begin_word(p);
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
