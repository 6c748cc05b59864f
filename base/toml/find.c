/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The place of one key in a TOML text.
 *
 * The text is scanned once, from its start to its end, and nothing is kept of
 * it but the way of the wanted key. The wanted key has a dot at its end, so
 * that each of its parts has one; `at` is how much of it the table or value at
 * hand has matched: 0 is the whole document, `length` the wanted value itself,
 * and OFF another part of the text.
 *
 * - A header moves the body, in which the lines below it are. [[a]] counts the
 *   items of `a`, and matches on where the item has the wanted number.
 * - A key matches on from its body, or from its inline table, and its value is
 *   the wanted one, or has it inside.
 * - Where the wanted value is missing, what counts is the nearest table, the
 *   one that has matched most.
 */
#include "base/toml/find.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/toml/scan.h"
#include "base/units.h"

enum { DEPTH_MAX = 100 };

#define OFF ((size_t)-1)

struct search {
    struct toml_scan scan;
    const char *wanted;
    size_t length;
    size_t *counts;    /* items so far of the array of tables that ends there,
                          [length + 1] */
    size_t item_place; /* of the last of them */
    size_t body;       /* what the header above has matched */
    int depth;
    struct toml_found *found;
};

static int scan_value(struct search *s, size_t at);

/* ---- the wanted key ---- */

static size_t match(const struct search *s, size_t at, const struct buf *part)
{
    size_t end = at + part->length;

    if (at == OFF || end >= s->length || s->wanted[end] != '.' ||
        memcmp(s->wanted + at, buf_text(part), part->length) != 0)
        return OFF;
    return end + 1;
}

/* Behind the number of an item; OFF where there is none. */
static size_t match_number(const struct search *s, size_t at, size_t *number)
{
    size_t end = at;

    *number = 0;
    for (; isdigit((unsigned char)s->wanted[end]) && end - at < 9; end++)
        *number = *number * 10 + (size_t)(s->wanted[end] - '0');
    return end > at && s->wanted[end] == '.' ? end + 1 : OFF;
}

/* How much of the wanted key a message quotes: without the dot. */
static int quoted(size_t at)
{
    return (int)at - 1;
}

static int refuse_table(const struct search *s, size_t place)
{
    return toml_refuse(&s->scan, place,
                       "'%.*s' is a table here: set its keys one by one",
                       quoted(s->length), s->wanted);
}

static int refuse_number(const struct search *s, size_t at, size_t place)
{
    return toml_refuse(&s->scan, place,
                       "'%.*s' is an array here: add the number of an item, "
                       "as in '%.*s.0'",
                       quoted(at), s->wanted, quoted(at), s->wanted);
}

/* The number behind `at` is none of so many items. */
static int refuse_item(const struct search *s, size_t at, size_t place,
                       size_t count)
{
    return toml_refuse(&s->scan, place, "'%.*s' has no item %.*s (%zu item%s)",
                       quoted(at), s->wanted, (int)strcspn(s->wanted + at, "."),
                       s->wanted + at, count, units_plural((int64_t)count));
}

static int refuse_twice(const struct search *s, size_t at, size_t first,
                        size_t place)
{
    return toml_refuse(&s->scan, place,
                       "duplicate key '%.*s' (first defined at line %d)",
                       quoted(at), s->wanted, toml_line(&s->scan, first));
}

/* ---- keys ---- */

struct key {
    size_t at;             /* what all its parts match */
    size_t shared;         /* what the first ones match, if not all do */
    struct toml_span text; /* all of it */
    size_t shared_end;
    bool is_in_item;
};

/* Into the item that the tables below a header belong to: the last one. */
static size_t match_item(const struct search *s, struct key *key)
{
    size_t number, at = match_number(s, key->at, &number);

    if (s->counts[key->at] == 0)
        return key->at;
    key->is_in_item = true;
    return at != OFF && number + 1 == s->counts[key->at] ? at : OFF;
}

static int scan_key_part(struct search *s, struct key *key)
{
    struct buf part = BUF_INIT;
    size_t place = s->scan.at;
    int rc = toml_scan_part(&s->scan, &part);

    if (rc == 0 && key->at != OFF)
        key->at = match_item(s, key);
    if (rc == 0 && key->at == s->length)
        rc = refuse_table(s, place);
    else if (rc == 0)
        key->at = match(s, key->at, &part);
    if (key->at != OFF) {
        key->shared = key->at;
        key->shared_end = s->scan.at;
    }
    buf_clear(&part);
    return rc;
}

static int scan_key(struct search *s, size_t at, struct key *key)
{
    size_t start = s->scan.at;

    *key = (struct key){.at = at, .shared = at, .shared_end = start};
    do {
        toml_skip_blanks(&s->scan);
        if (scan_key_part(s, key) != 0)
            return -1;
        key->text = (struct toml_span){start, s->scan.at};
        toml_skip_blanks(&s->scan);
    } while (toml_take(&s->scan, "."));
    return 0;
}

