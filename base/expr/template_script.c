/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parser of a shell script with templates.
 *
 * base/expr/template_shell.c follows the script's syntax byte by byte and
 * decides whether a value may be inserted at the current place. This file
 * follows the words of simple commands, to know which of them can be left out
 * where a value is null: arguments, and variables before or in place of a
 * program. Where a shell needs a word (a program, the file of a redirection, an
 * operand of [ ], test or case), none can. A word with a quote, a backslash or
 * a $ in it is kept as well, so "" beside a template asks for ''.
 *
 * Commands nest, in ( ) and $( ): each context of the scan has one. A parser of
 * less than the whole grammar is enough, because a doubt only keeps a word.
 */
#include <string.h>

#include "base/compiler.h"
#include "base/expr/template_parser.h"
#include "base/expr/template_shell.h"
#include "base/mem.h"
#include "base/text.h"

/* A simple command under way. */
struct command {
    int words;     /* behind variables and reserved words */
    int variables; /* NAME=VALUE before its program */
    bool is_fixed; /* its operands have their places */
    bool declares; /* export and the like */
    bool is_file;  /* what comes next is a redirection's */
    bool in_word, is_plain;
    size_t first;  /* part of the word */
    size_t option; /* part with the option before it, or NO_OPTION */
};

struct script {
    struct parser *p;
    struct shell_scan scan;
    struct command commands[SHELL_NESTING_MAX + 1];
};

/* What a byte is to the words of a command. */
enum kind {
    KIND_PLAIN,
    KIND_SPECIAL,
    KIND_BLANK,
    KIND_JOIN,
    KIND_FILE,
    KIND_END
};

static const char *const fixed_words[] = {"[", "[[", "test", "case"};
static const char *const declaring_words[] = {"export", "readonly", "local",
                                              "declare", "typeset"};
/* A command begins behind them. */
static const char *const reserved_words[] = {
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "time",
};

static struct command *current(struct script *s)
{
    return &s->commands[s->scan.depth];
}

static bool in_double_quotes(const struct shell_scan *scan)
{
    return scan->depth > 0 && scan->contexts[scan->depth - 1] == '"';
}

static enum kind kind_of(struct script *s, const char *at)
{
    const struct shell_scan *scan = &s->scan;
    bool is_redirected = scan->before == '>' || scan->before == '<';

    if (scan->inside == '#')
        return *at == '\n' ? KIND_END : KIND_BLANK;
    if (scan->inside != 0 || in_double_quotes(scan))
        return KIND_SPECIAL;
    if (*at == '\\')
        return at[1] == '\n' ? KIND_JOIN : KIND_SPECIAL;
    if (*at == '#' && !current(s)->in_word)
        return KIND_BLANK;
    if (strchr(" \t", *at) != NULL)
        return KIND_BLANK;
    if (strchr("<>", *at) != NULL)
        return KIND_FILE;
    if (strchr("&|", *at) != NULL && is_redirected)
        return KIND_FILE;
    if (*at == '(' && is_redirected) /* <(...) is a word */
        return KIND_SPECIAL;
    if (strchr("\n;&|()", *at) != NULL)
        return KIND_END;
    return strchr("'\"`$", *at) != NULL ? KIND_SPECIAL : KIND_PLAIN;
}

static void begin_word(struct script *s)
{
    struct command *command = current(s);

    if (command->in_word)
        return;
    template_end_literal(s->p);
    command->in_word = command->is_plain = true;
    command->first = s->p->template->part_count;
}

/* NAME=..., with NAME as a shell has it. */
static bool is_variable(const char *literal)
{
    size_t length = text_variable_length(literal);

    return length > 0 && literal[length] == '=';
}

/* Whether the command is over but for blanks. */
static bool is_at_end(const char *at)
{
    while (*at == ' ' || *at == '\t' || strncmp(at, "\\\n", 2) == 0)
        at += *at == '\\' ? 2 : 1;
    return strchr("\n;&|)#", *at) != NULL; /* or at the NUL */
}

/* The word that has just ended, a run of parts. */
struct ended {
    size_t first, count;
    const char *literal; /* its first part, or "" */
    bool can_go;         /* it has a template, and no quotes */
};

static void add(struct script *s, const struct ended *word, size_t option,
                enum word_rest rest)
{
    template_add_word(s->p->template,
                      &(struct word){word->first, word->count, option, rest});
}

