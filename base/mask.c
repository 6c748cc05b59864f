/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/text.h"

/*
 * Two passes over the text. The first replaces the values that are known, the
 * longest first, so that one that contains another is masked as a whole, also
 * within words. The second looks for patterns: a secret's name before a value,
 * and values that show what they are (secret.c).
 */

/* The rest of the line is their value. */
static const char *const headers[] = {"authorization", "cookie", "set-cookie",
                                      "proxy-authorization"};

struct secret {
    char *name, *value;
    size_t length;
};

struct mask {
    struct secret *secrets; /* [count], the longest first */
    size_t count, capacity;
};

/* -- Values that are known ------------------------------------------------*/

struct mask *mask_create(void)
{
    return mem_zero(sizeof(struct mask));
}

void mask_destroy(struct mask *mask)
{
    if (mask == NULL)
        return;
    for (size_t i = 0; i < mask->count; i++) {
        free(mask->secrets[i].name);
        free(mask->secrets[i].value);
    }
    free(mask->secrets);
    free(mask);
}

/* Without blanks around it: a block of YAML has a line end of its own. */
void mask_hide(struct mask *mask, const char *name, const char *value)
{
    size_t length, at = 0;

    value += strspn(value, " \t\r\n");
    length = strlen(value);
    while (length > 0 && isspace((unsigned char)value[length - 1]))
        length--;
    if (length < MASK_SHORTEST)
        return;
    while (at < mask->count && mask->secrets[at].length > length)
        at++;
    for (size_t i = at; i < mask->count; i++)
        if (mask->secrets[i].length == length &&
            memcmp(mask->secrets[i].value, value, length) == 0)
            return;
    mask->secrets = mem_grow(mask->secrets, mask->count, &mask->capacity,
                             sizeof(*mask->secrets));
    memmove(mask->secrets + at + 1, mask->secrets + at,
            (mask->count - at) * sizeof(*mask->secrets));
    mask->secrets[at] = (struct secret){mem_copy_string(name),
                                        mem_copy_bytes(value, length), length};
    mask->count++;
}

/* The secret that the text begins with, or NULL. */
static const struct secret *find_secret(const struct mask *mask,
                                        const char *text, size_t length)
{
    for (size_t i = 0; i < mask->count; i++) {
        const struct secret *secret = &mask->secrets[i];

        if (*secret->value == *text && secret->length <= length &&
            memcmp(text, secret->value, secret->length) == 0)
            return secret;
    }
    return NULL;
}

void mask_hide_environment(struct mask *mask, char *const *environment)
{
    for (; *environment != NULL; environment++) {
        size_t length = strcspn(*environment, "=");
        char *name;

        if ((*environment)[length] == '\0' ||
            !secret_is_name(*environment, length))
            continue;
        name = mem_copy_bytes(*environment, length);
        mask_hide(mask, name, *environment + length + 1);
        free(name);
    }
}

/* The lines of a value stay lines, with their indentation. */
static void add_breaks(const char *at, const char *end, struct buf *out)
{
    bool is_indent = false;

    for (; at < end; at++) {
        is_indent = *at == '\n' || (is_indent && (*at == ' ' || *at == '\t'));
        if (is_indent)
            buf_add_char(out, *at);
    }
}

/* Replaces the values that are known. */
static void add_known(const struct mask *mask, const char *text, size_t length,
                      struct buf *out)
{
    for (size_t at = 0; at < length;) {
        const struct secret *secret = find_secret(mask, text + at, length - at);

        if (secret == NULL) {
            buf_add_char(out, text[at++]);
            continue;
        }
        buf_printf(out, "<%s>", secret->name);
        add_breaks(text + at, text + at + secret->length, out);
        at += secret->length;
    }
}

/* -- Patterns -------------------------------------------------------------*/

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

struct text {
    const char *at, *end;
};

static bool is_at(const struct text *text, const char *these)
{
    return text->at < text->end && *text->at != '\0' &&
           strchr(these, *text->at) != NULL;
}

static void skip(struct text *text, const char *these)
{
    while (is_at(text, these))
        text->at++;
}

static void skip_to(struct text *text, const char *these)
{
    while (text->at < text->end && !is_at(text, these))
        text->at++;
}

/* To the closing quote. */
static void skip_quoted(struct text *text, char quote)
{
    while (text->at < text->end && *text->at != quote)
        text->at += *text->at == '\\' && text->at + 1 < text->end ? 2 : 1;
}

/* Behind the closing bracket. */
static void skip_nested(struct text *text)
{
    int depth = 0;

    do {
        depth += is_at(text, "{[") - is_at(text, "]}");
        text->at++;
    } while (text->at < text->end && depth > 0);
}

/* A shell's line may go on in the next one. */
static void skip_blanks(struct text *text)
{
    while (is_at(text, " \t") ||
           (text->end - text->at >= 2 && memcmp(text->at, "\\\n", 2) == 0))
        text->at += *text->at == '\\' ? 2 : 1;
}

/*
 * From the end of a secret's name to its value: `=` or `:`, perhaps behind a
 * closing quote, or for an option a blank alone. False where there is none.
 */
static bool skip_to_value(struct text *text, bool is_option)
{
    const char *name_end = text->at;

    skip(text, "\\\"'");
    skip_blanks(text);
    if (is_at(text, "=:")) {
        text->at++;
        skip_blanks(text);
        return text->at < text->end && !is_at(text, "=");
    }
    return is_option && text->at > name_end && text->at < text->end &&
           !is_at(text, "-");
}

