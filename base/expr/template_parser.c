/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all modes of a template's parse share: parts, words, places of errors,
 * and the ${{ }} with an expression or a list of arguments. Texts and words are
 * cut up by base/expr/template_parse.c, scripts by base/expr/template_script.c.
 */
#include "base/expr/template_parser.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

enum { EXPRESSIONS_MAX = 1000 };

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
    template->parts[template->part_count] = (struct part){.literal = NULL};
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

void template_begin_word(struct parser *p)
{
    struct template *template = p->template;

    if (p->in_word || template->mode != TEMPLATE_WORDS)
        return;
    p->in_word = true;
    template_add_word(template, &(struct word){.first = template->part_count,
                                               .option = NO_OPTION});
}

void template_end_word(struct parser *p)
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
        else if (strncmp(at, "}}", 2) == 0)
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
    template_begin_word(p);
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

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Whether NAME( is there; *inside is behind it. */
static bool calls(const char *at, const char *name, const char **inside)
{
    size_t length = strlen(name);

    if (strncmp(at, name, length) != 0)
        return false;
    at = skip_blanks(at + length);
    *inside = at + 1;
    return *at == '(';
}

/* ---- expressions ---- */

/* Whether it is a list of arguments as a call that there is not. */
static bool calls_list(const char *text)
{
    const char *at = skip_blanks(text), *inside;

    return calls(at, "args", &inside) || calls(at, "overrides", &inside);
}

/* From start to end; p->at goes behind the }} at `close`. */
static int compile(struct parser *p, const char *start, const char *end,
                   const char *close)
{
    char *text = mem_copy_bytes(start, (size_t)(end - start));
    struct err why;
    struct expr *expr =
        expr_compile(p->env, text, p->tables, p->table_count, &why);
    bool is_call = calls_list(text);

    free(text);
    if (expr == NULL) {
        err_set(p->err, why.kind, "%s%s", why.text,
                is_call ? " (write args, args(flags) or overrides)" : "");
        return template_place(p, text_skip_runes(start, why.column - 1));
    }
    template_begin_word(p);
    template_end_literal(p);
    add_part(p->template)->expr = expr;
    p->at = close + strlen("}}");
    return 0;
}

/* ---- lists of files ---- */

/* The ) of what begins behind a (, before `end`; NULL: there is none. */
static const char *closing(const char *at, const char *end)
{
    size_t depth = 1;
    char quote = 0;

    for (; at < end; at++) {
        if (quote != 0)
            quote = *at == quote ? 0 : quote;
        else if (*at == '\'' || *at == '"')
            quote = *at;
        else if (*at == '(')
            depth++;
        else if (*at == ')' && --depth == 0)
            return at;
    }
    return NULL;
}

static int take_files(struct parser *p, enum template_files files,
                      const char *inside, const char *close)
{
    const char *name = files == FILES_NULS ? "files0()" : "files()";
    const char *end = closing(inside, close);

    if (p->table_count == 0 || p->tables[0].directory == 0)
        err_set(p->err, ERR_FILE,
                "'%s' is only allowed in the steps of a workflow", name);
    else if (end == NULL || skip_blanks(end + 1) != close)
        err_set(p->err, ERR_FILE,
                "'%s' must be all of a ${{ }}: put text before or behind it",
                name);
    else if (compile(p, inside, end, close) != 0)
        return -1;
    else {
        p->template->directory = p->tables[0].directory - 1;
        p->template->parts[p->template->part_count - 1].files = files;
        return 0;
    }
    return template_place(p, p->at);
}

int template_expression(struct parser *p)
{
    const char *start = p->at + strlen("${{");
    const char *end = expression_end(start), *inside;
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
    if (list != LIST_NONE)
        return take_list(p, list, end + strlen("}}"));
    if (calls(skip_blanks(start), "files", &inside))
        return take_files(p, FILES_LINES, inside, end);
    if (calls(skip_blanks(start), "files0", &inside))
        return take_files(p, FILES_NULS, inside, end);
    return compile(p, start, end, end);
}
