/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pieces of a TOML text.
 *
 * What is needed is where each value begins and ends, so strings are read as
 * the standard says, but a number or a date only has to look like one: the
 * program that gets the file reads its digits. Control characters are never
 * allowed, bare CR included, so they are looked for once in the whole text.
 */
#include "base/toml/scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

enum { LAST_CONTROL = 0x1f, DELETE = 0x7f, QUOTES_MAX = 5, SHOWN_MAX = 40 };

int toml_line(const struct toml_scan *scan, size_t at)
{
    int line = 1;

    for (size_t i = 0; i < at; i++)
        line += scan->text[i] == '\n';
    return line;
}

static int column_of(const struct toml_scan *scan, size_t at)
{
    size_t start = at;
    int column = 1;

    while (start > 0 && scan->text[start - 1] != '\n')
        start--;
    while (start < at) {
        size_t length =
            text_next_rune(scan->text + start, scan->length - start, NULL);

        start += length > 0 ? length : 1;
        column++;
    }
    return column;
}

int toml_refuse(const struct toml_scan *scan, size_t at, const char *format,
                ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    err_set(scan->err, ERR_FILE, "%s", text);
    if (scan->err != NULL) {
        scan->err->line = toml_line(scan, at);
        scan->err->column = column_of(scan, at);
    }
    return -1;
}

bool toml_is_next(const struct toml_scan *scan, const char *bytes)
{
    size_t length = strlen(bytes);

    return scan->length - scan->at >= length &&
           memcmp(scan->text + scan->at, bytes, length) == 0;
}

bool toml_take(struct toml_scan *scan, const char *bytes)
{
    bool is_next = toml_is_next(scan, bytes);

    if (is_next)
        scan->at += strlen(bytes);
    return is_next;
}

int toml_check_text(struct toml_scan *scan)
{
    for (size_t i = 0; i < scan->length;) {
        uint32_t rune = 0;
        size_t length = text_next_rune(scan->text + i, scan->length - i, &rune);
        bool is_line_end =
            rune == '\n' ||
            (rune == '\r' && i + 1 < scan->length && scan->text[i + 1] == '\n');

        if (length == 0)
            return toml_refuse(scan, i, "invalid UTF-8");
        if ((rune <= LAST_CONTROL && rune != '\t' && !is_line_end) ||
            rune == DELETE)
            return toml_refuse(scan, i, "invalid control character \\x%02x",
                               (unsigned)rune);
        i += length;
    }
    toml_take(scan, "\xef\xbb\xbf");
    return 0;
}

/* ---- blanks ---- */

void toml_skip_blanks(struct toml_scan *scan)
{
    while (scan->at < scan->length &&
           (scan->text[scan->at] == ' ' || scan->text[scan->at] == '\t'))
        scan->at++;
}

static void skip_comment(struct toml_scan *scan)
{
    if (!toml_is_next(scan, "#"))
        return;
    while (scan->at < scan->length && scan->text[scan->at] != '\n')
        scan->at++;
    if (scan->at < scan->length && scan->text[scan->at - 1] == '\r')
        scan->at--;
}

static bool take_line_end(struct toml_scan *scan)
{
    return toml_take(scan, "\n") || toml_take(scan, "\r\n");
}

void toml_skip_lines(struct toml_scan *scan)
{
    do {
        toml_skip_blanks(scan);
        skip_comment(scan);
    } while (take_line_end(scan));
}

int toml_end_line(struct toml_scan *scan)
{
    toml_skip_blanks(scan);
    skip_comment(scan);
    if (take_line_end(scan) || scan->at == scan->length)
        return 0;
    return toml_refuse(scan, scan->at,
                       "unexpected '%c' where the line should end",
                       scan->text[scan->at]);
}

/* ---- strings ---- */

bool toml_is_bare_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static int add_rune(const struct toml_scan *scan, size_t at, uint32_t rune,
                    struct buf *out)
{
    char bytes[4];

    if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff))
        return toml_refuse(scan, at, "invalid escape: no such character");
    buf_add(out, bytes, text_put_rune(rune, bytes));
    return 0;
}

/* Behind \x, \u or \U: so many hexadecimal digits. */
static int scan_code(struct toml_scan *scan, int digits, struct buf *out)
{
    size_t start = scan->at - 2;
    uint32_t rune = 0;

    for (int i = 0; i < digits; i++) {
        char c = scan->at < scan->length ? scan->text[scan->at] : '\0';

        if (!isxdigit((unsigned char)c))
            return toml_refuse(scan, start,
                               "invalid escape: %d hexadecimal digits required",
                               digits);
        rune = rune << 4 |
               (uint32_t)(isdigit((unsigned char)c) ? c - '0'
                                                    : (c | 0x20) - 'a' + 10);
        scan->at++;
    }
    return add_rune(scan, start, rune, out);
}