static bool is_template(const struct text *text)
{
    return text->end - text->at >= 3 && memcmp(text->at, "${{", 3) == 0;
}

/* Behind a template, or to the end of the text. */
static void skip_template(struct text *text)
{
    const char *end = memmem(text->at, (size_t)(text->end - text->at), "}}", 2);

    text->at = end != NULL ? end + 2 : text->end;
}

/* A header's value may be several words. */
static void skip_value(struct text *text, bool is_header)
{
    const char *stops = is_header ? "\r\n\"" : " \t\r\n\"',;&)}]";

    if (is_at(text, "{[")) {
        skip_nested(text);
        return;
    }
    while (text->at < text->end && !is_at(text, stops)) {
        if (is_template(text))
            skip_template(text);
        else
            text->at++;
    }
}

/* Whether the value is only named: a template, or a variable of a shell. */
static bool is_reference(struct text value)
{
    bool has_brace;

    skip(&value, "\\\"");
    if (is_template(&value)) {
        skip_template(&value);
    } else if (is_at(&value, "$")) {
        value.at++;
        has_brace = is_at(&value, "{");
        skip(&value, "{");
        if (!is_at(&value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"))
            return false;
        skip(&value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (has_brace && !is_at(&value, "}"))
            return false;
        value.at += has_brace;
    } else {
        return false;
    }
    return value.at == value.end || is_at(&value, " \t\r\n\\\"',;&)}]");
}

/* The text is behind the name of a secret: masks the value that follows. */
static void add_masked(struct text *text, bool is_option, bool is_header,
                       struct buf *out)
{
    struct text value = *text;
    const char *start;
    bool is_escaped;

    if (!skip_to_value(&value, is_option) || is_reference(value))
        return;
    is_escaped = is_at(&value, "\\");
    skip(&value, "\\");
    if (is_at(&value, "\"'")) {
        char quote = *value.at++;

        start = value.at;
        if (is_escaped)
            skip_to(&value, "\\\"'");
        else
            skip_quoted(&value, quote);
    } else {
        start = value.at;
        skip_value(&value, is_header);
    }
    if (value.at == start)
        return; /* --password "" */
    buf_add(out, text->at, (size_t)(start - text->at));
    buf_add_string(out, MASKED);
    add_breaks(start, value.at, out);
    text->at = value.at;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

/* Of the words "basic" and what follows, whether that is encoded. */
static bool is_encoded(const struct text *text)
{
    struct text word = *text;
    size_t length = 0, odd = 0;

    for (skip(&word, " \t"); word.at < word.end && !is_at(&word, " \t\r\n\"'");
         word.at++, length++)
        odd += isupper((unsigned char)*word.at) ||
               isdigit((unsigned char)*word.at);
    return length >= 8 && odd > 0;
}

/* Of messages about keys, "missing key: 'trial'", no word is masked. */
static bool is_plain_key(const struct text *text, const char *name,
                         size_t length)
{
    return is_word(name, length, "key") && !is_at(text, "=");
}

static void add_name(struct text *text, struct buf *out)
{
    const char *name = text->at;
    size_t length;

    while (text->at < text->end && is_of_name(*text->at))
        text->at++;
    length = (size_t)(text->at - name);
    if (secret_is_made(name, length)) {
        buf_add_string(out, MASKED);
        while (text->at < text->end &&
               (is_of_name(*text->at) || *text->at == '.'))
            text->at++; /* the other parts of a JWT */
        return;
    }
    buf_add(out, name, length);
    if (is_word(name, length, "bearer") ||
        (is_word(name, length, "basic") && is_encoded(text)))
        add_masked(text, true, false, out);
    else if (secret_is_name(name, length) && !is_plain_key(text, name, length))
        add_masked(
            text, *name == '-',
            text_is_word_among(name, length, headers, ARRAY_LEN(headers)), out);
}

/* "://user:password@" */
static void add_authority(struct text *text, struct buf *out)
{
    struct text authority = {text->at + 3, text->end};
    const char *sign;

    skip_to(&authority, "/?# \t\r\n\"'<>");
    sign = memrchr(text->at, '@', (size_t)(authority.at - text->at));
    buf_add(out, text->at, 3);
    text->at += 3;
    if (sign == NULL)
        return;
    buf_add_string(out, MASKED);
    text->at = sign;
}

static void add_patterns(struct text text, struct buf *out)
{
    while (text.at < text.end) {
        if (text.end - text.at >= 3 && memcmp(text.at, "://", 3) == 0)
            add_authority(&text, out);
        else if (is_of_name(*text.at))
            add_name(&text, out);
        else
            buf_add_char(out, *text.at++);
    }
}

void mask_add(const struct mask *mask, const char *text, size_t length,
              struct buf *out)
{
    struct buf known = BUF_INIT;

    if (mask != NULL)
        add_known(mask, text, length, &known);
    else
        buf_add(&known, text, length);
    add_patterns(
        (struct text){buf_text(&known), buf_text(&known) + known.length}, out);
    buf_clear(&known);
}

char *mask_show(const struct mask *mask, const char *text)
{
    struct buf out = BUF_INIT;

    if (text == NULL || mask == NULL)
        return text != NULL ? mem_copy_string(text) : NULL;
    mask_add(mask, text, strlen(text), &out);
    return buf_take(&out);
}