static int scan_equals(struct search *s)
{
    if (!toml_take(&s->scan, "="))
        return toml_refuse(&s->scan, s->scan.at, "expected '=' behind a key");
    toml_skip_blanks(&s->scan);
    return 0;
}

/* ---- values ---- */

static int note_value(struct search *s, size_t start)
{
    if (s->found->is_found)
        return refuse_twice(s, s->length, s->found->value.start, start);
    s->found->is_found = true;
    s->found->value = (struct toml_span){start, s->scan.at};
    return 0;
}

/* What goes with an item of a list between commas: one of them. A comment
 * before it stays. */
static struct toml_span cut_of_item(const struct search *s, size_t before,
                                    struct toml_span item)
{
    struct toml_scan next = s->scan;

    toml_skip_lines(&next);
    if (toml_take(&next, ",")) {
        toml_skip_blanks(&next);
        return (struct toml_span){item.start, next.at};
    }
    if (memchr(s->scan.text + before, '#', item.start - before) == NULL)
        item.start = before;
    return item;
}

/* Behind an item: whether another one may follow. */
static int end_item(struct search *s, const char *closing)
{
    toml_skip_lines(&s->scan);
    if (toml_take(&s->scan, closing))
        return 0;
    if (!toml_take(&s->scan, ","))
        return toml_refuse(&s->scan, s->scan.at, "expected ',' or '%s'",
                           closing);
    toml_skip_lines(&s->scan);
    return toml_take(&s->scan, closing) ? 0 : 1;
}

static int scan_array(struct search *s, size_t at)
{
    size_t place = s->scan.at++, before = s->scan.at, wanted = 0, count;
    size_t inside = at == OFF ? OFF : match_number(s, at, &wanted);
    int more;

    if (at != OFF && inside == OFF)
        return refuse_number(s, at, place);
    toml_skip_lines(&s->scan);
    more = !toml_take(&s->scan, "]");
    for (count = 0; more > 0; count++) {
        size_t start = s->scan.at;
        bool is_wanted = inside != OFF && count == wanted;

        if (scan_value(s, is_wanted ? inside : OFF) != 0)
            return -1;
        if (is_wanted && inside == s->length)
            s->found->cut =
                cut_of_item(s, before, (struct toml_span){start, s->scan.at});
        before = s->scan.at;
        more = end_item(s, "]");
    }
    if (more == 0 && inside != OFF && wanted >= count)
        return refuse_item(s, at, place, count);
    return more;
}

/* Of an inline table that has matched `at`, behind one of its keys. */
static void share_inline(struct toml_nearest *nearest, const struct key *key)
{
    if (key->at != OFF || key->shared == OFF || key->shared <= nearest->matched)
        return;
    nearest->matched = key->shared;
    nearest->prefix = (struct toml_span){key->text.start, key->shared_end};
    nearest->is_dotted = true;
}

static int scan_item(struct search *s, size_t at, struct toml_nearest *nearest)
{
    size_t before = nearest->at;
    struct key key;

    if (scan_key(s, at, &key) != 0 || scan_equals(s) != 0 ||
        scan_value(s, key.at) != 0)
        return -1;
    share_inline(nearest, &key);
    nearest->at = s->scan.at;
    nearest->is_empty = false;
    if (key.at == s->length)
        s->found->cut = cut_of_item(
            s, before, (struct toml_span){key.text.start, s->scan.at});
    return end_item(s, "}");
}

static int scan_inline(struct search *s, size_t at)
{
    struct toml_nearest nearest = {
        .matched = at, .at = ++s->scan.at, .is_inline = true, .is_empty = true};
    int more;

    toml_skip_lines(&s->scan);
    more = !toml_take(&s->scan, "}");
    while (more > 0)
        more = scan_item(s, at, &nearest);
    if (more == 0 && at != OFF && nearest.matched >= s->found->nearest.matched)
        s->found->nearest = nearest;
    return more;
}

static int scan_scalar(struct search *s, size_t at)
{
    if (at != OFF)
        return toml_refuse(&s->scan, s->scan.at,
                           "'%.*s' is a value here, not a table", quoted(at),
                           s->wanted);
    return toml_scan_scalar(&s->scan);
}

/* `at`: what of the wanted key leads to this value. */
static int scan_value(struct search *s, size_t at)
{
    size_t start = s->scan.at, inside = at == s->length ? OFF : at;
    int rc;

    if (++s->depth > DEPTH_MAX)
        return toml_refuse(&s->scan, start, "over %d levels of values",
                           DEPTH_MAX);
    if (toml_is_next(&s->scan, "["))
        rc = scan_array(s, inside);
    else if (toml_is_next(&s->scan, "{"))
        rc = scan_inline(s, inside);
    else
        rc = scan_scalar(s, inside);
    s->depth--;
    return rc == 0 && at == s->length ? note_value(s, start) : rc;
}

/* ---- lines ---- */

/* One more item of an array of tables that the wanted key goes through. */
static int begin_item(struct search *s, struct key *key, size_t place)
{
    size_t number, inside = match_number(s, key->at, &number);

    if (inside == OFF)
        return refuse_number(s, key->at, place);
    if (inside == s->length)
        return refuse_table(s, place);
    s->item_place = place;
    s->counts[key->at]++;
    key->at = number + 1 == s->counts[key->at] ? inside : OFF;
    key->is_in_item = true;
    return 0;
}