/* Behind a backslash at the end of a line. */
static bool skip_continuation(struct toml_scan *scan)
{
    struct toml_scan next = *scan;

    toml_skip_blanks(&next);
    if (!take_line_end(&next))
        return false;
    do
        toml_skip_blanks(&next);
    while (take_line_end(&next));
    scan->at = next.at;
    return true;
}

static int scan_escape(struct toml_scan *scan, bool is_long, struct buf *out)
{
    static const char names[] = "btnfre\"\\";
    static const char bytes[] = "\b\t\n\f\r\x1b\"\\";
    size_t start = scan->at++;
    const char *name;
    char c;

    if (is_long && skip_continuation(scan))
        return 0;
    c = scan->at < scan->length ? scan->text[scan->at] : '\n';
    name = strchr(names, c);
    if (name != NULL) {
        buf_add_char(out, bytes[name - names]);
        scan->at++;
        return 0;
    }
    if (c != 'x' && c != 'u' && c != 'U')
        return toml_refuse(scan, start, "unknown escape in a string");
    scan->at++;
    return scan_code(scan, c == 'x' ? 2 : c == 'u' ? 4 : 8, out);
}

/* Quotes in a long string: three end it, of five the first two are text. */
static bool take_quotes(struct toml_scan *scan, char quote, struct buf *out)
{
    size_t count = 0;

    while (count < QUOTES_MAX && scan->at + count < scan->length &&
           scan->text[scan->at + count] == quote)
        count++;
    scan->at += count;
    for (size_t i = count >= 3 ? 3 : 0; i < count; i++)
        buf_add_char(out, quote);
    return count >= 3;
}

static int scan_string(struct toml_scan *scan, bool may_be_long,
                       struct buf *out)
{
    size_t start = scan->at;
    char quote = scan->text[scan->at];
    bool is_long =
        may_be_long && (toml_take(scan, "\"\"\"") || toml_take(scan, "'''"));

    if (!is_long)
        scan->at++;
    while (scan->at < scan->length) {
        char c = scan->text[scan->at];

        if (c == quote && is_long) {
            if (take_quotes(scan, quote, out))
                return 0;
        } else if (c == quote) {
            scan->at++;
            return 0;
        } else if (c == '\n' && !is_long) {
            break;
        } else if (c == '\\' && quote == '"') {
            if (scan_escape(scan, is_long, out) != 0)
                return -1;
        } else {
            buf_add_char(out, c);
            scan->at++;
        }
    }
    return toml_refuse(scan, start, "unterminated string");
}

int toml_scan_part(struct toml_scan *scan, struct buf *part)
{
    size_t start = scan->at;

    if (toml_is_next(scan, "\"") || toml_is_next(scan, "'"))
        return scan_string(scan, false, part);
    while (scan->at < scan->length && toml_is_bare_char(scan->text[scan->at]))
        scan->at++;
    if (scan->at == start)
        return toml_refuse(scan, start, "missing key");
    buf_add(part, scan->text + start, scan->at - start);
    return 0;
}

/* ---- other values ---- */

static bool is_word(const char *text, size_t length)
{
    static const char *const words[] = {"true", "false", "inf",  "nan",
                                        "+inf", "-inf",  "+nan", "-nan"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return true;
    return false;
}

static bool is_of_number(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("+-_.:", c));
}

/* A time behind its date may have a blank between them. */
static bool is_time_next(const struct toml_scan *scan, size_t date_length)
{
    const char *next = scan->text + scan->at;

    return date_length == strlen("1979-05-27") &&
           scan->length - scan->at > strlen(" 07:") && next[0] == ' ' &&
           isdigit((unsigned char)next[1]) && isdigit((unsigned char)next[2]) &&
           next[3] == ':';
}

static void skip_number(struct toml_scan *scan)
{
    while (scan->at < scan->length && is_of_number(scan->text[scan->at]))
        scan->at++;
}

int toml_scan_scalar(struct toml_scan *scan)
{
    size_t start = scan->at, sign;
    struct buf text = BUF_INIT;
    int rc;

    if (toml_is_next(scan, "\"") || toml_is_next(scan, "'")) {
        rc = scan_string(scan, true, &text);
        buf_clear(&text);
        return rc;
    }
    skip_number(scan);
    if (is_time_next(scan, scan->at - start)) {
        scan->at++;
        skip_number(scan);
    }
    if (scan->at == start)
        return toml_refuse(scan, start, "missing value");
    sign = strspn(scan->text + start, "+-") > 0;
    if (isdigit((unsigned char)scan->text[start + sign]) ||
        is_word(scan->text + start, scan->at - start))
        return 0;
    return toml_refuse(
        scan, start, "'%.*s' is not a value (a text has quotes)",
        (int)(scan->at - start > SHOWN_MAX ? SHOWN_MAX : scan->at - start),
        scan->text + start);
}
