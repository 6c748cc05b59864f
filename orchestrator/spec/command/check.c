/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a `command` cannot do without a shell. Its words are split as
 * base/expr/template_parse.c splits them, but looked at as they are written: an
 * operator in quotes or behind a backslash is an argument like any other.
 */
#include "orchestrator/spec/command/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* A word as it is written. */
struct raw_word {
    const char *start;
    size_t length;
    bool ends_plain;  /* its last byte is in no quotes and no template */
    bool begins_line; /* of the text but the first, without indentation */
};

struct check {
    const struct conf_doc *doc;
    const struct conf_node *node;
    struct diags *diags;
};

static struct diag_place place_of(const struct check *check, const char *at,
                                  size_t length)
{
    struct diag_place place = conf_place_at(check->doc, check->node, at);

    place.length = (int)length;
    return place;
}

/* ---- words ---- */

static const char *skip_quoted(const char *at)
{
    char quote = *at++;

    while (*at != '\0' && *at != quote)
        at += *at == '\\' && quote == '"' && at[1] != '\0' ? 2 : 1;
    return *at != '\0' ? at + 1 : at;
}

static const char *skip_template(const char *at)
{
    const char *end = strstr(at, "}}");

    return end != NULL ? end + strlen("}}") : at + strlen(at);
}

/* Behind the piece that begins at `at`. */
static const char *skip_piece(const char *at, bool *is_plain)
{
    *is_plain = false;
    if (strncmp(at, "${{", 3) == 0)
        return skip_template(at);
    if (*at == '\'' || *at == '"')
        return skip_quoted(at);
    if (*at == '\\' && at[1] != '\0')
        return at + 2;
    *is_plain = true;
    return at + 1;
}

/* The word at or behind `at`; false: there is none. */
static bool read_word(const char *text, const char *at, struct raw_word *word)
{
    *word = (struct raw_word){.start = at};
    while (strchr(" \t\r\n", *at) != NULL && *at != '\0')
        at++;
    if (*at == '\0')
        return false;
    word->begins_line =
        at > text && at[-1] == '\n' && (at - 1 == text || at[-2] != '\\');
    word->start = at;
    while (*at != '\0' && strchr(" \t\r\n", *at) == NULL)
        at = skip_piece(at, &word->ends_plain);
    word->length = (size_t)(at - word->start);
    return true;
}

/* ---- what is refused ---- */

static int refuse_operator(const struct check *check, const char *at,
                           size_t length)
{
    return diags_add(check->diags, place_of(check, at, length),
                     "use 'shell' in place of 'command', or put it in quotes",
                     "'%.*s' needs a shell, and no shell runs a command",
                     (int)length, at);
}

static int check_operators(const struct check *check,
                           const struct raw_word *word)
{
    const char *start = word->start;
    size_t digits = strspn(start, "0123456789"), length = word->length;
    char last = start[length - 1];

    if (strchr("|&;()", *start) != NULL)
        return refuse_operator(check, start, strspn(start, "|&;()<>"));
    if (start[digits] == '<' || start[digits] == '>')
        return refuse_operator(check, start,
                               digits + strspn(start + digits, "<>&"));
    if (word->ends_plain && strchr("|&;", last) != NULL)
        return refuse_operator(check, start + length - 1, 1);
    return 0;
}

static int check_line(const struct check *check, const struct raw_word *word)
{
    if (!word->begins_line || *word->start == '-' ||
        strncmp(word->start, "${{", 3) == 0)
        return 0;
    return diags_add(check->diags, place_of(check, word->start, word->length),
                     "use 'shell' in place of 'command', or indent the lines "
                     "that continue a command",
                     "the command has several lines, and no shell runs a "
                     "command");
}

static bool is_assignment(const char *word)
{
    size_t length = text_variable_length(word);

    return length > 0 && word[length] == '=';
}

static int check_program(const struct check *check, const char *program,
                         size_t length)
{
    char *help;

    if (strncmp(program, "~/", 2) == 0)
        return diags_add(check->diags, place_of(check, program, length),
                         "write the whole path, or use 'shell'",
                         "'%.*s' is not a path: no shell replaces the '~' of a "
                         "command",
                         (int)length, program);
    if (!is_assignment(program))
        return 0;
    help = mem_printf("write it under 'env', as %.*s: ..., or use 'shell'",
                      (int)strcspn(program, "="), program);
    diags_add(check->diags, place_of(check, program, length), help,
              "'%.*s' is not a program", (int)length, program);
    free(help);
    return -1;
}

static int check_text(const struct check *check)
{
    const char *at = check->node->text;
    struct raw_word word;
    int rc = 0;

    for (bool is_first = true; read_word(check->node->text, at, &word);
         is_first = false) {
        if (is_first)
            rc = check_program(check, word.start, word.length);
        else
            rc = check_line(check, &word);
        if (rc == 0)
            rc = check_operators(check, &word);
        if (rc != 0)
            return rc;
        at = word.start + word.length;
    }
    return 0;
}

int command_check(const struct conf_doc *doc, const struct conf_node *command,
                  struct diags *diags)
{
    bool is_list = command->type == CONF_LIST && command->count > 0;
    struct check check = {.doc = doc,
                          .node = is_list ? command->items[0] : command,
                          .diags = diags};
    const char *text = check.node->text;

    if (text == NULL || check.node->type == CONF_NULL)
        return 0;
    return is_list ? check_program(&check, text, strlen(text))
                   : check_text(&check);
}
