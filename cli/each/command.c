/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a command with placeholders to templates.
 *
 * A value is never more than one word, and no shell reads it: that is what
 * templates promise, so nothing is quoted here. But plain text must not become
 * one. `$${{` in a template is a plain `${{`, so a $ before a placeholder is an
 * expression of its own.
 */
#include "cli/each/command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/each/input.h"

/* What is made of a value; longer marks first. */
static const struct {
    const char *mark;
    const char *before, *behind; /* the value in an expression */
} changes[] = {
    {"/.", "strip_extension(basename(", "))"},
    {"//", "dirname(", ")"},
    {"/", "basename(", ")"},
    {".", "strip_extension(", ")"},
    {"", "", ""},
};

enum { NO_COLUMN = -1, WHOLE_LINE = -2, LINE_NUMBER = -3 };

struct placeholder {
    size_t length; /* with its braces */
    int column;    /* or one of those above */
    size_t change; /* of changes */
};

struct building {
    struct each_command *command;
    const struct each_input *input;
    bool has_any;
    struct err *err;
};

/* ---- placeholders ---- */

static int find_column(const struct each_input *input, const char *name,
                       size_t length)
{
    unsigned long number = 0;

    for (size_t i = 0; i < input->column_count; i++)
        if (strlen(input->columns[i]) == length &&
            memcmp(input->columns[i], name, length) == 0)
            return (int)i;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)name[i]) || i > 5)
            return NO_COLUMN;
        number = 10 * number + (unsigned long)(name[i] - '0');
    }
    return input->format != EACH_JSONL && number >= 1 &&
                   number <= input->column_count
               ? (int)number - 1
               : NO_COLUMN;
}

/* Finds what `inside` (without braces) stands for. */
static bool find_meaning(const struct each_input *input, const char *inside,
                         size_t length, struct placeholder *found)
{
    bool is_table = each_input_is_table(input);

    found->change = ARRAY_LEN(changes) - 1;
    found->column =
        is_table && length > 0 ? find_column(input, inside, length) : NO_COLUMN;
    if (found->column != NO_COLUMN)
        return true;
    if (length == 1 && *inside == '#') {
        found->column = LINE_NUMBER;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        size_t mark = strlen(changes[i].mark);
        size_t name = length - mark;

        if (mark > length || memcmp(inside + name, changes[i].mark, mark) != 0)
            continue;
        found->change = i;
        found->column = name == 0  ? WHOLE_LINE
                        : is_table ? find_column(input, inside, name)
                                   : NO_COLUMN;
        if (found->column != NO_COLUMN)
            return true;
    }
    return false;
}

static bool is_name(const char *text, size_t length)
{
    if (length == 0 || (!isalpha((unsigned char)*text) && *text != '_'))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' &&
            text[i] != '-')
            return false;
    return true;
}

static int refuse_column(const struct building *b, const char *name,
                         size_t length)
{
    char *word = mem_copy_bytes(name, length);
    const char *nearest = text_nearest(
        word, (const char *const *)b->input->columns, b->input->column_count);

    if (nearest != NULL)
        err_set(b->err, ERR_USAGE,
                "'%s' has no column '%s' (did you mean '{%s}'?)",
                b->input->path, word, nearest);
    else
        err_set(b->err, ERR_USAGE,
                "'%s' has no column '%s' (write \\{%s} for this text itself)",
                b->input->path, word, word);
    free(word);
    return -1;
}

/* 1: a placeholder begins at `at`, a brace; 0; -1: it names no column. */
static int find_placeholder(const struct building *b, const char *at,
                            struct placeholder *found)
{
    size_t length = strcspn(at + 1, "{}");

    if (at[1 + length] != '}')
        return 0;
    found->length = length + 2;
    if (find_meaning(b->input, at + 1, length, found))
        return 1;
    return each_input_is_table(b->input) && is_name(at + 1, length)
               ? refuse_column(b, at + 1, length)
               : 0;
}

/* ---- templates ---- */

void each_command_add_plain(const char *text, size_t length, struct buf *out)
{
    for (size_t i = 0; i < length; i++) {
        if (length - i >= 3 && memcmp(text + i, "${{", 3) == 0)
            buf_add_char(out, '$');
        buf_add_char(out, text[i]);
    }
}

/* A text of SQL. */
static void add_quoted(const char *text, struct buf *out)
{
    buf_add_char(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            buf_add_char(out, '\'');
        buf_add_char(out, *text);
    }
    buf_add_char(out, '\'');
}

static void add_value(struct building *b, int column, struct buf *out)
{
    if (!each_input_is_table(b->input)) {
        buf_add_string(out, EACH_AXIS);
    } else {
        buf_add_string(out, "field(" EACH_AXIS ", ");
        add_quoted(
            column == WHOLE_LINE ? EACH_WHOLE : b->input->columns[column], out);
        buf_add_char(out, ')');
        b->command->computes = true;
    }
    if (column == WHOLE_LINE)
        b->command->uses_line = true;
    else
        b->command->uses[column] = true;
}

static void add_template(struct building *b, const struct placeholder *found,
                         struct buf *out)
{
    if (out->length > 0 && out->data[out->length - 1] == '$') {
        buf_truncate(out, out->length - 1);
        buf_add_string(out, "${{ '$' }}");
    }
    b->has_any = true;
    if (found->column == LINE_NUMBER) {
        buf_add_string(out, "${{ copy + 1 }}");
        return;
    }
    b->command->computes |= changes[found->change].mark[0] != '\0';
    buf_printf(out, "${{ %s", changes[found->change].before);
    add_value(b, found->column, out);
    buf_printf(out, "%s }}", changes[found->change].behind);
}