/* The table of a header, or of its first parts: they have made a table, too. */
static int note_header(struct search *s, const struct key *key, size_t place)
{
    struct toml_nearest *nearest = &s->found->nearest;
    size_t matched = key->at != OFF ? key->at : key->shared;
    bool is_implied = key->at == OFF;

    if (matched < nearest->matched ||
        (is_implied && (key->is_in_item || matched == nearest->matched)))
        return 0;
    if (matched == nearest->matched && !nearest->is_implied)
        return refuse_twice(s, matched, nearest->prefix.start, place);
    *nearest = (struct toml_nearest){
        .matched = matched,
        .prefix = {key->text.start, key->shared_end},
        .at = s->scan.at,
        .is_implied = is_implied,
        .is_in_item = key->is_in_item,
    };
    return 0;
}

static int scan_header(struct search *s)
{
    size_t place = s->scan.at;
    bool is_array = toml_take(&s->scan, "[[");
    struct key key;

    if (!is_array)
        toml_take(&s->scan, "[");
    toml_skip_blanks(&s->scan);
    if (scan_key(s, 0, &key) != 0)
        return -1;
    if (!toml_take(&s->scan, is_array ? "]]" : "]"))
        return toml_refuse(&s->scan, s->scan.at, "expected '%s'",
                           is_array ? "]]" : "]");
    if (key.at == s->length && !is_array)
        return refuse_table(s, place);
    if (is_array && key.at != OFF && begin_item(s, &key, place) != 0)
        return -1;
    if (toml_end_line(&s->scan) != 0)
        return -1;
    s->body = key.at;
    return note_header(s, &key, place);
}

/* The nearest table, behind one of its lines. */
static void note_line(struct search *s, const struct key *key,
                      struct toml_span indent)
{
    struct toml_nearest *nearest = &s->found->nearest;

    if (s->body == OFF || nearest->is_inline)
        return;
    if (key->shared > s->body && key->shared >= nearest->matched) {
        nearest->matched = key->shared;
        nearest->prefix = (struct toml_span){key->text.start, key->shared_end};
        nearest->is_dotted = true;
    } else if (nearest->matched != s->body || nearest->is_dotted) {
        return;
    }
    nearest->at = s->scan.at;
    nearest->indent = indent;
}

static int scan_line(struct search *s, size_t start)
{
    struct toml_span indent = {start, s->scan.at};
    struct key key;

    if (scan_key(s, s->body, &key) != 0 || scan_equals(s) != 0 ||
        scan_value(s, key.at) != 0 || toml_end_line(&s->scan) != 0)
        return -1;
    if (key.at == s->length)
        s->found->cut = (struct toml_span){start, s->scan.at};
    note_line(s, &key, indent);
    return 0;
}

/* Where a document has no key of its own, a new one comes behind the last empty
 * line before its first header: a comment at the top stays there. */
static int skip_line(struct search *s, size_t start, bool is_begun)
{
    bool is_empty = !toml_is_next(&s->scan, "#");

    if (toml_end_line(&s->scan) != 0)
        return -1;
    if (!is_begun && (is_empty || s->scan.at == s->scan.length) &&
        s->scan.at > start)
        s->found->nearest.at = s->scan.at;
    return 0;
}

static int scan_document(struct search *s)
{
    bool is_begun = false;
    int rc = toml_check_text(&s->scan);

    s->found->nearest.at = s->scan.at;
    while (rc == 0 && s->scan.at < s->scan.length) {
        size_t start = s->scan.at;
        char c;

        toml_skip_blanks(&s->scan);
        c = s->scan.at < s->scan.length ? s->scan.text[s->scan.at] : '\n';
        if (c == '#' || c == '\r' || c == '\n') {
            rc = skip_line(s, start, is_begun);
            continue;
        }
        s->found->has_lines |= !is_begun && c != '[';
        is_begun = true;
        rc = c == '[' ? scan_header(s) : scan_line(s, start);
    }
    return rc;
}

/* That each item of an array of tables that the wanted key names is there. */
static int check_items(const struct search *s)
{
    for (size_t at = 0; at < s->length; at++) {
        size_t number;

        if (s->counts[at] > 0 && match_number(s, at, &number) != OFF &&
            number >= s->counts[at])
            return refuse_item(s, at, s->item_place, s->counts[at]);
    }
    return 0;
}

int toml_find(const char *text, size_t length, const char *wanted,
              struct toml_found *found, struct err *err)
{
    struct search s = {
        .scan = {.text = text, .length = length, .err = err},
        .wanted = wanted,
        .length = strlen(wanted),
        .found = found,
    };
    int rc;

    *found = (struct toml_found){.is_found = false};
    s.counts = mem_array(s.length + 1, sizeof(*s.counts));
    rc = scan_document(&s);
    if (rc == 0 && !found->is_found)
        rc = check_items(&s);
    free(s.counts);
    return rc;
}
