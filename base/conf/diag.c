/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The errors of one file, collected and then rendered with the lines they refer
 * to.
 *
 * Messages stay sorted by place, whatever the order in which checkers find
 * them. At most DIAG_MAX are kept; the rest are counted. Messages and source
 * lines quote the user's file, so both are cut and escaped: no megabyte and no
 * control sequence reaches the terminal. Marks are aligned by terminal columns,
 * not bytes.
 */
#include "base/conf/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/text.h"

enum {
    TEXT_MAX_BYTES = 400, /* of a message: a bad value may be a megabyte */
    LIST_MAX = 16,        /* candidates listed in a help text */
    SHOWN_MAX = 120,      /* characters of a source line */
    SHOWN_BEFORE = 60     /* of them before the place, in a long line */
};

struct diags {
    char *path;
    char *source;
    size_t source_length;
    struct diag kept[DIAG_MAX];
    size_t count;
    bool are_warnings;
};

struct diags *diags_create(const char *path)
{
    struct diags *diags = mem_zero(sizeof(*diags));

    diags->path = mem_copy_string(path);
    return diags;
}

void diags_make_warnings(struct diags *diags)
{
    diags->are_warnings = true;
}

static size_t kept_count(const struct diags *diags)
{
    return diags->count < DIAG_MAX ? diags->count : DIAG_MAX;
}

void diags_destroy(struct diags *diags)
{
    if (diags == NULL)
        return;
    for (size_t i = 0; i < kept_count(diags); i++) {
        free(diags->kept[i].text);
        free(diags->kept[i].help);
    }
    free(diags->path);
    free(diags->source);
    free(diags);
}

void diags_set_source(struct diags *diags, const char *text, size_t length)
{
    if (diags == NULL)
        return;
    free(diags->source);
    diags->source = mem_copy_bytes(text, length);
    diags->source_length = length;
}

static bool is_before(const struct diag *a, const struct diag *b)
{
    if (a->place.line != b->place.line)
        return a->place.line < b->place.line;
    return a->place.column < b->place.column;
}

/* What many steps have by their defaults is wrong once. */
static bool is_known(const struct diags *diags, const struct diag *diag)
{
    for (size_t i = 0; i < diags->count && i < DIAG_MAX; i++) {
        const struct diag *kept = &diags->kept[i];

        if (kept->place.line == diag->place.line &&
            kept->place.column == diag->place.column &&
            strcmp(kept->text, diag->text) == 0)
            return true;
    }
    return false;
}

/* Kept in order of place; those of one place in the order they came. */
static void insert(struct diags *diags, struct diag diag)
{
    bool is_again = is_known(diags, &diag);
    size_t i = is_again ? DIAG_MAX : diags->count++;

    if (i >= DIAG_MAX) {
        free(diag.text);
        free(diag.help);
        return;
    }
    for (; i > 0 && is_before(&diag, &diags->kept[i - 1]); i--)
        diags->kept[i] = diags->kept[i - 1];
    diags->kept[i] = diag;
}

/* Help quotes names of the file, too. NULL stays NULL. */
static char *copy_help(const char *help)
{
    struct buf out = BUF_INIT;

    if (help == NULL)
        return NULL;
    text_escape(help, strlen(help), &out);
    return buf_take(&out);
}

static char *one_line(const char *format, va_list args)
{
    struct buf out = BUF_INIT;
    char *raw = mem_vprintf(format, args);

    text_escape(raw, strlen(raw), &out);
    free(raw);
    if (out.length > TEXT_MAX_BYTES) {
        buf_truncate(&out, text_cut(out.data, out.length, TEXT_MAX_BYTES));
        buf_add_string(&out, "...");
    }
    return buf_take(&out);
}

int diags_add(struct diags *diags, struct diag_place place, const char *help,
              const char *format, ...)
{
    va_list args;
    char *text;

    if (diags == NULL)
        return -1;
    va_start(args, format);
    text = one_line(format, args);
    va_end(args);
    insert(diags, (struct diag){place, text, copy_help(help)});
    return -1;
}

static char *suggestion(const char *word, const char *const *candidates,
                        size_t count)
{
    const char *nearest = text_nearest(word, candidates, count);
    struct buf help = BUF_INIT;

    if (nearest != NULL)
        return mem_printf("did you mean '%s'?", nearest);
    if (count == 0 || count > LIST_MAX)
        return NULL;
    buf_add_string(&help, count > 1 ? "one of: " : "only: ");
    for (size_t i = 0; i < count; i++)
        buf_printf(&help, "%s%s", i > 0 ? ", " : "", candidates[i]);
    return buf_take(&help);
}

int diags_add_unknown(struct diags *diags, struct diag_place place,
                      const char *word, const char *const *candidates,
                      size_t count, const char *format, ...)
{
    va_list args;
    char *text, *help;

    if (diags == NULL)
        return -1;
    va_start(args, format);
    text = one_line(format, args);
    va_end(args);
    help = suggestion(word, candidates, count);
    insert(diags, (struct diag){place, text, copy_help(help)});
    free(help);
    return -1;
}

size_t diags_count(const struct diags *diags)
{
    return diags != NULL ? diags->count : 0;
}

const struct diag *diags_get(struct diags *diags, size_t i)
{
    return &diags->kept[i];
}