static void end_variable(struct script *s, const struct ended *word)
{
    struct command *command = current(s);
    bool is_all = is_at_end(s->p->at);

    if (word->can_go && (!is_all || command->variables == 0))
        add(s, word, NO_OPTION, is_all ? REST_UNSET : REST_NOTHING);
    command->variables++;
}

static void end_program(struct script *s, const struct ended *word)
{
    struct command *command = current(s);
    const char *name = word->count == 1 ? word->literal : "";

    if (text_is_among(name, reserved_words, ARRAY_LEN(reserved_words)))
        return;
    command->words = 1;
    command->is_fixed =
        text_is_among(name, fixed_words, ARRAY_LEN(fixed_words));
    command->declares =
        text_is_among(name, declaring_words, ARRAY_LEN(declaring_words));
}

static void end_argument(struct script *s, const struct ended *word)
{
    struct command *command = current(s);
    bool keeps_name = command->declares && is_variable(word->literal);

    command->words++;
    if (word->can_go && !command->is_fixed)
        add(s, word, command->option, keeps_name ? REST_NAME : REST_NOTHING);
    command->option = NO_OPTION;
    if (word->count == 1 && command->is_plain &&
        template_is_option(word->literal))
        command->option = word->first;
}

static void end_word(struct script *s)
{
    struct command *command = current(s);
    const struct template *template = s->p->template;
    struct ended word = {.first = command->first, .literal = ""};

    if (!command->in_word)
        return;
    command->in_word = false;
    template_end_literal(s->p);
    word.count = template->part_count - word.first;
    if (word.count > 0 && template->parts[word.first].literal != NULL)
        word.literal = template->parts[word.first].literal;
    for (size_t i = word.first; i < template->part_count; i++)
        word.can_go |= command->is_plain && template->parts[i].expr != NULL;
    if (command->is_file) {
        command->is_file = false;
        command->option = NO_OPTION;
    } else if (command->words > 0) {
        end_argument(s, &word);
    } else if (is_variable(word.literal)) {
        end_variable(s, &word);
    } else {
        end_program(s, &word);
    }
}

static void reset(struct command *command)
{
    *command = (struct command){.option = NO_OPTION};
}

static void take_bytes(struct script *s)
{
    struct parser *p = s->p;
    enum kind kind = kind_of(s, p->at);
    int depth = s->scan.depth;
    size_t length;

    if (kind == KIND_PLAIN || kind == KIND_SPECIAL)
        begin_word(s);
    else if (kind != KIND_JOIN)
        end_word(s);
    if (kind == KIND_SPECIAL)
        current(s)->is_plain = false;
    if (kind == KIND_FILE)
        current(s)->is_file = true;
    if (kind == KIND_END)
        reset(current(s));
    length = shell_scan_step(&s->scan, p->at);
    if (s->scan.depth > depth)
        reset(current(s));
    buf_add(&p->literal, p->at, length);
    p->at += length;
}

static void take_literal(struct script *s)
{
    begin_word(s);
    current(s)->is_plain = false;
    shell_scan_literal(&s->scan);
    buf_add_string(&s->p->literal, "${{");
    s->p->at += strlen("$${{");
}

static int take_value(struct script *s)
{
    struct parser *p = s->p;
    const char *refusal = shell_scan_refusal(&s->scan);

    if (refusal != NULL) {
        err_set(p->err, ERR_FILE, "a ${{ }} is not allowed %s", refusal);
        return template_place(p, p->at);
    }
    p->in_word = current(s)->in_word;
    begin_word(s);
    if (template_expression(p) < 0)
        return -1;
    shell_scan_value(&s->scan);
    return 0;
}

static int take_piece(struct script *s)
{
    const char *at = s->p->at;

    if (strncmp(at, "${{", strlen("${{")) == 0)
        return take_value(s);
    if (strncmp(at, "$${{", strlen("$${{")) == 0)
        take_literal(s);
    else
        take_bytes(s);
    return 0;
}

int template_parse_script(struct parser *p)
{
    struct script s = {.p = p, .scan = SHELL_SCAN_INIT};

    reset(&s.commands[0]);
    while (*p->at != '\0')
        if (take_piece(&s) < 0)
            return -1;
    end_word(&s);
    template_end_literal(p);
    return 0;
}