static int find_at(const struct building *b, const char *text,
                   const char *brace, struct placeholder *found)
{
    bool is_variable = b->command->is_shell && brace > text && brace[-1] == '$';

    return *brace == '{' && !is_variable ? find_placeholder(b, brace, found)
                                         : 0;
}

static void flush(struct buf *plain, struct buf *out)
{
    each_command_add_plain(buf_text(plain), plain->length, out);
    buf_truncate(plain, 0);
}

static int build_text(struct building *b, const char *text, struct buf *out)
{
    struct buf plain = BUF_INIT;
    const char *at = text;
    int found = 0;

    while (*at != '\0' && found >= 0) {
        bool is_escaped = at[0] == '\\' && at[1] == '{';
        struct placeholder placeholder;

        found = find_at(b, text, at + is_escaped, &placeholder);
        if (found == 0) {
            buf_add_char(&plain, *at++);
        } else if (is_escaped) {
            buf_add(&plain, at + 1, placeholder.length);
            at += 1 + placeholder.length;
            found = 0;
        } else if (found > 0) {
            flush(&plain, out);
            add_template(b, &placeholder, out);
            at += placeholder.length;
        }
    }
    flush(&plain, out);
    buf_clear(&plain);
    return found < 0 ? -1 : 0;
}

/* ---- the command ---- */

static int add_word(const struct building *b, const char *word)
{
    struct buf shown = BUF_INIT;

    if (json_array_append_new(b->command->words, json_string(word)) == 0)
        return 0;
    text_escape(word, strlen(word), &shown);
    err_set(b->err, ERR_USAGE, "'%s' is not UTF-8", buf_text(&shown));
    buf_clear(&shown);
    return -1;
}

static int refuse_none(const struct building *b)
{
    enum { SHOWN = 12 };
    const struct each_input *input = b->input;
    struct buf names = BUF_INIT;

    for (size_t i = 0; i < input->column_count && i < SHOWN; i++)
        buf_printf(&names, "%s{%s}", i > 0 ? ", " : "", input->columns[i]);
    err_set(b->err, ERR_USAGE, "COMMAND uses no column of '%s' (columns: %s%s)",
            input->path, buf_text(&names),
            input->column_count > SHOWN ? ", ..." : "");
    buf_clear(&names);
    return -1;
}

/* Of a command without a placeholder: the line of plain text is its last word.
 */
static int add_line(struct building *b, struct buf *out)
{
    const struct placeholder line = {.column = WHOLE_LINE,
                                     .change = ARRAY_LEN(changes) - 1};

    if (each_input_is_table(b->input))
        return refuse_none(b);
    add_template(b, &line, out);
    return 0;
}

static int build_words(struct building *b, const char *const *words,
                       size_t count)
{
    struct buf text = BUF_INIT;
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        buf_truncate(&text, 0);
        result = build_text(b, words[i], &text);
        if (result == 0)
            result = add_word(b, buf_text(&text));
    }
    buf_truncate(&text, 0);
    if (result == 0 && !b->has_any) {
        result = add_line(b, &text);
        if (result == 0)
            result = add_word(b, buf_text(&text));
    }
    buf_clear(&text);
    return result;
}

/* The words with blanks between them, as eval has it. */
static int build_script(struct building *b, const char *const *words,
                        size_t count)
{
    struct buf script = BUF_INIT, text = BUF_INIT;
    int result;

    for (size_t i = 0; i < count; i++)
        buf_printf(&script, "%s%s", i > 0 ? " " : "", words[i]);
    result = build_text(b, buf_text(&script), &text);
    if (result == 0 && !b->has_any) {
        buf_add_char(&text, ' ');
        result = add_line(b, &text);
    }
    if (result == 0)
        result = add_word(b, buf_text(&text));
    buf_clear(&script);
    buf_clear(&text);
    return result;
}

static int check_words(const char *const *words, size_t count, bool is_shell,
                       struct err *err)
{
    if (count == 1 && !is_shell && strpbrk(words[0], " \t\n") != NULL &&
        !fs_exists(words[0]))
        return err_set(err, ERR_USAGE,
                       "'%s' is one word, and no shell splits it (use --shell, "
                       "or leave out the quotes)",
                       words[0]);
    return 0;
}

int each_command_build(struct each_command *command,
                       const struct each_input *input, const char *const *words,
                       size_t count, bool is_shell, struct err *err)
{
    static const char *const scripts[] = {"/bin/sh", "-c", "{}"};
    struct building b = {command, input, false, err};

    *command = (struct each_command){
        .is_shell = is_shell && count > 0,
        .words = json_array(),
        .uses = mem_array(input->column_count + 1, sizeof(bool)),
    };
    if (check_words(words, count, is_shell, err) != 0)
        return -1;
    if (count == 0)
        return build_words(&b, scripts, ARRAY_LEN(scripts));
    return command->is_shell ? build_script(&b, words, count)
                             : build_words(&b, words, count);
}

void each_command_clear(struct each_command *command)
{
    json_decref(command->words);
    free(command->uses);
    *command = (struct each_command){.words = NULL};
}