/* The bytes of a line of the source; NULL when there is no such line. */
static const char *find_line(const struct diags *diags, int line,
                             size_t *length)
{
    const char *text = diags->source;
    const char *end, *newline;

    if (text == NULL || line < 1)
        return NULL;
    end = text + diags->source_length;
    for (int i = 1; i < line; i++) {
        newline = memchr(text, '\n', (size_t)(end - text));
        if (newline == NULL)
            return NULL;
        text = newline + 1;
    }
    newline = memchr(text, '\n', (size_t)(end - text));
    *length = (size_t)((newline != NULL ? newline : end) - text);
    if (*length > 0 && text[*length - 1] == '\r')
        --*length;
    return text;
}

/* A source line as shown, and the terminal columns before and under a mark. */
struct shown {
    struct buf text;
    size_t before, under;
};

/* One character; what a terminal would obey becomes a harmless one. */
static void show_rune(struct buf *out, const char *text, size_t bytes,
                      uint32_t rune)
{
    if (*text == '\t')
        buf_add_char(out, ' ');
    else if (bytes == 0 || text_is_control(rune))
        buf_add_char(out, '?');
    else
        buf_add(out, text, bytes);
}

static size_t columns_from(const struct buf *text, size_t offset)
{
    return text_columns(buf_text(text) + offset);
}

static void show_line(const char *line, size_t length, struct diag_place place,
                      struct shown *shown)
{
    int first = place.column > SHOWN_MAX ? place.column - SHOWN_BEFORE : 1;
    struct buf *text = &shown->text;
    size_t mark, mark_end;

    if (first > 1)
        buf_add_string(text, "...");
    mark = mark_end = text->length;
    for (int column = 1; length > 0 && column < first + SHOWN_MAX; column++) {
        uint32_t rune = 0;
        size_t bytes = text_next_rune(line, length, &rune);

        if (column >= first)
            show_rune(text, line, bytes, rune);
        if (column < place.column)
            mark = text->length;
        if (column < place.column + place.length)
            mark_end = text->length;
        bytes = bytes > 0 ? bytes : 1;
        line += bytes;
        length -= bytes;
    }
    if (length > 0)
        buf_add_string(text, "...");
    shown->before = columns_from(text, 0) - columns_from(text, mark);
    shown->under = columns_from(text, mark) - columns_from(text, mark_end);
}

static const char *paint(bool colour, const char *code)
{
    return colour ? code : "";
}

static void render_source(const struct diags *diags, const struct diag *diag,
                          bool colour, struct buf *out)
{
    struct shown shown = {BUF_INIT, 0, 0};
    struct buf masked = BUF_INIT; /* the log of a CI job may be public */
    size_t length = 0;
    const char *line = find_line(diags, diag->place.line, &length);
    int width;

    if (line == NULL) {
        if (diag->help != NULL)
            buf_printf(out, "   = %s\n", diag->help);
        return;
    }
    mask_add(NULL, line, length, &masked);
    show_line(buf_text(&masked), masked.length, diag->place, &shown);
    buf_clear(&masked);
    width = snprintf(NULL, 0, "%d", diag->place.line);
    buf_printf(out, " %d |%s%s\n", diag->place.line,
               shown.text.length > 0 ? " " : "", buf_text(&shown.text));
    buf_printf(out, " %*s | %*s%s^", width, "", (int)shown.before, "",
               paint(colour, "\033[1;32m"));
    for (size_t i = 1; i < shown.under; i++)
        buf_add_char(out, '~');
    buf_add_string(out, paint(colour, "\033[0m"));
    if (diag->help != NULL)
        buf_printf(out, " %s", diag->help);
    buf_add_char(out, '\n');
    buf_clear(&shown.text);
}

void diags_render(struct diags *diags, bool colour, struct buf *out)
{
    size_t kept = kept_count(diags);
    const char *word = diags->are_warnings ? "warning" : "error";
    const char *code = diags->are_warnings ? "\033[35m" : "\033[31m";

    for (size_t i = 0; i < kept; i++) {
        const struct diag *diag = &diags->kept[i];

        buf_add_string(out, paint(colour, "\033[1m"));
        text_escape(diags->path, strlen(diags->path), out);
        buf_add_char(out, ':');
        if (diag->place.line > 0)
            buf_printf(out, "%d:%d:", diag->place.line, diag->place.column);
        buf_printf(out, " %s%s:%s %s%s\n", paint(colour, code), word,
                   paint(colour, "\033[0;1m"), diag->text,
                   paint(colour, "\033[0m"));
        render_source(diags, diag, colour, out);
    }
    if (diags->count > kept)
        buf_printf(out, "and %zu more %s%s\n", diags->count - kept, word,
                   diags->count - kept > 1 ? "s" : "");
}

int diags_to_err(struct diags *diags, struct err *err)
{
    const struct diag *first = &diags->kept[0];

    if (diags->count == 0)
        return err_set(err, ERR_FILE, "'%s' is not valid", diags->path);
    err_set(
        err, ERR_FILE, "%s%s%s%s", first->text, first->help != NULL ? " (" : "",
        first->help != NULL ? first->help : "", first->help != NULL ? ")" : "");
    if (err != NULL) {
        snprintf(err->path, sizeof(err->path), "%s", diags->path);
        err->line = first->place.line;
        err->column = first->place.column;
    }
    return -1;
}
